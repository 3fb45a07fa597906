"""Runs candidate models as agents on tasks, and keeps one record per trial."""
