"""The report page: one HTML file that says what a fitted model has learned and how certain the findings are."""

from ._case import ReportOptions
from ._report import Report, make_report

__all__ = ["Report", "ReportOptions", "make_report"]
