"""Run one job or a sweep: ``python -m pipeline.run -m method=ours,margin cutoff=0.5,0.7``.

Only Hydra is imported here: ``--help`` and ``--cfg job`` need nothing else.
"""

from __future__ import annotations

import sys

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig

from pipeline.paths import conf_dir

# Hydra copies its store of schemas whenever it composes, and for --help twice for each config
# group: half the time of --help. It changes none of the copies, so one store serves them all.
ConfigStore.__deepcopy__ = lambda store, memo: store  # type: ignore[attr-defined]  # noqa: ARG005


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
def job(config: DictConfig) -> None:
    """Run one job of a sweep; every launcher's workers call this."""
    from pipeline.jobs.hydra_job import run_hydra_job

    run_hydra_job(config)


def main() -> None:
    """Run what the command line asks for; exit with 1 if any job failed, 2 if it makes no sense."""
    from pipeline.jobs.guard import guarded

    sys.exit(guarded(job))


if __name__ == "__main__":
    main()
