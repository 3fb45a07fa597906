"""How much of a large task is looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SamplingLimits:
    """Bounds that keep the cost linear in the size of the task.

    Attributes:
        rows: rows of a table that probes which fit or compare look at; the standard error of a share over as
            many is below 0.4 %. Ids, duplicates and copies of the answers are looked for in all rows.
        scored_rows: test rows on which the metric is probed and baselines are scored, and training rows from
            which they learn. With fewer an honest weak signal would be lost: of 20,000 rows with one positive
            in a hundred, 200 are positive, which gives an area under the curve of 0.6 a standard error of
            0.02, so that it stands 4.7 errors above chance; of 5,000 rows it would be 2.3 (Hanley and McNeil,
            1982).
    """

    rows: int = 20_000
    scored_rows: int = 20_000
