"""The help page of ``python -m pipeline.run``: what can be set, in the words of its config.

Examples, keys and what they mean are those of conf/config.yaml. Hydra asks for the page by the
resolver that ``hydra.help.template`` there names.
"""

from __future__ import annotations

import re

from hydra.core.global_hydra import GlobalHydra

from pipeline.command_line import Setting, list_words, parser_of, read_settings
from pipeline.paths import conf_dir

ABOUT = "Compute one cell, or with -m a sweep: all combinations of the values listed."
USAGE = "[-m] [KEY=VALUE[,VALUE…] …]"
EXAMPLE = re.compile(r"# (python -m .*)")


def help_template() -> str:
    """Return the page as Hydra takes it, a template in which a dollar is written twice."""
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
    options = GlobalHydra.instance().config_loader().get_group_options(group.key)
    return f"{group.about}: {', '.join(options)}"
