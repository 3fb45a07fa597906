"""What a language model says of a task."""
