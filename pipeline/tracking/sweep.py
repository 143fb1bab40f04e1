"""What MLflow is told of a sweep as a whole, and what tells its runs apart: names and shades."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from pipeline.results.journal import Run
from pipeline.terminal import short
from pipeline.view.names import cutoff_name, method_name
from pipeline.view.style import look

SHOWN = {"method": method_name, "cutoff": cutoff_name}
OTHERS = ("dataset", "link")  # in the names of runs if a sweep has several
LABELLED = {*SHOWN, *OTHERS, "cutoff_value"}
MOST_LISTED, LONGEST_WORD, LONGEST_NAME, LONGEST_VALUE = 3, 24, 90, 500
MOST_METHODS = 20  # that have figures of their own
PALEST = 0.6  # share of white in the last shade of a colour


@dataclass(frozen=True)
class Sweep:
    """One sweep.

    Attributes:
        about: what ``sweep.json`` says of it; ``content`` are the values of each noun.
    """

    about: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Return the name of its folder."""
        return str(self.about.get("sweep", ""))

    @property
    def is_tracked(self) -> bool:
        """Tell whether MLflow is to be told of it."""
        return bool(self.about["tracking_wanted"]["name"] != "none")

    @property
    def content(self) -> Mapping[str, Sequence[str]]:
        """Return the datasets, links, cutoffs, methods, … of its cells, each once."""
        return self.about.get("content") or {}

    @property
    def name(self) -> str:
        """Return what it is about: "diabetes linear · ours, margin · 50%, 70%"."""
        between = " " if len(self.content.get("dataset", ())) == 1 else " · "
        table = between.join(filter(None, map(self._listed, ("dataset", "link"))))
        parts = [table, *map(self._listed, ("method", "cutoff"))]
        return short(" · ".join(filter(None, parts)) or f"sweep {self.label}".strip(), LONGEST_NAME)

    @property
    def params(self) -> dict[str, str]:
        """Return the values of each noun as one text."""
        return {
            noun: short(", ".join(values), LONGEST_VALUE) for noun, values in self.content.items()
        }

    def run_name(self, run: Run, seed: str | None = None) -> str:
        """Return "ours 50%" and what else differs in the sweep; the UI cuts it after 15 letters."""
        if not run.labels:
            return f"job {run.number}"
        words = [show(run.labels[noun]) for noun, show in SHOWN.items()]
        words += [run.labels[noun] for noun in OTHERS if self._tells(noun)]
        variant = self._variant(run.number)
        if seed and len(self.content.get("seed", ())) > 1 and "seed=" not in variant:
            words.append(f"seed {seed}")
        return short(" ".join(filter(None, [*words, variant])), LONGEST_NAME)

    def colour(self, run: Run) -> str:
        """Return the colour of a method, paler from one cutoff of the sweep to the next."""
        colour, own = look(run.labels.get("method", "")).colour, run.labels.get("cutoff", "")
        cutoffs = sorted(self.content.get("cutoff", ()), key=_value)
        if own not in cutoffs or len(cutoffs) == 1:
            return colour
        white = PALEST * cutoffs.index(own) / (len(cutoffs) - 1)
        parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
        return "#" + "".join(f"{round(part + (255 - part) * white):02X}" for part in parts)

    def metrics(self, runs: Sequence[Run], failed: int) -> dict[str, float]:
        """Return figures of the whole, and those of each method.

        These are over the settings that all methods have, so that they can be compared: the mean
        loss, and in how many settings it is the least.
        """
        losses = self._losses(runs)
        methods = list(dict.fromkeys(method for found in losses for method in found))
        shared = [found for found in losses if len(found) == len(methods)]
        figures = {
            "sweep_cells": self.about.get("jobs", len(runs)),
            "sweep_failed": failed,
            "sweep_seconds": round(sum(run.seconds for run in runs), 3),
        }
        for method in methods[:MOST_METHODS] if shared else ():
            won = sum(found[method] == min(found.values()) for found in shared)
            mean = sum(found[method] for found in shared) / len(shared)
            figures |= {f"mean_loss_{method}": mean, f"settings_won_{method}": won}
        return {key_of(key): float(value) for key, value in figures.items()}

    def _losses(self, runs: Iterable[Run]) -> list[dict[str, float]]:
        """Return the loss of each method in each setting, the mean of runs that differ by seed."""
        found: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for run in runs:
            if run.is_done and run.summary:
                nouns = [value for noun, value in run.labels.items() if noun != "method"]
                setting = found.setdefault((*nouns, self._variant(run.number)), {})
                setting.setdefault(run.labels["method"], []).append(run.summary["loss"])
        return [{method: fmean(some) for method, some in one.items()} for one in found.values()]

    def _tells(self, noun: str) -> bool:
        """Tell whether a run needs the noun in its name: its parent's may say it for all."""
        values = self.content.get(noun, ())
        return len(values) != 1 or not self.about.get("many", True)

    def _listed(self, noun: str) -> str:
        values = self.content.get(noun, ())
        if len(values) > MOST_LISTED:
            return f"{len(values)} {noun}s"
        show = SHOWN.get(noun, str)
        return ", ".join(short(show(value), LONGEST_WORD) for value in values)

    def _variant(self, number: int) -> str:
        """Return what else a cell sets and others do not, as on the command line."""
        jobs = self.about.get("overrides") or ()
        own = jobs[number] if number < len(jobs) else ()
        return " ".join(word for word in own if word not in self._common and _is_other(word))

    @cached_property
    def _common(self) -> set[str]:
        jobs = [set(job) for job in self.about.get("overrides") or ()]
        return set.intersection(*jobs) if jobs else set()


def content_of(cells: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return the values of each noun, or whatever keys cells have, each once, in their order."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        for noun, value in cell.items():
            found.setdefault(noun, {})[value] = None
    return {noun: list(values) for noun, values in found.items()}


def span(numbers: Sequence[int]) -> str:
    """Return ``0-9`` for consecutive numbers, else the numbers themselves."""
    if len(numbers) > 1 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(map(str, numbers))


def key_of(name: str) -> str:
    """Return a name MLflow takes: options of an own method may be called anything."""
    return re.sub(r"[^\w\-./ :]", "_", name, flags=re.ASCII)


def _is_other(override: str) -> bool:
    return override.partition("=")[0].lstrip("+") not in LABELLED


def _value(cutoff: str) -> tuple[bool, float]:
    return cutoff.startswith("value_"), float(cutoff.rpartition("_")[2])
