"""Clean tasks made of real data sets, to count the verifier's false alarms."""
