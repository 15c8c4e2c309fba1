"""The experiments by name, and the table of them in README.md, written from their summaries."""

import importlib
import json
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

import experiments
from experiments.claims import RESULTS

README = Path(__file__).parent / "README.md"
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
            claim, found = module.CLAIM.sentence, summary
            cells = [f"[{claim}]({name}.py)", f"[{found['verdict']}]({link})"]
            cells += [f"{found['where']}. Rules: {found['rules']}", f"{found['seconds']}"]
            lines.append(f"| {' | '.join(cells)} |")
        else:
            question = (module.__doc__ or "").partition("\n")[0]
            headline = module.headline(summary) if hasattr(module, "headline") else "table"
            seconds = getattr(module, "SECONDS", "")
            others.append(f"| [{question}]({name}.py) | [{headline}]({link}) | {seconds} |")
    return "\n".join([*lines, "", *others])


def summary_of(name: str) -> Any:
    """Content of the summary of the experiment *name*."""
    return json.loads((RESULTS / folder_name(name) / "summary.json").read_text())


def write_readme() -> None:
    """Put the tables of today's summaries into README.md."""
    before, _, rest = README.read_text().partition(START)
    README.write_text(f"{before}{START}\n{tables()}\n{END}{rest.partition(END)[2]}")
