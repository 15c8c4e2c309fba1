"""Run the experiments named on the command line, or all of them; ``claims`` names all claims."""

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from experiments.listing import is_claim, modules, write_readme

CLAIMS = "claims"
LEAST_PAIRS = 20


def refuse(reason: str) -> NoReturn:
    """End as after wrong use: one line, exit code 2."""
    print(f"python -m experiments: {reason}", file=sys.stderr)
    raise SystemExit(2)


def main() -> None:
    """Parse the command line, run, and write the table in README.md anew."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"experiments, or {CLAIMS}; default: all")
    parser.add_argument("--pairs", type=int, help="fewer pairs than usual (claims only)")
    parser.add_argument("--out", type=Path, help="folder for the results (claims only)")
    asked = parser.parse_args()
    known = modules()
    names = [name.replace("-", "_") for name in asked.names] or list(known)
    if CLAIMS in names:
        at = names.index(CLAIMS)
        names[at : at + 1] = [name for name, module in known.items() if is_claim(module)]
    options = {"pairs": asked.pairs, "results": asked.out}
    given = {name: value for name, value in options.items() if value is not None}
    for name in names:
        if name not in known:
            refuse(f"no experiment {name!r} (there are {CLAIMS}, {', '.join(known)})")
        if given and not is_claim(known[name]):
            refuse(f"{name} takes no --pairs and no --out: only claims do")
    if asked.pairs is not None and asked.pairs < LEAST_PAIRS:
        refuse(f"--pairs {asked.pairs}: must be {LEAST_PAIRS} or more")
    if asked.pairs is not None and asked.out is None:
        refuse("--pairs would overwrite the results in git; add --out FOLDER")
    for name in names:
        print(f"== {name}", flush=True)
        known[name].main(**given)
    if not given:
        write_readme()


if __name__ == "__main__":
    main()
