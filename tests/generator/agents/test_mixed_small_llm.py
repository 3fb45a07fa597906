"""A real small language model words and chooses; whatever it says, sound tasks come out."""

from __future__ import annotations

import json
from pathlib import Path

from generator.agents.config import AgentsConfig
from generator.agents.mixed import MixedBackend
from generator.pipeline.generation import Options, generate
from generator.verifier.verify import Plan, verify_task
from harness.budget import Budget
from harness.models.base import ActionFormat, Settings
from harness.models.registry import ModelConfig
from harness.sandboxes.base import SandboxProvider
from harness.tasks.package import load_task
from tests.small_llm import ON_REQUEST, small_llm

pytestmark = ON_REQUEST


def test_a_small_model_serves_the_mixed_backend(tmp_path: Path, sandbox: SandboxProvider) -> None:
    with small_llm(4096) as url:
        settings = Settings(
            max_output_tokens=200, action_format=ActionFormat.SCHEMA, timeout_seconds=120.0, temperature=0.0
        )
        model = ModelConfig(name="openai/smollm2-135m-instruct-q4_1", base_url=url, settings=settings)
        backend = MixedBackend(AgentsConfig.of(model, Budget(steps=20, seconds=None)))
        generation = generate(
            ["ames-housing"], tmp_path, provider=sandbox, backend=backend,
            options=Options(deep=False, verify=False, max_tasks=1),
        )  # fmt: skip
    (root,) = generation.results[0].verified
    task = load_task(root)
    assert (task.spec.provenance or {})["models"] == ["openai/smollm2-135m-instruct-q4_1"]
    found = verify_task(root, sandbox, Plan(deep=False))
    assert not [each for each in found.findings if each.severity == "error"], found.findings
    asked = [each for each in generation.attempts if each.agent in ("brainstormer", "designer")]
    assert all(each.outcome == "done" and each.calls and each.usage.output for each in asked)
    transcripts = list((tmp_path / ".generate" / "ames-housing" / "transcripts").glob("*.jsonl"))
    replies = [json.loads(line) for path in transcripts for line in path.read_text().splitlines()]
    assert [each for each in replies if each["kind"] == "accepted"]
