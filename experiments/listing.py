"""The experiments by name, and the table of them in README.md, written from their summaries."""

import importlib
import json
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

import experiments
from experiments.claims import RESULTS
from experiments.trial import Claim

README = Path(__file__).parent / "README.md"
NOT_RUN = "not run yet"
START, END = "<!-- written by python -m experiments -->", "<!-- end -->"


def modules() -> dict[str, ModuleType]:
    """Experiments by name: the claims in the order of their seeds, then the others."""
    names = [m.name for m in pkgutil.iter_modules(experiments.__path__) if m.name[0] != "_"]
    found = [importlib.import_module(f"experiments.{name}") for name in names]
    runnable = [module for module in found if hasattr(module, "main")]
    runnable.sort(key=lambda module: module.CLAIM.seed if is_claim(module) else 1 << 40)
    return {module.__name__.rpartition(".")[2]: module for module in runnable}


def is_claim(module: ModuleType) -> bool:
    """Whether *module* tries a claim of the guides."""
    return hasattr(module, "CLAIM")


def folder_name(name: str) -> str:
    """Name of the folder under results/ of the experiment *name*."""
    return name.replace("_", "-")


def tables() -> str:
    """Both tables of README.md as Markdown, from the summaries in results/."""
    lines = [
        "| claim | verdict | for which opponents and rules | seconds |",
        "|---|---|---|---|",
    ]
    others = ["| question | found | seconds |", "|---|---|---|"]
    for name, module in modules().items():
        link = f"../results/{folder_name(name)}/table.md"
        summary = summary_of(name)
        if is_claim(module):
            lines.append(f"| {' | '.join(claim_cells(name, module.CLAIM, summary, link))} |")
        else:
            question = (module.__doc__ or "").partition("\n")[0]
            seconds = getattr(module, "SECONDS", "")
            found = f"[{headline_of(module, summary)}]({link})" if summary else NOT_RUN
            others.append(f"| [{question}]({name}.py) | {found} | {seconds} |")
    return "\n".join([*lines, "", *others])


def claim_cells(name: str, claim: Claim, summary: Any, link: str) -> list[str]:
    """Claim, verdict, for whom, and seconds, as cells of a row."""
    sentence = f"[{claim.sentence}]({name}.py)"
    if summary is None:
        return [sentence, NOT_RUN, "", f"{claim.seconds}"]
    places = f"{summary['where']}. Rules: {summary['rules']}"
    return [sentence, f"[{summary['verdict']}]({link})", places, f"{claim.seconds}"]


def headline_of(module: ModuleType, summary: Any) -> str:
    """What an experiment found, in its own words if it has any."""
    return str(module.headline(summary)) if hasattr(module, "headline") else "table"


def summary_of(name: str) -> Any:
    """Content of the summary of the experiment *name*, None if it was not run."""
    file = RESULTS / folder_name(name) / "summary.json"
    return json.loads(file.read_text()) if file.is_file() else None


def write_readme() -> None:
    """Put the tables of today's summaries into README.md."""
    before, _, rest = README.read_text().partition(START)
    README.write_text(f"{before}{START}\n{tables()}\n{END}{rest.partition(END)[2]}")
