"""Deterministic policies that act as candidates: they read, write programs, and react. No model is called."""
