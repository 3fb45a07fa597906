"""What is wrong with the prepared tables."""
