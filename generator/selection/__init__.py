"""Which verified tasks make an evaluation set: chosen for what they tell, balanced, and frozen by hash."""
