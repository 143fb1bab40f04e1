"""How datasets, cutoffs, methods and figures are written in tables, pages and pictures."""

from __future__ import annotations

import math

from pipeline.results.journal import Run
from pipeline.terminal import printable
from pipeline.view.style import look

NONE = "–"
CAPITALS = {"compas": "COMPAS", "eeg_eye": "EEG Eye"}  # names that are not just capitalised


def dataset_name(dataset: str) -> str:
    """Return the name the paper's tables print: ``eeg_eye`` as "EEG Eye"."""
    return CAPITALS.get(dataset, dataset.replace("_", " ").capitalize())


def method_name(method: str) -> str:
    """Return the short name of a method: ``os_eps_greedy`` as "os-ε-greedy"."""
    return look(method).label.replace("one-sided ", "os-")


def cutoff_name(cutoff: str) -> str:
    """Return the label ``0.5`` as "50%", ``value_0.3`` as "c = 0.3"."""
    if cutoff.startswith("value_"):
        return f"c = {cutoff.removeprefix('value_')}"
    return f"{float(cutoff) * 100:g}%"


def row_name(link: str, dataset: str, cutoff: str) -> str:
    """Return the name of a row: "linear, Bank, 85%"."""
    return f"{link}, {dataset_name(dataset)}, {cutoff_name(cutoff)}"


def or_dash(value: float, pattern: str) -> str:
    """Return a figure as the pattern says, such as "{:.1%}"; a dash where there is none."""
    return NONE if math.isnan(value) else pattern.format(value)


def alpha_text(alpha: float | None) -> str:
    """Return 4 as "4", 0.25 as "1/4", and 0, the alpha of a method that has none, as "–"."""
    if not alpha:
        return NONE
    inverse = 1.0 / alpha
    return f"1/{inverse:g}" if alpha < 1 and inverse == int(inverse) else f"{alpha:g}"


def loss_text(loss: float, standard_error: float | None) -> str:
    """Return mean ± standard error with as many digits as can be told apart."""
    digits = 2 if loss < 1000 else 1
    error = "" if standard_error is None else f" ± {standard_error:.{digits}f}"
    return f"{loss:.{digits}f}{error}"


def name_text(labels: dict[str, str]) -> str:
    """Return dataset, link, cutoff and method of a cell."""
    if not labels:
        return "(config)"
    cutoff = cutoff_name(labels["cutoff"])
    return printable(f"{labels['dataset']} {labels['link']} {cutoff} {labels['method']}")


def run_text(run: Run) -> str:
    """Return what became of a cell, in one line."""
    name = f"{name_text(run.labels):36}"
    if run.state == "failed":
        return f"{name} FAILED: {printable(str(run.reason))}"
    summary = run.summary or {}
    figures = loss_text(summary["loss"], summary["standard_error"])
    how = "kept" if run.state == "kept" else f"{run.seconds:.1f} s"
    return f"{name} loss {figures:>16}   alpha {alpha_text(summary['alpha']):7} {how:>7}"
