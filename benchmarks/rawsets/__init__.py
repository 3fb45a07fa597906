"""Real raw datasets in the forms in which people have them, and what the generator makes of them."""
