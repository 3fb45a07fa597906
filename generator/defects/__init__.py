"""What the verifier can report, in codes that stay the same."""
