"""How a sweep ends: the table, the failures, the pictures, and where everything was saved."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.jobs.lines import BOLD, PLAIN, alpha_text, job_text, loss_text
from pipeline.jobs.variants import with_variants
from pipeline.paper.names import cutoff_name, method_name
from pipeline.results.average import AverageLoss, average_loss
from pipeline.results.files import write_text
from pipeline.results.groups import GroupRates, group_rates
from pipeline.results.outcome import FIGURES, Outcome
from pipeline.results.runs import RunFolder
from pipeline.results.sweeps import Entry, Journal

Block = tuple[str, str, str]  # protocol, dataset, link
WIDTH, TRIPLE, GROUP = 16, 25, 22  # of a figure, of three figures, of a group's name
SHOWN_GROUPS = 12


def report(journal: Journal, entries: Sequence[Entry], total: int, stopped: bool) -> int:
    """Print the end of a sweep; return how many jobs failed or never finished."""
    entries = with_variants(entries, journal.about.get("overrides", []))
    done = [entry for entry in entries if entry.state in ("computed", "kept")]
    failed = [entry for entry in entries if entry.state == "failed"]
    lost = total - len(done) - len(failed)
    for line in _lines(done, failed, bold=sys.stdout.isatty()):
        print(line)
    if lost and (done or failed or stopped):
        print(f"{lost} of {total} jobs did not finish; run the same command again to complete them")
    untracked = [entry for entry in done if entry.untracked]
    if untracked:
        print(f"{len(untracked)} jobs are not in MLflow ({untracked[0].untracked})")
    if done:
        write_text(journal.path / "summary.csv", _csv(entries))
        for line in _places(journal, done, _draw(journal, done)):
            print(line)
    return len(failed) + lost


def _lines(done: Sequence[Entry], failed: Sequence[Entry], bold: bool) -> Iterator[str]:
    for block, cells in _blocks(done).items():
        yield ""
        yield from _table(block, cells, bold)
        yield from _group_table(cells)
    if failed:
        yield ""
        yield f"{len(failed)} failed:"
        for entry in failed:
            yield f"  {job_text(entry)}"
            if entry.folder:
                yield f"    {Path(entry.folder) / 'traceback.txt'}"


def _blocks(done: Sequence[Entry]) -> dict[Block, list[Entry]]:
    blocks: dict[Block, list[Entry]] = {}
    for entry in done:
        labels = entry.labels
        block = (labels["protocol"], labels["dataset"], labels["link"])
        blocks.setdefault(block, []).append(entry)
    return blocks


def _table(block: Block, cells: Sequence[Entry], bold: bool) -> Iterator[str]:
    """Yield the table of one dataset and link: cutoffs as rows, methods as columns."""
    protocol, dataset, link = block
    splits = (cells[0].summary or {}).get("n_splits")
    yield f"{dataset}, {link} link, protocol {protocol}: loss ± standard error over {splits} splits"
    methods = list(dict.fromkeys(entry.labels["method"] for entry in cells))
    width = max(WIDTH, *(len(method_name(method)) + 2 for method in methods))
    yield f"{'':12}" + "".join(f"{method_name(method):>{width}}" for method in methods)
    for cutoff in _cutoffs(cells):
        row = {e.labels["method"]: e for e in cells if e.labels["cutoff"] == cutoff}
        yield from _row(cutoff, [row.get(method) for method in methods], width, bold)


def _row(cutoff: str, row: Sequence[Entry | None], width: int, bold: bool) -> Iterator[str]:
    figures = [None if entry is None else (entry.summary or {}) for entry in row]
    least = min(figure["loss"] for figure in figures if figure is not None)
    texts, alphas = [], []
    for figure in figures:
        if figure is None:
            texts.append(f"{'missing':>{width}}")
            alphas.append(f"{'':{width}}")
            continue
        text = f"{loss_text(figure['loss'], figure['standard_error']):>{width}}"
        texts.append(f"{BOLD}{text}{PLAIN}" if bold and figure["loss"] == least else text)
        alphas.append(f"{alpha_text(figure['alpha']):>{width}}")
    yield f"{cutoff_name(cutoff):<12}" + "".join(texts)
    yield f"{'  alpha':<12}" + "".join(alphas)


def _cutoffs(cells: Sequence[Entry]) -> list[str]:
    """Return the cutoffs of some jobs, quantiles first, in ascending order."""
    labels = {entry.labels["cutoff"] for entry in cells}
    return sorted(labels, key=lambda label: (len(label.split("_")), float(label.split("_")[-1])))


def _group_table(cells: Sequence[Entry]) -> Iterator[str]:
    """Yield loss, acceptance and missed-positive rate of each group, where groups are named."""
    for cutoff in _cutoffs(cells):
        chosen = [entry for entry in cells if entry.labels["cutoff"] == cutoff]
        rates = {entry.labels["method"]: group_rates(_outcome(entry)) for entry in chosen}
        groups = sorted(next(iter(rates.values())), key=lambda found: -found.rows)
        if not groups:
            continue
        yield f"by group, {cutoff_name(cutoff)}: loss / rows accepted / missed of those truly above"
        yield f"{'':{GROUP}}" + "".join(f"{method_name(method):>{TRIPLE}}" for method in rates)
        for group in groups[:SHOWN_GROUPS]:
            found = [next(r for r in all_ if r.group == group.group) for all_ in rates.values()]
            yield f"  {group.group[: GROUP - 3]:{GROUP - 2}}" + "".join(map(_triple, found))
        if len(groups) > SHOWN_GROUPS:
            yield f"  and {len(groups) - SHOWN_GROUPS} smaller groups, see groups.parquet"


def _triple(rates: GroupRates) -> str:
    accepted, missed = _percent(rates.accepted_rate), _percent(rates.missed_rate)
    return f"{f'{rates.loss:.2f} / {accepted} / {missed}':>{TRIPLE}}"


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.1%}"


def _outcome(entry: Entry) -> Outcome:
    return RunFolder(Path(str(entry.folder))).outcome()


def _csv(entries: Sequence[Entry]) -> str:
    """Return one line for each job."""
    text = io.StringIO()
    labels = ("protocol", "dataset", "link", "cutoff", "method")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*labels, *FIGURES, "state", "reason", "folder"])
    for entry in entries:
        found = entry.summary or {}
        figures = [found.get(name) for name in FIGURES]
        named = [entry.labels.get(label) for label in labels]
        writer.writerow([*named, *figures, entry.state, entry.reason, entry.folder])
    return text.getvalue()


def _draw(journal: Journal, done: Sequence[Entry]) -> list[Path]:
    """Draw R_t/t of the tuned runs: a picture for each dataset and link, a panel a cutoff."""
    from pipeline.paper.curves import Panel, draw

    pictures = []
    for (protocol, dataset, link), cells in _blocks(done).items():
        panels = [
            Panel(f"cutoff {cutoff_name(cutoff)}", _averages(cells, cutoff))
            for cutoff in _cutoffs(cells)
        ]
        path = journal.path / f"{protocol}_{dataset}_{link}.png"
        draw(panels, path, title=f"Average one-sided loss: {dataset}, {link} link")
        pictures.append(path)
    return pictures


def _averages(cells: Sequence[Entry], cutoff: str) -> dict[str, AverageLoss]:
    """Return R_t/t of the methods at one cutoff."""
    return {
        entry.labels["method"]: average_loss(_outcome(entry).curves)
        for entry in cells
        if entry.labels["cutoff"] == cutoff
    }


def _places(journal: Journal, done: Sequence[Entry], pictures: Sequence[Path]) -> Iterator[str]:
    kept = sum(entry.state == "kept" for entry in done)
    note = f" ({kept} of {len(done)} kept from before)" if kept else ""
    folders = [Path(str(entry.folder)) for entry in done]
    yield ""
    yield f"results:  {_common(folders)}{note}"
    yield f"numbers:  {journal.path / 'summary.csv'}"
    if len(pictures) == 1:
        yield f"picture:  {pictures[0]}"
    else:
        yield f"pictures: {journal.path}/*.png ({len(pictures)})"


def _common(folders: Sequence[Path]) -> Path:
    """Return the deepest folder that holds all of them."""
    return Path(os.path.commonpath(folders))
