from __future__ import annotations

from pipeline.paper.collection import fill_commands
from pipeline.sweeps.plan import plan

START = "python -m pipeline.run -m "


def gap(dataset: str, cutoff: str, method: str, link: str = "linear") -> dict[str, str]:
    labels = {"dataset": dataset, "link": link, "cutoff": cutoff, "method": method}
    return {"protocol": "inferred", **labels}


def test_one_gap_has_its_own_command() -> None:
    assert fill_commands([gap("blood", "0.7", "ours")]) == [
        "python -m pipeline.run -m experiment=paper protocol=inferred dataset=blood link=linear "
        "cutoff=0.7 method=ours"
    ]


def test_no_gap_no_command() -> None:
    assert fill_commands([]) == []


def test_datasets_that_lack_the_same_share_a_command() -> None:
    gaps = [
        gap(dataset, cutoff, "ours") for dataset in ("blood", "bank") for cutoff in ("0.7", "0.5")
    ]
    commands = fill_commands([*gaps, gap("churn", "0.5", "noise"), gap("bank", "0.5", "ours", "x")])
    assert [command.split("dataset=")[1] for command in commands] == [
        "blood,bank link=linear cutoff=0.5,0.7 method=ours",
        "churn link=linear cutoff=0.5 method=noise",
        "bank link=x cutoff=0.5 method=ours",
    ]


def test_a_command_runs_exactly_the_gaps() -> None:
    """As Hydra reads it: the lists on the command line replace those of the experiment."""
    (command,) = fill_commands([gap("blood", "0.7", "ours"), gap("blood", "0.95", "ours")])
    jobs = plan(command.removeprefix(START).split(), [])
    found = {tuple(sorted(job.overrides)) for job in jobs}
    assert {
        tuple(line for line in overrides if line.partition("=")[0] in ("cutoff", "method"))
        for overrides in found
    } == {("cutoff=0.7", "method=ours"), ("cutoff=0.95", "method=ours")}
    assert all("dataset=blood" in overrides and "link=linear" in overrides for overrides in found)
