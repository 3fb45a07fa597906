"""Competitions of mle-bench as task packages of ours."""
