"""Clean tasks: packages without a defect, of many modalities, built from data that come with the project."""
