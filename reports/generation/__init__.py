"""The report of a generation, and of several side by side, from the folders that they wrote to."""
