"""Pictures as SVG text: of results, of a device's limits, of threads, of what a block accesses of each array, of one
warp's access to memory, and of skills over weeks.

Each function returns a picture that is complete in itself (`str`), the same for the same arguments, with a title and
a description for screen readers, and readable on a light and on a dark page. In a notebook:
`IPython.display.SVG(pictures.banks(…))`.
"""

from grader.report.pictures.access import banks, sectors
from grader.report.pictures.arrays import accesses, accesses_for_pages
from grader.report.pictures.bars import Bar, bars, bars_for_pages
from grader.report.pictures.batches import batch
from grader.report.pictures.decodings import decoding
from grader.report.pictures.ladders import ladder, ladder_for_pages
from grader.report.pictures.occupancies import occupancy
from grader.report.pictures.rooflines import roofline
from grader.report.pictures.threads import register_tile, warps
from grader.report.pictures.timelines import intervals, timeline
from grader.report.pictures.trends import spark, trend, trend_for_pages

__all__ = [
    "Bar",
    "accesses",
    "accesses_for_pages",
    "banks",
    "bars",
    "bars_for_pages",
    "batch",
    "decoding",
    "intervals",
    "ladder",
    "ladder_for_pages",
    "occupancy",
    "register_tile",
    "roofline",
    "sectors",
    "spark",
    "timeline",
    "trend",
    "trend_for_pages",
    "warps",
]
