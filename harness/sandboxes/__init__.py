"""Where untrusted code runs."""
