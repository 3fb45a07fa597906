"""The static site, built from a real job folder written by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from harness.errors import InputError, Status
from harness.models.pricing import PriceTable, Rates
from harness.records import JobPaths, write_atomically
from reports.site import build_site
from reports.site.trajectory import LONGEST, read_trajectory
from reports.trials.words import shown
from tests.reports.jobs import HOSTILE, SKILL, sample_trial, write_sample_job, write_trial

VOID = {"meta", "img", "br", "link", "hr", "input"}


class Page(HTMLParser):
    """Links, ids, scripts and balance of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.images_without_alt = 0
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.links += [str(found[key]) for key in ("href", "src") if found.get(key)]
        self.handlers += [name for name in found if name.startswith("on")]
        if found.get("id"):
            self.ids.add(str(found["id"]))
        if tag == "img" and not found.get("alt"):
            self.images_without_alt += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_sample_job(tmp_path_factory.mktemp("job"))
    hostile = sample_trial("reference", "flowers", "scripted/linear", [None, 0.31], error=HOSTILE)
    write_trial(JobPaths(root).trial("reference", "flowers", hostile.model, 1), hostile, thought=HOSTILE)
    return root


@pytest.fixture(scope="module")
def site(job: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = build_site([job], tmp_path_factory.mktemp("site"), replicates=40)
    assert index.name == "index.html"
    return index.parent


def pages(site: Path) -> Iterator[tuple[Path, Page]]:
    for path in sorted(site.rglob("*.html")):
        yield path, Page(path.read_text(encoding="utf-8"))


def test_every_link_leads_to_a_file_of_the_site(site: Path) -> None:
    seen = 0
    for path, page in pages(site):
        assert not page.open and not page.images_without_alt
        for link in page.links:
            seen += 1
            assert "://" not in link and not link.startswith(("/", "//")), link
            target, _, anchor = unquote(link).partition("#")
            file = (path.parent / target) if target else path
            assert file.is_file(), f"{path}: {link}"
            if anchor and file.suffix == ".html":
                assert f'id="{anchor}"' in file.read_text(encoding="utf-8"), f"{path}: {link}"
    assert seen > 150


def test_the_index_has_every_part(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert {"boards", "verdict", "agreement", "progress", "tasks", "resources", "modalities"} <= page.ids
    for model in SKILL:
        assert f'<th scope="row">scripted/{model}</th>' in text
    assert "6 models on 11 tasks of 2 sets" in text
    assert "8 steps, 10 min, 60 s per execution" in text
    assert "1 trial of 66 ended by a failure of the infrastructure" in text
    assert "fixed programs, no language models" in text
    assert "separated" in text
    for name in ("reference", "smith", "combined", "modality-text"):
        assert (site / "boards" / f"board-{name}.csv").is_file()
    assert json.loads((site / "agreement.json").read_text())["sets"] == ["reference", "smith", "combined"]


def test_each_trial_has_a_page_with_its_steps(site: Path) -> None:
    assert len(list((site / "trials").glob("*.html"))) == 66
    text = (site / "trials" / "smith-cars-1-scripted--forest-1.html").read_text(encoding="utf-8")
    assert "Try something simple." in text and "print(2 &lt; 10)" in text
    assert {"step-1", "step-2", "step-3", "step-4"} <= Page(text).ids
    lost = (site / "trials" / "reference-songs-scripted--linear-1.html").read_text(encoding="utf-8")
    assert "sandbox lost" in lost and "left out of the boards" in lost


def test_what_agents_write_is_only_ever_text(site: Path) -> None:
    path = site / "trials" / "reference-flowers-scripted--linear-1.html"
    text = path.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in text
    assert "{{ 7 * 7 }}" in text
    for other, page in pages(site):
        assert not page.handlers and "script" not in page.tags, other
    assert "img" not in Page(text).tags


@pytest.fixture(scope="module")
def small_job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One set with one task; one model with two attempts, and one whose provider failed."""
    root = tmp_path_factory.mktemp("small")
    paths = JobPaths(root)
    write_atomically(paths.config, '{"schema_version": 1}\n')
    for attempt, scores in ((1, [None, 0.5]), (2, [None, None])):
        record = sample_trial("mine", "a task", "openai/some model", scores, attempt=attempt)
        write_trial(paths.trial("mine", "a task", record.model, attempt), record)
    other = sample_trial("mine", "a task", "lost", [None], status=Status.PROVIDER_ERROR)
    write_trial(paths.trial("mine", "a task", "lost", 1), other)
    return root


def test_the_same_trials_give_the_same_site_and_old_pages_go(small_job: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        write_atomically(tmp_path / name / "trials" / "gone.html", "a page of an older report")
        build_site([small_job], tmp_path / name, replicates=20)
    first, second = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "first", tmp_path / "second")
    )
    assert [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)] == []
    assert sorted(path.name for path in first if path.parent.name == "trials") == [
        "mine-a-task-lost-1.html",
        "mine-a-task-openai--some-model-1.html",
        "mine-a-task-openai--some-model-2.html",
    ]
    text = first[Path("index.html")].decode()
    assert "nothing can be said about agreement" in text
    assert "unpriced" in text and "provider error" in text
    for link in Page(text).links:
        target = unquote(link).split("#")[0]
        assert not target or Path(target) in first, link


def test_sets_on_which_no_model_has_a_finite_rating(tmp_path: Path) -> None:
    """The better model wins every task: both are separated, and every part of the report says so."""
    paths = JobPaths(tmp_path / "job")
    write_atomically(paths.config, '{"schema_version": 1}\n')
    for task_set in ("reference", "smith"):
        for model, score in (("good", 0.9), ("poor", 0.2)):
            record = sample_trial(task_set, "t", model, [None, score])
            write_trial(paths.trial(task_set, "t", model, 1), record)
    text = build_site([tmp_path / "job"], tmp_path / "site", replicates=20).read_text(encoding="utf-8")
    assert (
        "On reference (1 task) no difference of two ratings has an interval. 2 models have no finite rating."
        in text
    )
    assert "0 models are rated in both; their correlation is not defined." in text
    assert not re.search(
        r"\b(nan|none|inf)\b", Page(text).text.replace("none: no valid submission", ""), re.I
    )


def test_bad_folders_are_refused(job: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a job folder"):
        build_site([tmp_path], tmp_path / "site")
    with pytest.raises(InputError, match="is a job folder"):
        build_site([job], job)


def test_a_page_shows_what_came_before_a_call_and_how_it_was_asked(site: Path) -> None:
    text = (site / "trials" / "smith-cars-1-scripted--forest-1.html").read_text(encoding="utf-8")
    assert "attempt 1: rate limit (429) after 0.2 s, then waited 30 s: slow down" in text
    assert "Shortened before this call: Step 1 left the conversation." in text and "In short:" in text
    assert "temperature 0.5, action format tools" in text and "effort" not in text
    assert "model-2026" in text
    assert '<p class="label">Thought</p>' in text and '<p class="label">Said</p>' in text
    assert "3,600 tokens in, 600 out" in text  # four calls of 900 and 150
    assert "$0.00" in text


def test_a_trial_without_a_known_price_is_unpriced_on_its_page(small_job: Path, tmp_path: Path) -> None:
    build_site([small_job], tmp_path, replicates=20)
    text = (tmp_path / "trials" / "mine-a-task-openai--some-model-1.html").read_text(encoding="utf-8")
    assert "<dt>Cost</dt><dd>unpriced</dd>" in text and "$" not in Page(text).text


def test_a_price_file_prices_boards_and_pages_alike(small_job: Path, tmp_path: Path) -> None:
    model = "openai/some model"
    prices = PriceTable({model: Rates(input=1000.0, output=1000.0)})
    build_site([small_job], tmp_path, replicates=20, prices=prices)
    page = (tmp_path / "trials" / "mine-a-task-openai--some-model-1.html").read_text(encoding="utf-8")
    assert "unpriced" not in page
    [twin] = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (tmp_path / "boards").glob("board-*.json")
        if "modality" not in path.name
    ]
    [row] = [row for row in twin["rows"] if row["model"] == model]
    assert row["cost_usd"] > 0 and row["n_unpriced"] == 0


def test_calls_of_one_reply_have_a_heading_each(tmp_path: Path) -> None:
    record = sample_trial("mine", "t", "openai/m", [None, 0.5])
    paths = JobPaths(tmp_path / "job")
    write_atomically(paths.config, '{"schema_version": 1}\n')
    trial = paths.trial("mine", "t", record.model, 1)
    write_trial(trial, record)
    lines = trial.trajectory.read_text(encoding="utf-8").splitlines()
    # Without the second reply its action belongs to the first one, as parallel calls do.
    kept = [
        line
        for line in map(json.loads, lines)
        if not (line.get("step") == 2 and line["event"] in ("reply", "fault", "compaction"))
    ]
    trial.trajectory.write_text("\n".join(map(json.dumps, kept)) + "\n", encoding="utf-8")
    build_site([tmp_path / "job"], tmp_path / "site", replicates=20)
    text = (tmp_path / "site" / "trials" / "mine-t-openai--m-1.html").read_text(encoding="utf-8")
    assert "Steps 1 to 2: 2 calls in one reply" in text
    assert '<h4 id="step-1">Step 1: request_info' in text and '<h4 id="step-2">Step 2: execute_code' in text


def test_a_torn_or_strange_log_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    lines = [
        {"schema_version": 2},
        {"event": "action", "step": 1, "action": "execute_code", "params": {"code": 7}},
        {"event": "observation", "step": 1, "text": None, "score": "high", "ok": "yes"},
        {"event": "weather", "sun": True},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + '\n[1]\n{"event": "obser', encoding="utf-8")
    view = read_trajectory(path)
    assert [note.split(":")[0] for note in view.notes] == [
        "line 3 is left out",
        "line 5 is left out",
        "line 6 is torn",
    ]
    (turn,) = view.turns
    assert [act.action and act.action.action for act in turn.acts] == ["execute_code"]
    assert view.others[0].event == "weather"
    note = read_trajectory(tmp_path / "none.jsonl").notes[0]
    assert "cannot be read" in note and str(tmp_path) not in note


def test_a_log_of_another_schema_is_a_note_on_its_page(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.jsonl"
    path.write_text('{"schema_version": 99}\n', encoding="utf-8")
    assert "schema_version 99 is unknown" in read_trajectory(path).notes[0]


def test_a_long_text_is_cut_on_the_page(tmp_path: Path) -> None:
    assert len(shown("x" * 99_999, LONGEST)) < LONGEST + 100
    assert "79,999 characters left out" in shown("x" * 99_999, LONGEST)
    assert shown("\x1b[31mred\x1b[0m \ud800") == "red ?"


def test_style_asks_nothing_of_the_network(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"url\(|@import|https?://", text)
