"""Every attack of the catalogue against every sandbox that runs here. None succeeds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.harness.sandboxes.attacks.catalogue import Attack, Kind
from tests.harness.sandboxes.attacks.host import Host
from tests.harness.sandboxes.attacks.ordinary import OrdinaryStage
from tests.harness.sandboxes.attacks.stage import ATTACKS, LIMITS, Seen, Stage
from tests.harness.sandboxes.namespaces import held

_ATTEMPT = re.compile(r"^.* -> (\w+)", re.MULTILINE)


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_an_attack_fails(stage: Stage | OrdinaryStage, host: Host, attack: Attack) -> None:
    before = host.state()
    host.visits.clear()
    with held(stage.ready()) as namespace:
        seen = stage.perform(attack)
        left = set() if seen.end == "lost" else namespace.resting
        assert namespace.comes_to(left), "processes of it are left on the host"
    _check_what_it_came_to(seen, attack)
    _check_what_no_attack_does(seen, attack, host)
    assert host.visits == []
    assert host.state() == before


def _check_what_it_came_to(seen: Seen, attack: Attack) -> None:
    assert seen.end in attack.ends, seen
    assert not re.search("^ESCAPED", seen.output, re.MULTILINE), seen
    if attack.denied:
        ways = Counter(_ATTEMPT.findall(seen.output))
        assert ways and set(ways) <= set(attack.denied), seen.output
    if seen.end != "lost":
        assert re.search(attack.says, seen.output), seen
        assert seen.then == attack.finds, seen
    if attack.fetch:
        assert seen.fetched.startswith(attack.gives), seen


def _check_what_no_attack_does(seen: Seen, attack: Attack, host: Host) -> None:
    assert host.canary not in seen.output + seen.fetched + seen.then, seen
    assert all(character.isprintable() or character in "\n\t" for character in seen.output), seen
    assert len(seen.output.encode()) < LIMITS.output_bytes + 200
    assert seen.seconds < attack.seconds + 5
    assert seen.neighbour == f"{len(host.canary)}\n"


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.control], ids=str)
def test_without_a_sandbox_it_is_an_attack(host: Host, tmp_path: Path, attack: Attack) -> None:
    """The same program, run on the host, gets at the secret."""
    (tmp_path / "attempts.py").write_text(Path(__file__).with_name("attempts.py").read_text())
    program = "import os, sys\nfrom attempts import *\n" + attack.code
    run = subprocess.run(
        [sys.executable, "-c", program, json.dumps(host.facts)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert host.canary in run.stdout or host.facts["shm"] in run.stdout, run


def test_the_catalogue_covers_every_kind() -> None:
    counts = Counter(attack.kind for attack in ATTACKS)
    assert set(counts) == set(Kind)
    assert len({str(attack) for attack in ATTACKS}) == len(ATTACKS)
