"""Where baselines stand between the floor and perfect, with the interval that other test rows would allow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from generator.verifier.case import Case
from generator.verifier.empirical.floor import Floor
from generator.verifier.empirical.halving import Against
from generator.verifier.empirical.ladder import Rung

_NORMAL_95 = 1.96


@dataclass(frozen=True)
class Standing:
    """One baseline that made a valid submission.

    Attributes:
        rung: the baseline.
        gain: its share of the way from floor (0) to perfect (1).
        error: the standard error of ``gain`` over other test rows; ``None`` when the metric cannot score
            halves.
    """

    rung: Rung
    gain: float
    error: float | None

    @property
    def z(self) -> float:
        """The gain in standard errors; without one, its sign is all that is known."""
        if self.error:
            return self.gain / self.error
        return math.copysign(math.inf, self.gain) if self.gain else 0.0

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of the gain."""
        return self.gain - _NORMAL_95 * (self.error or 0.0)

    @property
    def high(self) -> float:
        """The upper end of it."""
        return self.gain + _NORMAL_95 * (self.error or 0.0)

    def to_exhibit(self) -> dict[str, str | float]:
        """What a report plots, see :mod:`generator.verifier.exhibits`."""
        score = self.rung.score or 0.0
        return {
            "name": self.rung.name,
            "score": score,
            "gain": round(self.gain, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
        }


class Field:
    """Compares baselines with one floor.

    Args:
        case: the verification.
        floor: what knowing nothing gets.
    """

    def __init__(self, case: Case, floor: Floor) -> None:
        self.floor = floor
        self._against = Against(case, floor.submission)

    def standing(self, rung: Rung) -> Standing | None:
        """Where a baseline stands, ``None`` without a valid submission."""
        if rung.score is None or rung.submission is None:
            return None
        lead = self._against.difference(rung.submission)
        height = self.floor.height
        error = lead.standard_error / height if lead is not None and height > 0 else None
        return Standing(rung, self.floor.gain(rung.score), error)


def best(standings: list[Standing]) -> Standing | None:
    """The highest of them."""
    return max(standings, key=lambda standing: standing.gain, default=None)


def is_separated(case: Case, standing: Standing | None) -> bool:
    """Whether a baseline is clearly above the floor: by more than luck, and by enough to matter."""
    limits = case.limits.empirical
    return standing is not None and standing.gain >= limits.smallest_gain and standing.z >= limits.separation
