"""Limits of the search for leaks in tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeakLimits:
    """Limits of the search for leaks in tables.

    Attributes:
        columns: feature columns that are probed one by one; it bounds the time that a wide table takes.
        targets: target columns that are probed.
        z: permutation z from which a finding is no luck: p is 3e-7 for one try, so a hundred columns, targets
            and patterns still give 3e-5.
        copy_agreement: chance-corrected agreement (Cohen's kappa) or absolute rank correlation from which a
            column is the target itself; noisy but honest features stay below it.
        copy_rows: with fewer rows than this a column may equal the target by accident.
        rare_rows: a class of fewer rows than this can coincide with a feature by accident.
        pair_columns: numeric columns among which ratios, products and comparisons of two are looked for.
        exact: share of a target's variance that columns together may leave open and still give it exactly;
            what rounding leaves is far below.
        proxy: gain of one column from which it decides the target. The best honest columns of well-known data
            (a petal's width, an odour of mushrooms) stay below 0.98.
        proxy_warning: from here on an author should look.
        step, step_warning: rank correlation of a column's steps in time with those of a forecast's target, at
            the same moment; values of weather and prices of the day before stay below 0.3 where their level
            is that of the target.
        missing, missing_warning: correlation of the target with what the empty cells predict. The empty
            cabins of the Titanic reach 0.3, the ends of short recordings 0.4.
        id, id_warning: correlation of the target with what the id predicts. Ids in the order of arrival
            follow a drifting target mildly.
        order, order_warning: correlation of neighbouring answers, beyond what visible columns explain.
        sample_agreement: kappa or correlation of sample and answers that no uninformed sample has.
        prior_sure: p of the test that tells the answers' distribution from that of training.
        duplicate_share: share of test rows found again in training that matters; below it, the gain from
            looking them up is lost in the noise of a usual test size.
        duplicate_agreement: kappa between a repeated row's label and its copy's from which the copies give
            the answer away; rows alike by chance (few, coarse columns) disagree more often.
        duplicate_beyond: how many times the share of rows that are equal by chance, estimated from rows that
            differ in one column only, is a sign of copies; on coarse tables the estimate is right by half.
        near: distance to the nearest training row, as a share of that to the tenth, below which a row is that
            row with noise; in three dimensions and more smooth data have such pairs in 0.05 % of rows.
        near_many: share of near copies with the same label from which they matter even where training has as
            many within itself: copies made before the split.
        group_share: share of test rows that have a group mate in training, from which it matters.
        group, group_warning, group_named: correlation of a row's unexplained part with that of its mates; the
            last is the warning's for a column that is named as a group, or a part of the id: travellers who
            booked together share their fate that much.
        time, time_warning_alike: the same for neighbours in time. It is an error only where test rows were
            drawn one by one (a random, stratified or given split), not by groups or in blocks of time.
        time_warning, time_error: share of test rows earlier than the last training row. A panel cut series by
            series has some; when it is most rows, time was not respected.
    """

    columns: int = 100
    targets: int = 10
    z: float = 5.0
    copy_agreement: float = 0.995
    copy_rows: int = 20
    rare_rows: int = 5
    pair_columns: int = 30
    exact: float = 1e-6
    proxy: float = 0.98
    proxy_warning: float = 0.95
    step: float = 0.9
    step_warning: float = 0.4
    missing: float = 0.7
    missing_warning: float = 0.5
    id: float = 0.5
    id_warning: float = 0.15
    order: float = 0.5
    order_warning: float = 0.15
    sample_agreement: float = 0.9
    prior_sure: float = 1e-4
    duplicate_share: float = 0.02
    duplicate_agreement: float = 0.95
    duplicate_beyond: float = 3.0
    near: float = 0.05
    near_many: float = 0.2
    group_share: float = 0.1
    group: float = 0.6
    group_warning: float = 0.15
    group_named: float = 0.1
    time: float = 0.8
    time_warning_alike: float = 0.3
    time_warning: float = 0.05
    time_error: float = 0.5
