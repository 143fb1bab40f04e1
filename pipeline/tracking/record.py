"""What MLflow is told of a job: params, tags, metrics and the curve, from the run folder."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from pipeline.files import read_json
from pipeline.results.average import AverageLoss, average_loss
from pipeline.results.journal import Run
from pipeline.results.runs import CONFIG, ENVIRONMENT, PARTS, RunFolder
from pipeline.view.style import look

CURVE, CURVE_POINTS = "average_loss", 200
LONGEST_VALUE = 500
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
        metrics: the figures of a finished job.
        average: R_t/t; None of a failed job.
        environment: what the result was computed with.
        summary: its figures.
    """

    name: str
    params: dict[str, str]
    tags: dict[str, str]
    metrics: dict[str, float]
    average: AverageLoss | None
    environment: Mapping[str, Any]
    summary: Mapping[str, Any]

    @property
    def points(self) -> list[tuple[int, float]]:
        """Return about 200 points (t, mean over splits of R_t/t), the last round included."""
        if self.average is None:
            return []
        found = self.average.thinned(CURVE_POINTS)
        return list(zip(found.rounds.tolist(), found.mean.tolist(), strict=True))


def record_of(run: Run, sweep: str) -> Record:
    """Read what there is to say of a job."""
    folder = None if run.folder is None else Path(run.folder)
    outcome = None if folder is None or run.state == "failed" else RunFolder(folder).outcome()
    environment = (folder and read_json(folder / ENVIRONMENT)) or {}
    summary = {} if outcome is None else outcome.summary
    return Record(
        name=_name(run),
        params={**run.labels, **({} if folder is None else _params(folder / CONFIG))},
        tags=_tags(run, sweep, environment),
        metrics={
            key: float(summary[of]) for key, of in METRICS.items() if _finite(summary.get(of))
        },
        average=None if outcome is None else average_loss(outcome.curves),
        environment=environment,
        summary=summary,
    )


def _name(run: Run) -> str:
    """Return the run's name; the UI cuts it after some 15 letters, so what differs comes first."""
    nouns = ("method", "cutoff", "dataset", "link")
    return " ".join(run.labels.get(noun, "") for noun in nouns).strip() or f"job {run.number}"


def _tags(run: Run, sweep: str, environment: Mapping[str, Any]) -> dict[str, str]:
    folder = None if run.folder is None else Path(run.folder).absolute()
    tags = {
        **{noun: run.labels.get(noun) for noun in PARTS},
        "sweep": sweep,
        "job": str(run.number),
        "state": run.state,
        "reason": run.reason,
        "run_folder": None if folder is None else str(folder),
        "hash": None if folder is None else folder.name,
        "commit": environment.get("commit"),
        "mlflow.runColor": look(run.labels.get("method", "")).colour,
        "mlflow.source.name": "pipeline.run",
        "mlflow.source.type": "LOCAL",
        "mlflow.source.git.commit": (environment.get("commit") or "").rstrip("+"),
    }
    return {key: _short(value) for key, value in tags.items() if value}


def _params(config: Path) -> dict[str, str]:
    """Return the config of a run as flat names and short values."""
    identity: Any = OmegaConf.to_container(OmegaConf.load(config)) if config.exists() else {}
    values = identity.get("config") or {}
    flat = {
        **_flat("dataset", values.get("dataset")),
        **{key: values.get(key) for key in ("protocol", "link", "seed", "curve_points")},
        "cutoff": _cutoff(values.get("cutoff") or {}),
        **_flat("method", values.get("method")),
        "alphas": _powers(values.get("alphas") or []),
        "splits": _range(values.get("splits") or []),
        **{name: part for key, value in (values.get("setting") or {}).items()
           for name, part in _flat(key, value).items()},
    }  # fmt: skip
    return {_key(key): _shown(value) for key, value in flat.items() if value is not None}


def _flat(key: str, value: Any) -> dict[str, Any]:
    """Return ``{key: name, key.option: …}`` of a mapping, ``{key: value}`` of anything else."""
    if not isinstance(value, Mapping):
        return {key: value}
    return {key if name == "name" else f"{key}.{name}": part for name, part in value.items()}


def _cutoff(cutoff: Mapping[str, Any]) -> str | None:
    if cutoff.get("quantile") is not None:
        return f"{cutoff['quantile']:g}"
    return None if cutoff.get("value") is None else f"value_{cutoff['value']:g}"


def _powers(alphas: Sequence[float]) -> str | None:
    """Return ``2^-10 … 2^4`` for a full grid of powers of two, else the numbers themselves."""
    exponents = [math.log2(alpha) for alpha in alphas if alpha > 0]
    low = exponents[0] if exponents else 0.0
    grid = [low + k for k in range(len(alphas))] if low.is_integer() else []
    if len(alphas) > 2 and exponents == grid:
        return f"2^{low:g} … 2^{exponents[-1]:g}"
    return ", ".join(f"{alpha:g}" for alpha in alphas) or None


def _range(numbers: Sequence[int]) -> str | None:
    """Return ``0-9`` for consecutive numbers, else the numbers themselves."""
    if len(numbers) > 1 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ", ".join(str(number) for number in numbers) or None


def _key(key: str) -> str:
    """Return a name MLflow takes: options of an own method may be called anything."""
    return re.sub(r"[^\w\-./ :]", "_", key, flags=re.ASCII)


def _shown(value: Any) -> str:
    return _short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 1]}…"


def _finite(value: Any) -> bool:
    return value is not None and math.isfinite(value)
