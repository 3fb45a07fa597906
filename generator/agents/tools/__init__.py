"""What an agent can do while it works: look at the raw data, run code, write files."""
