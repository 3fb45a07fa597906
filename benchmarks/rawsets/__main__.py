"""How many verified tasks the rules make of real raw datasets, and where the others fall out.

    python -m benchmarks.rawsets [--wheels DIR] [--debs DIR] [--out DIR] [--only NAME,...] [--embedded]
        [--quick] [--workers N] [--json OUT]

Writes each dataset whose data are at hand as raw files, generates from all of them, and prints a table: tasks
verified of those proposed, modality, seconds. Stopped and run again, it goes on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.rawsets.sets import SETS
from benchmarks.sources import MissingSourceError, Sources
from generator.datasets.catalogue import list_datasets
from generator.pipeline.funnel import STAGES, Stage
from generator.pipeline.generation import Generation, Options, generate
from generator.pipeline.line import DatasetResult
from generator.pipeline.tally import Tally
from harness.sandboxes.choose import choose_sandbox


def main() -> None:
    """Make what is at hand, generate, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wheels", type=Path)
    parser.add_argument("--debs", type=Path)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "mlesmith-rawsets")
    parser.add_argument("--only", default="")
    parser.add_argument("--embedded", action="store_true", help="the embedded datasets, too")
    parser.add_argument("--quick", action="store_true", help="verify without training baselines")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()

    sources, only = Sources(asked.wheels, asked.debs), set(filter(None, asked.only.split(",")))
    folders: list[Path | str] = []
    modality = {}
    for each in SETS:
        if only and each.name not in only:
            continue
        try:
            folders.append(each.make(sources, asked.out / "raw"))
            modality[each.name] = each.modality
        except MissingSourceError as missing:
            print(f"skipped {each.name}: {missing}", flush=True)
    if asked.embedded:
        cards = list_datasets()
        folders += [card.name for card in cards if not only or card.name in only]
        modality |= {card.name: card.modality or "tabular" for card in cards}
    tally = Tally(len(folders))
    made = generate(
        folders,
        asked.out / "tasks",
        provider=choose_sandbox(),
        options=Options(deep=not asked.quick, workers=asked.workers),
        progress=lambda dataset, stage, text: print(tally.told(dataset, stage, text), flush=True),
    )
    _tell(made, modality)
    if asked.json is not None:
        asked.json.write_text(json.dumps(made.to_document(), indent=1), encoding="utf-8")


def _tell(made: Generation, modality: dict[str, str]) -> None:
    """A line for each dataset, and one for each modality."""
    kinds: dict[str, list[DatasetResult]] = {}
    print("| dataset | modality | proposed | verified | s per task | not, because |")
    print("|---|---|---:|---:|---:|---|")
    for result in made.results:
        kind = modality.get(result.dataset, "")
        kinds.setdefault(kind, []).append(result)
        codes = Counter(each.code for each in result.passages if each.code)
        told = ", ".join(f"{code} {count}" for code, count in codes.most_common())
        print(f"| {result.dataset} | {kind} | {_figures([result])} | {told} |")
    print("\n| modality | datasets | proposed | verified | s per task |\n|---|---:|---:|---:|---:|")
    for kind, results in kinds.items():
        print(f"| {kind} | {len(results)} | {_figures(results)} |")
    print(f"| all | {len(made.results)} | {_figures(made.results)} |")
    tasks = sum(len(result.verified) for result in made.results)
    print(f"\n{tasks} verified tasks of {len(made.results)} datasets: {tasks / len(made.results):.2f} each")


def _figures(results: Sequence[DatasetResult]) -> str:
    """Formulations proposed, those verified, and the median of the seconds that these took."""
    passages = [passage for result in results for passage in result.passages]
    proposed = [each for each in passages if STAGES.index(each.reached) >= STAGES.index(Stage.PROPOSED)]
    seconds = [each.seconds for each in proposed if each.reached is Stage.VERIFIED]
    return f"{len(proposed)} | {len(seconds)} | {f'{median(seconds):.0f}' if seconds else '-'}"


if __name__ == "__main__":
    main()
