"""Task packages: loading, preparing and grading."""
