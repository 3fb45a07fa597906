"""What a trial's model calls cost."""

from __future__ import annotations

from datetime import datetime

from harness.models.base import Usage
from harness.models.pricing import PriceTable
from harness.records import TrialResult


def trial_cost(record: TrialResult, prices: PriceTable) -> float | None:
    """USD of a trial at the prices of its day; ``None`` when its model has no known price.

    Each step's model call is priced by itself. What the trial used beyond its recorded steps is priced as one
    more call.
    """
    if record.cost_usd is not None:
        return record.cost_usd
    steps = [step.usage for step in record.steps]
    rest = {
        name: getattr(record.usage, name) - sum(getattr(u, name) for u in steps)
        for name in Usage.model_fields
    }
    calls = [record.usage] if min(rest.values()) < 0 else [*steps, Usage(**rest)]
    return prices.price(record.priced_as or record.model, calls, datetime.fromisoformat(record.started))
