"""Parts of kernels are linked into the entries that call them, and not compiled on their own.

Numba finishes every function by itself: it optimises and emits machine code for a kernel, and does
so again, of the same code, for every kernel above it. Of the time to compile two thirds go there.
A part that only kernels call needs no machine code of its own. Numba offers no setting for that,
so two methods of its code library are replaced, for the versions known to have them as expected;
with any other version kernels are compiled as numba does it, which takes longer.
"""

from __future__ import annotations

from typing import Any, cast

import numba
from numba.core import codegen

KNOWN_VERSIONS = ("0.68.",)
PARTS: set[str] = set()


def link_parts() -> bool:
    """Let numba leave out the machine code of functions named in PARTS. False if it cannot."""
    if not numba.__version__.startswith(KNOWN_VERSIONS):
        return False
    library, generator = cast(Any, codegen.CPUCodeLibrary), cast(Any, codegen.JITCPUCodegen)
    finish, set_env = library.finalize, generator.set_env

    def finalize(self: Any) -> None:
        if self.name not in PARTS:
            finish(self)
            return
        for part in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(part._reload_init)
            self._final_module.link_in(part._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def set_env_where_there_is_one(self: Any, name: str, env: Any) -> None:
        if self._engine.get_global_value_address(name):
            set_env(self, name, env)

    library.finalize, generator.set_env = finalize, set_env_where_there_is_one
    return True
