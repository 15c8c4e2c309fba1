"""Environments for learners, by the engine's rules: ``VectorGin`` and ``aec``.

They need the extra ``env``: Gymnasium and PettingZoo.
"""

from importlib import import_module
from typing import Any

from ginsim.errors import GinsimError

_PUBLIC = {"VectorGin": "ginsim.env.vector", "GinAEC": "ginsim.env.zoo", "aec": "ginsim.env.zoo"}
__all__ = [*_PUBLIC]  # noqa: PLE0604 - the names are the keys above


def __getattr__(name: str) -> Any:
    """Import the module of a public name when it is first asked for."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ginsim.env' has no attribute {name!r}")
    try:
        return getattr(import_module(_PUBLIC[name]), name)
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        raise GinsimError(
            f"ginsim.env needs {error.name}: pip install 'ginsim[env]' (here: '.[env]')"
        ) from None
