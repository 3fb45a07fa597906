"""How far two or more sets of tasks agree about the same models."""
