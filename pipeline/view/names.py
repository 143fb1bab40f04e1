"""How datasets, cutoffs, methods and figures are written in tables, pages and pictures."""

from __future__ import annotations

import math

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
