"""Simulation harness for Gin Rummy bots: public names, loaded when first used."""

from importlib import import_module
from typing import Any

_PUBLIC = {
    "BatchBot": "ginsim.batch",
    "Bot": "ginsim.bots",
    "load": "ginsim.bots",
    "GinsimError": "ginsim.errors",
    "View": "ginsim.view",
    "below": "ginsim.rng",
    "deadwood": "ginsim.melds",
    "dataset": "ginsim.records",
    "iter_rounds": "ginsim.records",
    "kernel": "ginsim.jit",
    "match_table": "ginsim.records",
    "pair_counts": "ginsim.stats",
    "paired_difference": "ginsim.stats",
    "parse": "ginsim.cards",
    "play": "ginsim.match",
    "preset": "ginsim.rules",
    "rate": "ginsim.stats",
    "read_rounds": "ginsim.records",
    "text": "ginsim.cards",
}
__all__ = [*_PUBLIC]  # noqa: PLE0604 - the names are the keys above


def __getattr__(name: str) -> Any:
    """Import the module of a public name when it is first asked for."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ginsim' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
