"""Clients of candidate models behind one small protocol."""
