"""What an agent meets that works on the task."""
