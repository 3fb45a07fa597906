"""Tables and how they print."""

from __future__ import annotations

import pandas as pd

from reports.tables import Table, ratings_table


def test_ratings_with_ranks_best_first() -> None:
    table = ratings_table(
        {"a": {"low": 900.0, "top": 1100.04, "tie": 900.0}, "b": {"top": 1000.0, "low": 1200.0}}, title="T"
    )
    assert table.csv() == (
        "model,a,a_rank,b,b_rank\ntop,1100.0,1,1000.0,2\nlow,900.0,2,1200.0,1\ntie,900.0,2,,\n"
    )
    assert table.markdown() == (
        "**T**\n\n| Model | a | rank | b | rank |\n| --- | ---: | ---: | ---: | ---: |\n"
        "| top | 1100.0 | 1 | 1000.0 | 2 |\n| low | 900.0 | 2 | 1200.0 | 1 |\n| tie | 900.0 | 2 | – | – |\n"
    )


def test_order_by_another_set() -> None:
    table = ratings_table({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 2.0, "y": 1.0}}, title="T", order_by="b")
    assert list(table.frame["model"]) == ["x", "y"]


def test_html_has_headers_and_escapes_everything() -> None:
    frame = pd.DataFrame({"model": ["<b>x</b>"], "elo": [1.25]})
    html = Table("a < b", frame, {"elo": ".1f"}, {"elo": "<i>"}, ["n & m"]).html()
    assert '<th scope="row">&lt;b&gt;x&lt;/b&gt;</th><td class="number">1.2</td>' in html
    assert "<caption>a &lt; b</caption>" in html
    assert '<th scope="col" class="number">&lt;i&gt;</th>' in html
    assert "n &amp; m" in html


def test_a_bar_in_a_name_does_not_break_markdown() -> None:
    assert "a\\|b" in Table("T", pd.DataFrame({"model": ["a|b"]})).markdown()
