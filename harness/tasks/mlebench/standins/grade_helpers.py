"""Stands in for ``mlebench.grade_helpers``: what competitions import of it."""


class InvalidSubmissionError(Exception):
    """A submission cannot be graded."""
