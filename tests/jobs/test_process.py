"""What a process of a sweep sets once: nothing that can be seen but the time."""

from __future__ import annotations

import subprocess
import sys

from pipeline.paths import conf_dir

# In a process of its own: it changes Hydra for all that follows.
CODE = f"""
import gc
from hydra import compose, initialize_config_dir
from hydra._internal.config_repository import ConfigRepository
from omegaconf import OmegaConf
from pipeline.jobs import process

reads = []
read = process._read
process._read = lambda repository, path: reads.append(path) or read(repository, path)

def composed(*overrides):
    with initialize_config_dir({str(conf_dir())!r}, version_base="1.3"):
        return compose("config", list(overrides), return_hydra_config=True)

def text(*overrides):
    return OmegaConf.to_yaml(composed(*overrides))

jobs = [("method=ours", "cutoff=0.7"), ("method=margin", "link=logistic"), ("method=ours",)]
before = [text(*job) for job in jobs]
assert not reads
process.set_up()
assert [text(*job) for job in jobs] == before
once = len(reads)
changed = composed(*jobs[0])
changed.dataset.name = changed.method.name = "spoilt"  # by whoever got it
assert [text(*job) for job in jobs] == before
assert len(reads) == once > 10, reads
assert len(set(reads)) == once, reads
assert gc.get_threshold() == process.SELDOM
"""
STORE = """
import copy
from hydra.core.config_store import ConfigStore
from pipeline.jobs.process import set_up

set_up()
store = ConfigStore.instance()
assert copy.deepcopy(store) is store
store.store(name="probe", node={"seed": 0})
store.load("probe.yaml").node.seed = 1
assert store.load("probe.yaml").node.seed == 0
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_jobs_are_composed_as_before_and_no_config_is_read_twice() -> None:
    run(CODE)


def test_one_store_of_schemas_serves_all_copies() -> None:
    """Hydra's copies are what makes --help slow; it must not hand out the store's own nodes."""
    run(STORE)


def test_importing_the_package_changes_nothing() -> None:
    show = "import gc; print(gc.get_threshold())"
    assert run(f"import pipeline, pipeline.run; {show}") == run(show)
