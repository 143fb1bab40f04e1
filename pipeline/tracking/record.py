"""What MLflow is told of a job: params, tags, metrics and curves, from the run folder."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from pipeline.files import read_json
from pipeline.results.average import average_loss, group_rates
from pipeline.results.journal import Run
from pipeline.results.outcome import Outcome
from pipeline.results.runs import CONFIG, ENVIRONMENT, PARTS, RunFolder
from pipeline.terminal import short
from pipeline.tracking.sweep import LONGEST_VALUE, Sweep, key_of, span

Point = tuple[str, int, float]  # metric, step, value
CURVE_POINTS = 100  # of each curve: a point costs MLflow 0.04 ms
MOST_GROUPS, LONGEST_GROUP = 12, 60
# MLflow's name of a figure and that of summary.json
METRICS = {
    "alpha": "alpha",
    "loss": "loss",
    "loss_se": "standard_error",
    "accepted_rate": "accepted_rate",
    "missed_rate": "missed_rate",
    "cutoff_value": "cutoff_value",
}


@dataclass(frozen=True)
class Record:
    """A job as MLflow shows it.

    Attributes:
        name: of the run.
        params: what the job was asked for.
        tags: to search and group by, in the project's nouns.
        metrics: the figures of a finished job, those of its groups among them.
        points: its curves: R_t and R_t/t by cases seen, the loss of every alpha.
        environment: what the result was computed with.
        summary: its figures.
    """

    name: str
    params: dict[str, str]
    tags: dict[str, str]
    metrics: dict[str, float]
    points: list[Point]
    environment: Mapping[str, Any]
    summary: Mapping[str, Any]


def record_of(run: Run, sweep: Sweep) -> Record:
    """Read what there is to say of a job."""
    folder = None if run.folder is None else Path(run.folder)
    outcome = None if folder is None or run.state == "failed" else RunFolder(folder).outcome()
    environment = (folder and read_json(folder / ENVIRONMENT)) or {}
    config = {} if folder is None else _config(folder / CONFIG)
    params = {**run.labels, **_params(config)}
    return Record(
        name=sweep.run_name(run, params.get("seed")),
        params=params,
        tags=_tags(run, sweep, environment),
        metrics={} if outcome is None else _figures(outcome),
        points=[] if outcome is None else [*_curves(outcome, config), *_loss_by_alpha(outcome)],
        environment=environment,
        summary={} if outcome is None else outcome.summary,
    )


def _figures(outcome: Outcome) -> dict[str, float]:
    """Return the figures that are known, those of the largest groups too."""
    found = {key: outcome.summary.get(of) for key, of in METRICS.items()}
    largest = sorted(group_rates(outcome), key=lambda rates: -rates.rows)[:MOST_GROUPS]
    for name, rates in zip(_group_names([one.group for one in largest]), largest, strict=True):
        for figure in ("loss", "accepted_rate", "missed_rate"):
            found[f"group_{figure}_{name}"] = getattr(rates, figure)
    return {key: float(v) for key, v in found.items() if v is not None and math.isfinite(v)}


def _group_names(groups: Sequence[str]) -> list[str]:
    """Return names that MLflow takes and that differ as the groups do."""
    names: list[str] = []
    for group in groups:
        name = re.sub(r"[^\w\- ]", "_", group, flags=re.ASCII)[:LONGEST_GROUP].strip() or "_"
        names.append(f"{name} {len(names) + 1}" if name in names else name)
    return names


def _curves(outcome: Outcome, config: Mapping[str, Any]) -> list[Point]:
    """Return about 100 points of the mean over splits of R_t, and of R_t/t, t counting cases."""
    found = average_loss(outcome.curves).thinned(CURVE_POINTS)
    batch = int((config.get("setting") or {}).get("batch_size") or 1)
    cases = np.minimum(found.rounds * batch, outcome.summary["n_stream"])  # the last may be smaller
    loss = found.mean * found.rounds
    return [
        (name, int(step), float(value))
        for name, values in (("cumulative_loss", loss), ("average_loss", loss / cases))
        for step, value in zip(cases, values, strict=True)
    ]


def _loss_by_alpha(outcome: Outcome) -> list[Point]:
    """Return the mean loss of each alpha by its exponent of 2, or by its number in the grid."""
    alphas = np.unique(outcome.losses["alpha"])
    if len(alphas) == 1:
        return []
    shares, exponents = np.frexp(alphas)
    powers = bool((shares == 0.5).all())
    name = "loss_by_log2_alpha" if powers else "loss_by_alpha_number"
    steps = exponents - 1 if powers else np.arange(1, len(alphas) + 1)
    means = [outcome.losses["loss"][outcome.losses["alpha"] == alpha].mean() for alpha in alphas]
    return [(name, int(step), float(mean)) for step, mean in zip(steps, means, strict=True)]


def _tags(run: Run, sweep: Sweep, environment: Mapping[str, Any]) -> dict[str, str]:
    folder = None if run.folder is None else Path(run.folder).absolute()
    tags = {
        **{noun: run.labels.get(noun) for noun in PARTS},
        "sweep": sweep.label,
        "job": str(run.number),
        "state": run.state,
        "reason": run.reason,
        "run_folder": None if folder is None else str(folder),
        "hash": None if folder is None else folder.name,
        "commit": environment.get("commit"),
        "mlflow.runColor": sweep.colour(run),
        "mlflow.source.name": "pipeline.run",
        "mlflow.source.type": "LOCAL",
        "mlflow.source.git.commit": (environment.get("commit") or "").rstrip("+"),
    }
    return {key: short(value, LONGEST_VALUE) for key, value in tags.items() if value}


def _config(file: Path) -> Mapping[str, Any]:
    """Return the config of a run; read by libyaml, 20 times as fast as OmegaConf does."""
    text = file.read_text(encoding="utf-8") if file.exists() else "{}"
    identity: Any = yaml.load(text, yaml.CSafeLoader)
    return identity.get("config") or {}


def _params(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the config of a run as flat names and short values, but for what its labels say."""
    flat = {
        **_flat("dataset", values.get("dataset")),
        **{key: values.get(key) for key in ("seed", "curve_points")},
        **_flat("method", values.get("method")),
        "alphas": _powers(values.get("alphas") or []),
        "splits": span(values.get("splits") or ()) or None,
        **{name: part for key, value in (values.get("setting") or {}).items()
           for name, part in _flat(key, value).items()},
    }  # fmt: skip
    return {key_of(key): _shown(value) for key, value in flat.items() if value is not None}


def _flat(key: str, value: Any) -> dict[str, Any]:
    """Return ``{key: name, key.option: …}`` of a mapping, ``{key: value}`` of anything else."""
    if not isinstance(value, Mapping):
        return {key: value}
    return {key if name == "name" else f"{key}.{name}": part for name, part in value.items()}


def _powers(alphas: Sequence[float]) -> str | None:
    """Return ``2^-10 … 2^4`` for a full grid of powers of two, else the numbers themselves."""
    exponents = [math.log2(alpha) for alpha in alphas if alpha > 0]
    low = exponents[0] if exponents else 0.0
    grid = [low + k for k in range(len(alphas))] if low.is_integer() else []
    if len(alphas) > 2 and exponents == grid:
        return f"2^{low:g} … 2^{exponents[-1]:g}"
    return ", ".join(f"{alpha:g}" for alpha in alphas) or None


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return short(text, LONGEST_VALUE)
