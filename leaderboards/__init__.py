"""Run records -> comparable results -> ratings -> published CSV and JSON."""
