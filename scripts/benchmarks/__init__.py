"""The benchmark, one module a question; scripts/bench.py asks them all and writes the answers down.

Every section is a function from :class:`benchmarks.sizes.Sizes` to rows of the report. Things that
are compared take turns and each keeps its best time, so that a slow moment of the machine does not
fall on one of them alone.
"""
