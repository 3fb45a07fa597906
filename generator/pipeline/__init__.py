"""The line from raw datasets to verified tasks."""
