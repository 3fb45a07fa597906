"""What the files beside the tables give away, and which are missing."""
