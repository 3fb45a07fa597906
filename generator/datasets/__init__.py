"""The raw data embedded for the generator: one folder for each dataset, with its card."""
