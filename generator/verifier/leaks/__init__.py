"""Answers that can be had without learning."""
