"""Open MLflow's pages on this machine; nobody else can reach them, and Ctrl-C ends it.

Examples:
    python -m pipeline.tracking.ui
    python -m pipeline.tracking.ui port=5001
    python -m pipeline.tracking.ui outputs=elsewhere
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from pipeline.command_line import FAILED, guarded, settings
from pipeline.results.journal import find_sweeps
from pipeline.terminal import any_terminal
from pipeline.tracking.store import ARTIFACTS, database, set_environment, store_uri

HOST = "127.0.0.1"
SETTINGS = {
    "outputs": ("outputs", "folder with the MLflow database of the sweeps"),
    "port": ("5000", "of this machine, from 1 to 65535"),
}
TYPE, NAME = "workflowType=machine_learning", "tags.`mlflow.runName`"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check that there is something to show and a port to show it on, then become the server."""
    any_terminal()
    return guarded(lambda: _serve(arguments), {ValueError: FAILED}, prefix="")


def _serve(arguments: Sequence[str] | None) -> int:
    outputs, port = parse(arguments)
    check(outputs, port)
    print("MLflow, ready in some seconds (Ctrl-C ends it):")
    for what, page in pages(outputs, port).items():
        print(f"  {what}: {page}", flush=True)
    set_environment()
    # No background jobs: half the memory. No warnings: those are of MLflow's own making.
    os.environ.update(MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false", PYTHONWARNINGS="ignore")
    os.execv(sys.executable, server_command(outputs, port))


def parse(arguments: Sequence[str] | None) -> tuple[Path, int]:
    """Return outputs and port as the command line has them."""
    given = settings("pipeline.tracking.ui", str(__doc__), SETTINGS, arguments)
    port = given["port"]
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"port={port} is not a whole number from 1 to 65535")
    return Path(given["outputs"]), int(port)


def check(outputs: Path, port: int) -> None:
    """Raise a ValueError that says what to do if there is no database or the port is taken."""
    if not database(outputs).exists():
        raise ValueError(
            f"no MLflow database in {outputs} yet: run a sweep first, such as\n"
            "  python -m pipeline.run -m method=ours,margin cutoff=0.5,0.7"
        )
    with socket.socket() as probe:
        # As the server will do: a port that was left a moment ago is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ValueError(
                f"port {port} is not free: take another one, make ui PORT={port + 1}"
            ) from error


def pages(outputs: Path, port: int) -> dict[str, str]:
    """Return the addresses of the charts: of all sweeps, and of the cells of the newest.

    MLflow folds children away where runs are sorted by time, and draws no charts of them; sorted by
    name they are all there. Without the type it shows pages of chat models, and without the order
    it shows what it remembers of an earlier visit.
    """
    start = f"http://{HOST}:{port}/#/experiments"
    uri = store_uri(None, outputs)
    for journal in reversed(list(find_sweeps(outputs))):
        tracking = journal.about.get("tracking") or {}
        if tracking.get("uri") == uri:
            charts = f"{start}/{tracking['experiment_id']}/runs?{TYPE}&compareRunsMode=CHART"
            cells = quote(f"tags.sweep = '{journal.path.name}' and tags.job != ''")
            by_name = f"orderByKey={quote(NAME)}&orderByAsc=true&searchFilter={cells}"
            return {
                "all sweeps": f"{charts}&orderByKey=attributes.start_time&orderByAsc=false",
                "the newest": f"{charts}&{by_name}",
            }
    return {"all experiments": f"{start}?{TYPE}"}


def server_command(outputs: Path, port: int) -> list[str]:
    """Return the command of MLflow's server."""
    return [
        *(sys.executable, "-m", "mlflow", "server"),
        *("--backend-store-uri", store_uri(None, outputs)),
        *("--default-artifact-root", (outputs.resolve() / ARTIFACTS).as_uri()),
        "--no-serve-artifacts",  # nobody can upload; the pages still show what is there
        *("--host", HOST, "--port", str(port), "--workers", "1"),
        *("--uvicorn-opts", "--log-level=error"),
    ]


if __name__ == "__main__":
    sys.exit(main())
