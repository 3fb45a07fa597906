"""Agents: the loop around a model."""
