"""What the description says, against the real files."""
