"""What the user has set for pip, in uv's words: uv does not read pip's settings by itself.

A setting for which uv has no word is left out: should uv need it, it fails and pip takes over.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

# Where pip looks, the later the stronger: [global] and [install] of its files, PIP_... variables.
SECTIONS = ("global", "install", ":env:")
# The older names of uv's for an index, so that a user's UV_DEFAULT_INDEX or UV_INDEX is stronger.
VARIABLES = {
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}
LISTS = {"extra-index-url": " ", "find-links": ",", "trusted-host": " "}  # and what separates them
TRUE = ("1", "on", "t", "true", "y", "yes")


def parse_settings(listing: str) -> dict[str, str]:
    """The settings that `pip install` obeys, from what `pip config list` prints."""
    found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listing.splitlines():
        key, equals, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if equals and section in found:
            found[section][name] = str(ast.literal_eval(value)).strip()
    return {name: value for section in SECTIONS for name, value in found[section].items() if value}


def uv_environment(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which uv looks where pip would; what the user has set there stays."""
    # As pip does, take a version from whichever index has it: the hashes say that it is the one.
    told = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for name, variable in VARIABLES.items():
        if name in settings:
            value = settings[name]
            told[variable] = LISTS[name].join(value.split()) if name in LISTS else value
    return {**told, **environment}


def uv_flags(settings: Mapping[str, str]) -> list[str]:
    """The settings for which uv has a flag but no variable."""
    return ["--no-index"] if settings.get("no-index", "").lower() in TRUE else []
