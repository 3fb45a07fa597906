"""Scripted candidates: deterministic policies that act through the real loop, with no model and no key."""
