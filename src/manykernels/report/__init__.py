"""The report page: what a fitted model has learned and how sure that is, in one HTML file that needs nothing else."""

from ._options import ReportOptions
from ._report import Report, make_report

__all__ = ["Report", "ReportOptions", "make_report"]
