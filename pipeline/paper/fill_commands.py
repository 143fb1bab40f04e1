"""The commands that fill missing cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

COMMAND = "python -m pipeline.run -m experiment=paper"
LABELS = ("protocol", "dataset", "link", "cutoff", "method")


def fill_command(labels: Mapping[str, str]) -> str:
    """Return the command that runs a cell; a label may be several, separated by commas."""
    return " ".join([COMMAND, *(f"{name}={labels[name]}" for name in LABELS)])


def fill_commands(gaps: Iterable[Mapping[str, str]]) -> list[str]:
    """Return few commands that run all the gaps.

    Datasets that lack the same cutoffs and methods share a command. A command may cover more
    than the gaps; what is finished is skipped when it runs.

    Args:
        gaps: labels of the missing cells: protocol, dataset, link, cutoff and method.
    """
    lacking: dict[tuple[str, ...], tuple[dict[str, None], dict[str, None]]] = {}
    for gap in gaps:
        key = (gap["protocol"], gap["link"], gap["dataset"])
        cutoffs, methods = lacking.setdefault(key, ({}, {}))
        cutoffs[gap["cutoff"]] = None
        methods[gap["method"]] = None
    alike: dict[tuple[str, ...], list[str]] = {}
    for (protocol, link, dataset), (cutoffs, methods) in lacking.items():
        wanted = (protocol, link, ",".join(sorted(cutoffs, key=float)), ",".join(methods))
        alike.setdefault(wanted, []).append(dataset)
    return [
        fill_command(dict(zip(LABELS, (protocol, ",".join(datasets), *others), strict=True)))
        for (protocol, *others), datasets in alike.items()
    ]
