"""What probing the metric shows."""
