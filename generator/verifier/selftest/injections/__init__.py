"""Injections: each puts one defect into a clean package."""
