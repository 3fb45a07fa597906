"""Task sets that come with the project."""
