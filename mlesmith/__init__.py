"""The ``mlesmith`` command: parses, calls one function of a room below, prints."""
