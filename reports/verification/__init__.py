"""Readable reports of what the verifier found."""
