"""Every number that a gate compares with, each with its reason, gate by gate."""

from __future__ import annotations

from dataclasses import dataclass, field

from generator.verifier.thresholds.data import DataLimits
from generator.verifier.thresholds.description import DescriptionLimits
from generator.verifier.thresholds.empirical import EmpiricalLimits
from generator.verifier.thresholds.execution import ExecutionLimits
from generator.verifier.thresholds.files import FileLimits
from generator.verifier.thresholds.leaks import LeakLimits
from generator.verifier.thresholds.metric import MetricLimits
from generator.verifier.thresholds.preparation import PreparationLimits
from generator.verifier.thresholds.sampling import SamplingLimits


@dataclass(frozen=True)
class Thresholds:
    """The limits of the gates. The defaults judge all tasks alike; a test may tighten one."""

    sampling: SamplingLimits = field(default_factory=SamplingLimits)
    preparation: PreparationLimits = field(default_factory=PreparationLimits)
    data: DataLimits = field(default_factory=DataLimits)
    leaks: LeakLimits = field(default_factory=LeakLimits)
    files: FileLimits = field(default_factory=FileLimits)
    metric: MetricLimits = field(default_factory=MetricLimits)
    empirical: EmpiricalLimits = field(default_factory=EmpiricalLimits)
    description: DescriptionLimits = field(default_factory=DescriptionLimits)
    execution: ExecutionLimits = field(default_factory=ExecutionLimits)


DEFAULTS = Thresholds()
