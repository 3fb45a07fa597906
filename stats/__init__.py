"""Bradley-Terry ratings and benchmark agreement: arrays in, numbers out.

No files, no network, and no import of the other rooms. Import the module that has the noun you need
(`from stats.ratings import rate`): nothing is imported here, so that `import stats` costs nothing.
"""
