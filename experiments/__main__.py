"""Run the experiments named on the command line, or all of them."""

import importlib
import pkgutil
import sys

import experiments

NAMES = [m.name for m in pkgutil.iter_modules(experiments.__path__) if m.name[0] != "_"]

if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            sys.exit(f"no experiment {name!r} (there are {', '.join(NAMES)})")
        print(f"== {name}", flush=True)
        importlib.import_module(f"experiments.{name}").main()
