"""Engines: where and in what order the trials of a job run."""
