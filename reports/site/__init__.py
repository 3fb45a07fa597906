"""The static site of a job: one page for the whole, and one page per trial."""

from reports.site.build import build_site

__all__ = ["build_site"]
