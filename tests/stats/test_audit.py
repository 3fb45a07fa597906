"""The audit of rating tables: the published table, planted errors, and tables that are right."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.audit.consistency import INFERENCE, Audit, audit
from stats.audit.findings import Severity
from stats.audit.pooling import pool
from stats.audit.repairs import Repair
from stats.audit.statistics import Published
from stats.bradley_terry import fit

SETS = ("dojo", "smith", "combined")
WHOLES = {"combined": ("dojo", "smith")}


@pytest.fixture(scope="module")
def printed(data) -> pd.DataFrame:
    return pd.read_csv(data / "overall_elo_as_printed.csv", index_col="model")


@pytest.fixture(scope="module")
def figures(data) -> list[Published]:
    """The 21 figures of Table 2, and alpha and ICC(2,1) over three sets as the paper prints them."""
    table = pd.read_csv(data / "agreement_published.csv", index_col="pair")
    pairs = [
        Published(name, tuple(pair.split("-")), value)
        for pair, row in table.iterrows()
        for name, value in row.items()
    ]
    return [*pairs, Published("cronbach_alpha", SETS, 0.993), Published("icc_2_1", SETS, 0.981)]


def codes(result: Audit) -> list[str]:
    return [finding.code for finding in result.findings]


def best(result: Audit) -> list[Repair]:
    """All repairs that restore as much as the first."""

    def worth(repair: Repair) -> tuple[int, int]:
        return repair.reproduced, -len(repair.remaining)

    return [repair for repair in result.repairs if worth(repair) == worth(result.repairs[0])]


def test_the_printed_table_is_found_wrong_and_its_row_is_found(printed, figures) -> None:
    result = audit(printed, published=figures, wholes=WHOLES)
    # Column sums by hand: 7999.9, 8017.0 and 8014.7 where eight ratings allow 8000 +- 0.4.
    means = {f.where: f.evidence for f in result.findings if f.code == "mean-not-offset"}
    assert set(means) == {"smith", "combined"}
    assert "8017.0" in means["smith"] and "+17.0" in means["smith"] and "+14.7" in means["combined"]
    assert [f.where for f in result.findings if f.code == "outside-parts"] == ["o4-mini in combined"]
    # The description of the published data: r of Dojo and Smith is 0.977 as printed, 0.982 published.
    first = result.statistics[0]
    assert (first.statistic, round(first.recomputed, 3), first.published) == ("pearson_r", 0.977, 0.982)
    assert not first.reproduced and not first.within_rounding and first.low < first.recomputed < first.high
    assert (result.reproduced, codes(result).count("statistic-mismatch")) == (13, 10)
    top = result.repairs[0]
    assert (top.kind, top.model, top.solved) == ("shift-right", "o4-mini", ("combined",))
    assert top.changes == {"smith": (1114.6, 1097.6), "combined": (1097.6, 1082.9)}
    assert (top.restored, top.reproduced, top.total, top.means_restored) == (10, 23, 23, 2)
    assert top.remaining == () and top.uncertainty == pytest.approx(0.35)
    assert result.repairs[1].remaining and len(best(result)) == 1
    assert INFERENCE in result.notes


def test_the_repaired_table_is_consistent_and_every_statistic_comes_out(published, figures) -> None:
    result = audit(published, published=figures, wholes=WHOLES)
    assert result.ok and result.findings == () and result.repairs == () and INFERENCE not in result.notes
    assert result.reproduced == len(result.statistics) == 7 * 3 + 2
    assert result.pooled[0].shares == pytest.approx((0.5, 0.5), abs=0.001)  # the paper: 50 and 50 tasks
    assert result.pooled[0].exact


@pytest.mark.parametrize("wholes", [WHOLES, None])
@pytest.mark.parametrize("use_figures", [True, False])
def test_either_evidence_alone_finds_the_row(printed, figures, wholes, use_figures) -> None:
    result = audit(printed, published=figures if use_figures else None, wholes=wholes)
    found = {(r.model, tuple(sorted(r.changes.items()))) for r in best(result)}
    assert ("o4-mini", (("combined", (1097.6, 1082.9)), ("smith", (1114.6, 1097.6)))) in found
    # Means alone cannot tell in which row the error lies; the parts or the statistics can.
    assert (len(found) == 1) == (use_figures or wholes is not None)


@pytest.mark.parametrize("set_name", SETS)
@pytest.mark.parametrize("place", range(8))
def test_an_error_in_any_cell_is_found(published, figures, place, set_name) -> None:
    rng = np.random.default_rng([place, SETS.index(set_name)])
    error = round(float(rng.choice([-1, 1]) * rng.uniform(5, 60)), 1)
    table = published.copy()
    table.loc[table.index[place], set_name] += error
    result = audit(table, published=figures, wholes=WHOLES)
    assert "mean-not-offset" in codes(result)
    (top,) = best(result)
    truth = published.loc[published.index[place], set_name]
    assert top.model == published.index[place] and set(top.changes) == {set_name}
    assert abs(top.changes[set_name][1] - truth) <= top.uncertainty + 1e-9
    # Without statistics and wholes only the column is known: every row is as good.
    bare = best(audit(table))
    assert {r.model for r in bare} == set(table.index) and {tuple(r.changes) for r in bare} == {(set_name,)}


@pytest.mark.parametrize(("first", "last"), [(0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("direction", ["right", "left"])
def test_every_shifted_row_is_found(published, figures, direction, first, last) -> None:
    for place, model in enumerate(published.index):
        table, row = published.copy(), published.iloc[place].to_numpy()
        moved = row.copy()
        stray = round(row.mean() + 40 + place, 1)  # what stood beside the row
        if direction == "right":
            moved[first + 1 : last + 1], moved[first] = row[first:last], stray
        else:
            moved[first:last], moved[last] = row[first + 1 : last + 1], stray
        table.iloc[place] = moved
        result = audit(table, published=figures, wholes=WHOLES)
        top = result.repairs[0]
        assert (top.model, top.kind) == (model, f"shift-{direction}")
        repaired = {name: change[1] for name, change in top.changes.items()}
        for name, value in zip(SETS, row, strict=True):
            assert repaired.get(name, table.loc[model, name]) == pytest.approx(
                value, abs=top.uncertainty + 1e-9
            )


def test_exchanged_digits_are_found_where_the_mean_shows_them(published, figures) -> None:
    found = tried = 0
    for place, name in product(range(8), SETS):
        text = f"{published.iloc[place][name]:.1f}"
        swapped = float(text[:-4] + text[-3] + text[-4] + text[-2:])  # tens and units: 1254.6 -> 1245.6
        if abs(swapped - float(text)) < 1:
            continue  # equal digits
        table = published.copy()
        table.loc[table.index[place], name] = swapped
        top = audit(table, published=figures, wholes=WHOLES).repairs[0]
        tried += 1
        found += top.model == table.index[place] and set(top.changes) == {name}
    assert tried > 15 and found == tried


def test_errors_that_keep_the_means(published, figures) -> None:
    # Two models exchanged in one column: statistics and parts show it; no mean is left to solve from.
    table = published.copy()
    table.loc[["o3-mini", "o4-mini"], "combined"] = published.loc[
        ["o4-mini", "o3-mini"], "combined"
    ].to_numpy()
    result = audit(table, published=figures, wholes=WHOLES)
    assert not result.ok and "mean-not-offset" not in codes(result) and result.repairs == ()
    where = {f.where for f in result.findings if f.code == "outside-parts"}
    assert where == {"o3-mini in combined", "o4-mini in combined"}
    # Whole rows exchanged: only names change hands, which no figure of the table can show.
    names = list(published.index)
    names[0], names[1] = names[1], names[0]
    assert audit(published.set_axis(names), published=figures, wholes=WHOLES).ok


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 12), st.integers(1, 4))
def test_a_pooled_fit_follows_from_its_parts_when_nothing_is_missing(seed: int, n: int, odds: int) -> None:
    """Ratings fitted to simulated complete schedules, rounded, give back the shares of the tasks."""
    rng = np.random.default_rng(seed)
    wins = []
    for tasks in (40 * odds, 40):
        scores = np.linspace(0, 1.5, n) + rng.normal(0, 0.3, n) + rng.normal(size=(tasks, n))
        wins.append((scores[:, :, None] > scores[:, None, :]).sum(axis=0).astype(float))
    a, b, whole = (np.round(fit(w).ratings, 1) for w in (*wins, wins[0] + wins[1]))
    found = pool(whole, np.stack([a, b]), 1)
    assert found is not None and found.exact and found.outliers.size == 0
    assert found.shares == pytest.approx((odds / (odds + 1), 1 / (odds + 1)), abs=0.02)
    if n < 8:
        return  # with few models the shares can bend so far that a wrong rating hides
    wrong = whole.copy()
    wrong[n // 2] += 10.0
    flagged = pool(wrong, np.stack([a, b]), 1)
    assert flagged is not None and list(flagged.outliers) == [n // 2]


@settings(max_examples=8, deadline=None)
@given(st.permutations(range(8)))
def test_the_order_of_the_models_does_not_matter(order) -> None:
    table = pd.DataFrame(
        {"x": np.arange(8.0) * 30 + 895, "y": np.arange(8.0) * 25 + 912.5}, index=[f"m{i}" for i in range(8)]
    )
    table.loc["m2", "y"] += 20
    figures = [Published("pearson_r", ("x", "y"), 1.0)]
    plain, mixed = (
        audit(t, published=figures, statistic_decimals=6) for t in (table, table.iloc[list(order)])
    )
    assert {f.label for f in plain.findings} == {f.label for f in mixed.findings}
    # By hand: with y = 912.5 + 25 i again, r is 1; m2 had 962.5.
    assert plain.repairs[0].changes == mixed.repairs[0].changes == {"y": (982.5, 962.5)}
    assert plain.repairs[0].model == mixed.repairs[0].model == "m2"


def table_of(**columns: list[float]) -> pd.DataFrame:
    n = len(next(iter(columns.values())))
    return pd.DataFrame(columns, index=[f"m{i}" for i in range(n)])


def test_rounding_is_allowed_for() -> None:
    # Three ratings rounded to a decimal sum to 3000 +- 0.15; at two decimals 0.1 is too much.
    assert audit(table_of(x=[1100.1, 1000.0, 900.0])).ok
    assert not audit(table_of(x=[1100.2, 1000.0, 900.0])).ok
    assert not audit(table_of(x=[1100.1, 1000.0, 900.0]), decimals=2).ok
    assert audit(table_of(x=[1600.1, 1500.0, 1400.0]), offset=1500).ok
    # CCC of (1, 2, 3) and (1, 2, 4) is 2 * 1 / (2/3 + 14/9 + 1/9) = 6/7 = .857; as whole numbers rounded,
    # the ratings allow much else, but no negative value.
    table = table_of(x=[1.0, 2.0, 3.0], y=[1.0, 2.0, 4.0])
    figures = [Published("ccc", ("x", "y"), value) for value in (0.857, 0.9, -0.5)]
    result = audit(table, published=figures, decimals=0, offset=2)
    assert [(s.reproduced, s.within_rounding) for s in result.statistics] == [
        (True, True), (False, True), (False, False),
    ]  # fmt: skip
    severities = {f.evidence[10:15]: f.severity for f in result.findings if f.code == "statistic-mismatch"}
    assert severities == {"0.900": Severity.WARNING, "-0.50": Severity.ERROR}


def test_small_and_degenerate_tables() -> None:
    assert audit(table_of(x=[1000.0])).ok
    assert audit(table_of(x=[1050.0, 950.0])).ok
    lone = audit(table_of(x=[1012.0]))
    assert lone.repairs[0].changes == {"x": (1012.0, 1000.0)} and lone.repairs[0].uncertainty == 0
    constant = audit(
        table_of(x=[1000.0, 1000.0], y=[1100.0, 900.0]), published=[Published("pearson_r", ("x", "y"), 0.5)]
    )
    assert np.isnan(constant.statistics[0].recomputed) and not constant.statistics[0].reproduced
    assert constant.findings[0].code == "statistic-mismatch" and "undefined" in constant.findings[0].evidence
    few = audit(table_of(a=[1050.0, 950.0], b=[1020.0, 980.0], c=[1035.0, 965.0]), wholes={"c": ("a", "b")})
    assert few.ok and few.pooled == () and "5 models or more" in few.notes[0]


def test_missing_ratings_are_said_and_never_solved() -> None:
    table = table_of(x=[1100.0, 1000.0, 900.0, np.nan], y=[1090.0, 1030.0, 910.0, 1000.0])
    result = audit(table, published=[Published("spearman_rho", ("x", "y"), 1.0)])
    # The three rated in x average to 1000; y sums to 4030.
    assert [f.where for f in result.findings] == ["y"] and result.findings[0].severity is Severity.ERROR
    assert result.statistics[0].reproduced
    assert {r.solved for r in result.repairs} == {("y",)}
    assert "m3 in x" in result.notes[0]
    table.loc["m0", "x"] = 1200.0
    off = {f.where: f for f in audit(table).findings}
    assert off["x"].severity is Severity.WARNING and "1 models" in off["x"].evidence


def test_a_repeated_neighbour_is_a_hint_only_beside_a_wrong_mean() -> None:
    right = table_of(x=[1100.0, 1000.0, 900.0], y=[1100.0, 1000.0, 900.0])
    assert audit(right).ok
    wrong = audit(table_of(x=[1100.0, 1000.0, 900.0], y=[1100.0, 1000.0, 950.0]))
    hints = [f for f in wrong.findings if f.code == "duplicate-values"]
    assert {f.where for f in hints} == {"m0 in x and m0 in y", "m1 in x and m1 in y"}
    assert all(f.severity is Severity.HINT for f in hints)


@pytest.mark.parametrize(
    ("published", "words"),
    [
        (Published("pearson_r", ("x", "z"), 0.5), ("pearson_r", "unknown set z", "x, y")),
        (Published("pearson", ("x", "y"), 0.5), ("unknown statistic 'pearson'", "pearson_r", "icc_2_1")),
        (Published("pearson_r", ("x",), 0.5), ("two sets",)),
        (Published("ccc", ("x", "y", "w"), 0.5), ("two sets",)),
        (Published("ccc", ("x", "x"), 0.5), ("twice",)),
        (Published("cronbach_alpha", ("x",), 0.5), ("two or more",)),
        (Published("ccc", ("x", "y"), np.nan), ("not finite",)),
    ],
)
def test_a_statistic_that_cannot_be_recomputed_is_refused(
    published: Published, words: tuple[str, ...]
) -> None:
    table = table_of(x=[1100.0, 900.0], y=[1100.0, 900.0], w=[1100.0, 900.0])
    with pytest.raises(ValueError) as error:
        audit(table, published=[published])
    assert all(word in str(error.value) for word in words)


def test_bad_tables_are_refused_by_name() -> None:
    good = table_of(x=[1100.0, 900.0], y=[1100.0, 900.0])
    with pytest.raises(ValueError, match="model named more than once: m0"):
        audit(pd.concat([good, good.iloc[:1]]))
    with pytest.raises(ValueError, match="set named more than once: x"):
        audit(pd.concat([good, good[["x"]]], axis=1))
    with pytest.raises(ValueError, match="m1, y: rating 'high' is not a number"):
        audit(good.astype(object).assign(y=[1.0, "high"]))
    with pytest.raises(ValueError, match="m0, x: rating inf is no finite rating"):
        audit(good.assign(x=[np.inf, 0.0]))
    with pytest.raises(ValueError, match="set y has no rating"):
        audit(good.assign(y=np.nan))
    with pytest.raises(ValueError, match="at least one model"):
        audit(good.iloc[:0])
    with pytest.raises(ValueError, match="whole all: unknown set all; the table has x, y"):
        audit(good, wholes={"all": ("x", "y")})
    with pytest.raises(ValueError, match="whole x: needs two or more different parts"):
        audit(good, wholes={"x": ("x", "y")})
    with pytest.raises(ValueError, match="offset must be finite"):
        audit(good, offset=np.nan)
