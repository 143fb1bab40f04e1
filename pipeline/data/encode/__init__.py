"""From the columns of a table to X, every step declared; nothing here sees a label."""

from pipeline.data.encode.categories import OneHot, missing_name, text_codes
from pipeline.data.encode.encoder import Encoder, Step
from pipeline.data.encode.kinds import Standardised, numbers, shown

__all__ = [
    "Encoder",
    "OneHot",
    "Standardised",
    "Step",
    "missing_name",
    "numbers",
    "shown",
    "text_codes",
]
