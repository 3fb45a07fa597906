"""The thresholds of the gates, with their reasons."""
