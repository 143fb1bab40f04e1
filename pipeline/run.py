"""Run one job or a sweep: ``python -m pipeline.run -m method=ours,margin cutoff=0.5,0.7``.

Only Hydra is imported here: ``--help`` and ``--cfg job`` need nothing else.
"""

from __future__ import annotations

import sys

import hydra
from omegaconf import DictConfig

from pipeline.jobs.process import set_up
from pipeline.paths import conf_dir


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
def job(config: DictConfig) -> None:
    """Run one job of a sweep; every launcher's workers call this."""
    from pipeline.jobs.hydra_job import run_hydra_job

    run_hydra_job(config)


def main() -> None:
    """Run what the command line asks for; exit with 1 if any job failed, 2 if it makes no sense."""
    from pipeline.jobs.guard import guarded

    set_up()
    sys.exit(guarded(job))


if __name__ == "__main__":
    main()
