"""What submissions of known skill show."""
