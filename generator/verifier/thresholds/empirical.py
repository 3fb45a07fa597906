"""Limits of the empirical gate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EmpiricalLimits:
    """Limits of the empirical gate. A gain is a share of the way from floor (0) to perfect (1).

    Attributes:
        floor_spread: uninformed submissions may differ by this share of the way from the lowest to perfect.
        sample_gain: a sample whose own order is worth this gain over another order of its values, and
        sample_z: this many of the standard deviations of
        sample_orders: other orders, knows something; random samples reach 5 of them once in 20,000 times (t
            with 19 degrees of freedom).
        sample_rule: unless a small tree makes it again from the test rows to this degree (as a sample that
            says "women survive" of the Titanic), which is worth a warning.
        sample_copies: from this gain on it is the answers themselves, rule or no rule.
        halvings: random halvings of the test rows for the standard error of a difference: two halves each, so
            the standard error itself is known to about 15 %.
        separation: the best baseline must beat the floor by this many standard errors; at 3 an unlearnable
            task passes about once in 700 for each baseline tried.
        smallest_gain: and by this gain, so that huge test sets do not let meaningless differences pass.
        signal: a best baseline that beats the floor by this many standard errors knows something, so that the
            target is not unlearnable for certain; at 2.33 each of five baselines does so by luck once in 100
            times, all together once in 20.
        weak_gain: a best baseline that is surely below this is worth a warning: nearly all differences
            between candidates will be luck.
        trivial_gain: the gain at which a tree, neighbours or a linear model say that nothing is left to do.
        trivial_rows: on fewer test rows a perfect score may be luck: one candidate in twenty that errs once
            in 70 rows makes no error on 200.
        trivial_rest: a stronger baseline that adds more than this to a simple one shows that there is
            something to do after all.
        ceiling_gain: the gain of the best baseline that leaves less than 2 % of the way, for a warning.
        rehearsal_rows: fewer rows cannot be held out of training for a rehearsal.
        rehearsed_gain: a rehearsal that gains less has nothing to lose on the answers.
        kept_gain: under a random split the answers keep at least this share of what a rehearsal gains; it
            has a third less to learn from, so they should keep all of it.
        misaligned_z: standard errors of the gap between the two.
        noisy_gain: below this gain the seed of a baseline is varied; above, it cannot matter that much.
        seeds: how many seeds are tried; the range of five is known to a third.
        seed_spread: the range of its scores may be this share of its lead over the floor.
        ladder_steps: actions each baseline may take: enough to look at the task, to submit,
            and to repair or improve it once or twice.
        ladder_seconds: wall time of each baseline.
    """

    floor_spread: float = 0.5
    sample_gain: float = 0.05
    sample_z: float = 5.0
    sample_orders: int = 20
    sample_rule: float = 0.8
    sample_copies: float = 0.9
    halvings: int = 12
    separation: float = 3.0
    smallest_gain: float = 0.02
    signal: float = 2.33
    weak_gain: float = 0.05
    trivial_gain: float = 0.995
    trivial_rows: int = 200
    trivial_rest: float = 0.001
    ceiling_gain: float = 0.98
    rehearsal_rows: int = 30
    rehearsed_gain: float = 0.1
    kept_gain: float = 0.5
    misaligned_z: float = 4.0
    noisy_gain: float = 0.25
    seeds: int = 5
    seed_spread: float = 1.0
    ladder_steps: int = 8
    ladder_seconds: float = 600.0
