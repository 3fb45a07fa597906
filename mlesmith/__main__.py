"""``python -m mlesmith``."""

from mlesmith.main import main

main()
