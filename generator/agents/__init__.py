"""Brainstormer, Designer and Refactor by language models."""
