"""The event log of a trial: written as it happens, read back, shown as a conversation, and exported."""
