"""Which GPUs there are, and whose they are for now."""
