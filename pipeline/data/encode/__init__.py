"""From the columns of a table to X and y, every step declared; nothing here sees a label but y."""

from pipeline.data.encode.categories import OneHot, missing_name, text_codes
from pipeline.data.encode.encoder import Encoder, Step
from pipeline.data.encode.kinds import Standardised, shown
from pipeline.data.encode.selection import keep_rows, labels_of, may_be_shown

__all__ = [
    "Encoder",
    "OneHot",
    "Standardised",
    "Step",
    "keep_rows",
    "labels_of",
    "may_be_shown",
    "missing_name",
    "shown",
    "text_codes",
]
