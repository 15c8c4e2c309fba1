"""One way to compile a kernel, and a kernel cache that cannot go stale.

Numba's disk cache notices an edit only in the file that holds the kernel, not in the files
it calls or takes constants from. So the cache lives in a folder named by a hash of all the
package's sources, the compiler's version and the flags that change the code: any edit gives
a new, empty folder. A folder chosen by the user (``NUMBA_CACHE_DIR``) is kept as the parent.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
import platformdirs
from numba.core import config

Function = TypeVar("Function", bound=Callable[..., Any])

#: True when kernels run as plain Python (``NUMBA_DISABLE_JIT=1``).
INTERPRETED = bool(config.DISABLE_JIT)


def source_hash() -> str:
    """Hash (16 hex digits) of every source file of the package: the engine's version.

    Two runs with the same hash, rules, bots and seed have the same rows.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".toml"):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Folder of this version's compiled kernels."""
    build = f"{numba.__version__} {np.__version__} {sys.version} {config.BOUNDSCHECK} {config.OPT}"
    name = f"{source_hash()}-{hashlib.sha256(build.encode()).hexdigest()[:8]}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    parent = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("ginsim")) / "kernels"
    return parent / name


CACHE_FOLDER = _cache_folder()
config.CACHE_DIR = str(CACHE_FOLDER)


def kernel(function: Function) -> Function:
    """Compile *function* on first call, cached on disk, free of the interpreter lock."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def kernel_of(signature: Any) -> Callable[[Function], Function]:
    """Compile at definition for one explicit *signature* (kernels that are passed policies)."""

    def compile_now(function: Function) -> Function:
        return cast(Function, numba.njit(signature, cache=True, nogil=True)(function))

    return compile_now


def plain(function: Function) -> Function:
    """Return the Python function behind a kernel; itself where nothing is compiled."""
    return cast(Function, getattr(function, "py_func", function))
