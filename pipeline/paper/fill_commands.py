"""The commands that fill missing cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

COMMAND = "python -m pipeline.run -m experiment=paper"
Block = tuple[str, str]  # protocol, link
Wanted = tuple[tuple[str, ...], tuple[str, ...]]  # cutoffs, methods


def fill_command(
    protocol: str,
    datasets: Iterable[str],
    link: str,
    cutoffs: Iterable[str],
    methods: Iterable[str],
) -> str:
    """Return the command that runs all combinations of some labels."""
    return (
        f"{COMMAND} protocol={protocol} dataset={','.join(datasets)} link={link} "
        f"cutoff={','.join(cutoffs)} method={','.join(methods)}"
    )


def fill_commands(gaps: Iterable[Mapping[str, str]]) -> list[str]:
    """Return few commands that run all the gaps.

    Datasets that lack the same cutoffs and methods share a command. A command may cover more
    than the gaps; what is finished is skipped when it runs.

    Args:
        gaps: labels of the missing cells: protocol, dataset, link, cutoff and method.
    """
    lacking: dict[tuple[Block, str], tuple[dict[str, None], dict[str, None]]] = {}
    for gap in gaps:
        key = ((gap["protocol"], gap["link"]), gap["dataset"])
        cutoffs, methods = lacking.setdefault(key, ({}, {}))
        cutoffs[gap["cutoff"]] = None
        methods[gap["method"]] = None
    alike: dict[tuple[Block, Wanted], list[str]] = {}
    for (block, dataset), (cutoffs, methods) in lacking.items():
        wanted = (tuple(sorted(cutoffs, key=float)), tuple(methods))
        alike.setdefault((block, wanted), []).append(dataset)
    return [
        fill_command(protocol, datasets, link, cutoffs, methods)
        for ((protocol, link), (cutoffs, methods)), datasets in alike.items()
    ]
