"""What the files of a package tell without running anything."""
