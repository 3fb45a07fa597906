"""The room stays quick to import and imports nothing of the others."""

import subprocess
import sys


def test_slow_libraries_load_only_when_needed():
    code = (
        "import sys, stats.ratings, stats.agreement.pair, stats.agreement.sets, stats.trajectories\n"
        "slow = {'pingouin', 'statsmodels', 'scipy.stats', 'matplotlib', 'sklearn'}\n"
        "ours = {'harness', 'generator', 'leaderboards', 'reports', 'mlesmith'}\n"
        "print(sorted((slow | ours) & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
