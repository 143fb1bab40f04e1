"""Compute one cell or a sweep: ``python -m pipeline.run -m method=ours,margin cutoff=0.5,0.7``.

Only Hydra is imported here: ``--help`` and ``--cfg job`` need nothing else.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.object_type import ObjectType
from omegaconf import DictConfig, OmegaConf

from pipeline.command_line import (
    FAILED,
    INTERRUPTED,
    REFUSED,
    Setting,
    list_words,
    name_of,
    parser_of,
    read_settings,
)
from pipeline.files import conf_dir
from pipeline.terminal import any_terminal, complain

ABOUT = "Compute one cell, or with -m a sweep: all combinations of the values listed."
USAGE = "[-m] [KEY=VALUE[,VALUE…] …]"
EXAMPLE = re.compile(r"# (python -m .*)")
SELDOM = (100_000, 50, 100)  # Python's own: 700, 10, 10
FULL_ERROR, TRACE = "HYDRA_FULL_ERROR", "ONESIDED_TRACE"  # the second: what the user has set


@hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")
def job(config: DictConfig) -> None:
    """Run one cell; or, as a worker of a sweep, whatever launcher started it, a part of that."""
    if "part_file" in config:
        from pipeline.sweeps.worker import work

        work(Path(config.part_file))
    else:
        sys.exit(_run_single(config))


def _run_single(config: DictConfig) -> int:
    """Run one cell and return the exit code; Hydra would have its own words for what is raised."""
    from pipeline.sweeps.command import run_single

    try:
        return run_single(config, HydraConfig.get())
    except Exception as error:
        if os.environ.get(TRACE) == "1":
            raise
        return _explained(error)


def main() -> None:
    """Run what the command line asks for; exit with 1 if a cell failed, 2 if it makes no sense."""
    any_terminal()
    OmegaConf.register_new_resolver("help_template", help_template, replace=True)
    # Composing and logging make many objects and few cycles: to look for these as often as Python
    # does by default took a quarter of a sweep's time, a last look at the end more than a second.
    gc.set_threshold(*SELDOM)
    atexit.register(gc.freeze)
    before = os.environ.get(FULL_ERROR)
    os.environ[TRACE] = before or "0"
    os.environ[FULL_ERROR] = "1"  # Hydra then raises what it would print with a long trace
    try:
        job()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if before == "1":
            raise
        sys.exit(_explained(error))
    finally:
        del os.environ[FULL_ERROR], os.environ[TRACE]
        if before is not None:
            os.environ[FULL_ERROR] = before


def _explained(error: Exception) -> int:
    """Say in one line what went wrong; return the exit code."""
    from pipeline.cells.errors import SweepError
    from pipeline.sweeps.hydra_errors import explain_request

    begun = isinstance(error, SweepError)
    cause = (error.__cause__ or error) if begun else error
    said = explain_request(cause, sys.argv[1:])
    complain(f"{name_of('pipeline.run')}: {said}")
    return FAILED if begun else REFUSED


def help_template() -> str:
    """Return the help page in the words of conf/config.yaml, which names this as Hydra's template.

    Examples, keys and what they mean stand there. In a template a dollar is written twice.
    """
    file = conf_dir() / "config.yaml"
    examples = "\n".join(EXAMPLE.findall(file.read_text(encoding="utf-8")))
    page = parser_of("pipeline.run", f"{ABOUT}\n\nExamples:\n{examples}", USAGE)
    page.add_argument("-m", "--multirun", action="store_true", help="run a sweep")
    page.add_argument("--cfg", metavar="job", help="show the whole config, run nothing")
    page.add_argument("--config-dir", metavar="FOLDER", help="configs of your own")
    page.add_argument("--hydra-help", action="store_true", help="show all options of Hydra")
    settings = list(read_settings(file))
    groups = [one._replace(section="") for one in settings if one.section == "defaults"]
    keys = [one for one in settings if one.section not in ("defaults", "hydra")]
    list_words(page, "choices", {one.written: _choices(one) for one in groups})
    list_words(page, "settings", {one.written: one.about for one in keys})
    return page.format_help().replace("$", "$$")


def _choices(group: Setting) -> str:
    # Hydra's own list of options copies the whole config store for each group.
    loader = GlobalHydra.instance().config_loader()
    sources = [source for source in loader.get_sources() if source.is_group(group.key)]
    options = {name for source in sources for name in source.list(group.key, ObjectType.CONFIG)}
    return f"{group.about}: {', '.join(sorted(options))}"


if __name__ == "__main__":
    main()
