"""One way to compile a kernel, and a kernel cache that cannot go stale.

Numba's disk cache notices an edit only in the file that holds the kernel, not in the files
it calls or takes constants from. So the cache lives in a folder named by a hash of all the
sources that kernels come from, the compiler's version and the flags that change the code: an
edit of any of them gives a new, empty folder. A folder chosen by the user
(``NUMBA_CACHE_DIR``) is kept as the parent.
"""

import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import platformdirs
from numba.core import config as _config
from numba.core.errors import NumbaExperimentalFeatureWarning

config: Any = _config
Function = TypeVar("Function", bound=Callable[..., Any])

#: Conversion to the one type of number in kernels; for the type checker it is an int.
int64 = cast(Callable[[Any], int], np.int64)

#: True when kernels run as plain Python (``NUMBA_DISABLE_JIT=1``).
INTERPRETED = bool(config.DISABLE_JIT)


def source_hash(modules: Collection[str], suffixes: Collection[str] = (".py",)) -> str:
    """Hash (16 hex digits) of the sources of *modules*: files, or folders of them."""
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        name = path.relative_to(package)
        if path.suffix in suffixes and Path(name.parts[0]).stem in modules:
            digest.update(name.as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


#: What decides rows: the modules up to match (and the table of levels).
ENGINE = (
    *("errors", "jit", "cards", "rng", "rules", "melds", "view", "scoring", "rows", "engine"),
    *("bots", "guard", "lockstep", "batch", "match"),
)
#: Modules with kernels, and all that those import: what compiled code is made of.
COMPILED = (*ENGINE, "tally")


def engine_version() -> str:
    """Hash (16 hex digits) of the sources that decide rows."""
    return source_hash((*ENGINE, "levels"), (".py", ".toml"))


def _cache_folder() -> Path:
    """Folder of this version's compiled kernels."""
    build = f"{numba.__version__} {np.__version__} {sys.version} {config.BOUNDSCHECK} {config.OPT}"
    name = f"{source_hash(COMPILED)}-{hashlib.sha256(build.encode()).hexdigest()[:8]}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    parent = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("ginsim")) / "kernels"
    return parent / name


CACHE_FOLDER = _cache_folder()
config.CACHE_DIR = str(CACHE_FOLDER)


def kernel(function: Function) -> Function:
    """Compile *function* on first call, free of the interpreter lock.

    Kernels of the package are cached on disk. Those of a user's file are not: the cache could
    not see an edit of it, or of what it imports.
    """
    ours = function.__module__.partition(".")[0] == "ginsim"
    return cast(Function, numba.njit(cache=ours, nogil=True)(function))


def kernel_of(signature: Any) -> Callable[[Function], Function]:
    """Compile at definition for one explicit *signature* (kernels that are passed policies)."""

    def compile_now(function: Function) -> Function:
        with warnings.catch_warnings():
            # First-class functions are "experimental"; they are what lets bots share one engine.
            warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
            return cast(Function, numba.njit(signature, cache=True, nogil=True)(function))

    return compile_now


def plain(function: Function) -> Function:
    """Return the Python function behind a kernel; itself where nothing is compiled."""
    return cast(Function, getattr(function, "py_func", function))
