"""How figures and jobs are written in a terminal."""

from __future__ import annotations

from pipeline.results.sweeps import Entry
from pipeline.terminal import printable
from pipeline.view.names import cutoff_name

BOLD, PLAIN = "\033[1m", "\033[0m"


def alpha_text(alpha: float | None) -> str:
    """Return 4 as "4", 0.25 as "1/4", and 0, the alpha of a method that has none, as "–"."""
    if not alpha:
        return "–"
    inverse = 1.0 / alpha
    if alpha < 1 and inverse == int(inverse):
        return f"1/{inverse:g}"
    return f"{alpha:g}"


def loss_text(loss: float, standard_error: float | None) -> str:
    """Return mean ± standard error with as many digits as can be told apart."""
    digits = 2 if loss < 1000 else 1
    if standard_error is None:
        return f"{loss:.{digits}f}"
    return f"{loss:.{digits}f} ± {standard_error:.{digits}f}"


def name_text(labels: dict[str, str]) -> str:
    """Return dataset, link, cutoff and method of a job."""
    if not labels:
        return "(config)"
    cutoff = cutoff_name(labels["cutoff"])
    return printable(f"{labels['dataset']} {labels['link']} {cutoff} {labels['method']}")


def job_text(entry: Entry) -> str:
    """Return what became of a job, in one line."""
    name = f"{name_text(entry.labels):36}"
    if entry.state == "failed":
        return f"{name} FAILED: {printable(str(entry.reason))}"
    summary = entry.summary or {}
    figures = loss_text(summary["loss"], summary["standard_error"])
    how = "kept" if entry.state == "kept" else f"{entry.seconds:.1f} s"
    return f"{name} loss {figures:>16}   alpha {alpha_text(summary['alpha']):7} {how:>7}"
