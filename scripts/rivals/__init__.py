"""Other people's ways of learning from one-sided feedback, to be timed beside our engine.

Every module has `available()` and imports its package only when it is used. Rows are brought into
a rival's own input format before the clock starts, so that the times favour the rival.

To hold all to one BLAS thread, call every `available()` first and limit the threads then: it loads
the package with its own BLAS (scipy's and numpy's are two libraries), and a limit reaches only what
is loaded. Two spinning BLAS threads on a busy machine can make a rival ten times slower.
"""
