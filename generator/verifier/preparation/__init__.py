"""What running prepare.py shows."""
