"""Folders and files of a run: on this machine, or behind a URL that fsspec understands.

A local place is a ``pathlib.Path``, any other a ``UPath``, which has the same methods. Files
are written whole or not at all: locally under a temporary name and then renamed; an object
store's upload appears only when it is complete.
"""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import fsspec
from fsspec.implementations.local import LocalFileSystem
from upath import UPath

from ginsim.errors import GinsimError

Place: TypeAlias = Path | UPath

#: What workers write must be seen at once: no listing is kept.
OPTIONS: dict[str, Any] = {"use_listings_cache": False}
_URL = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://")
_HERE = ("file", "local")
#: Stores whose uploads appear whole; elsewhere a file is uploaded under another name and moved.
_ATOMIC = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory")
#: Extra that brings the package of a kind of URL, where ginsim has one.
_EXTRAS = {"s3": "ginsim[s3]", "s3a": "ginsim[s3]", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs"}


def place(where: str | Place) -> Place:
    """Return the place that *where* names; raises GinsimError if there is no such kind.

    >>> place("results/first").parts
    ('results', 'first')
    """
    if not isinstance(where, str):
        return where
    if "\0" in where or not where:
        raise GinsimError(f"{where!r}: is no name of a folder or file")
    url = _URL.match(where)
    if url is None:
        return Path(where)
    kind = url[1].lower()
    if kind in _HERE:
        return Path(str(LocalFileSystem._strip_protocol(where)))
    if not where[url.end() :].strip("/"):
        raise GinsimError(f"{where}: names no folder; write {kind}://bucket/folder")
    try:
        fsspec.get_filesystem_class(kind)
        found: UPath = UPath(where.rstrip("/"), **OPTIONS)
        return found
    except ImportError:
        package = _EXTRAS.get(kind, "its fsspec package")
        raise GinsimError(f"{where}: {kind}:// needs {package}: pip install '{package}'") from None
    except Exception as error:
        raise GinsimError(f"{where}: cannot be reached ({reason(error)})") from None


def is_local(path: Place) -> bool:
    """Whether *path* lies in this machine's file system."""
    return isinstance(path, Path)


def reason(error: BaseException) -> str:
    """Return what went wrong, in a few words on one line."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(words).split())[:200]


@contextlib.contextmanager
def reaching(path: Place, what: str) -> Iterator[None]:
    """Turn an error of the file system into a GinsimError: "*path*: *what* (why)".

    Behind a URL any library may raise anything.
    """
    try:
        yield
    except GinsimError:
        raise
    except OSError as error:
        raise GinsimError(f"{path}: {what} ({reason(error)})") from None
    except Exception as error:
        if is_local(path):
            raise
        raise GinsimError(f"{path}: {what} ({reason(error)})") from None


def names(folder: Place) -> list[str]:
    """Names in *folder*, sorted; none if there is no such folder."""
    with reaching(folder, "cannot be read"):
        try:
            return sorted(path.name for path in folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []


def is_file(path: Place) -> bool:
    """Whether *path* is a file; raises GinsimError where that cannot be told."""
    with reaching(path, "cannot be read"):
        if isinstance(path, Path):
            return path.is_file()
        try:  # its own is_file takes any error for a no
            return bool(path.fs.info(path.path)["type"] == "file")
        except FileNotFoundError:
            return False


def size(path: Place) -> int:
    """Bytes of the file *path*."""
    with reaching(path, "cannot be read"):
        return int(path.stat().st_size)


def make_folder(folder: Place) -> None:
    """Make *folder* and those above it; behind a URL, none is needed to write a file."""
    if is_local(folder):
        with reaching(folder, "cannot be made"):
            folder.mkdir(parents=True, exist_ok=True)


def read_bytes(path: Place, most: int) -> bytes:
    """Content of the file *path*; raises GinsimError if it is longer than *most* bytes."""
    with reaching(path, "cannot be read"), path.open("rb") as file:
        content = bytes(file.read(most + 1))
    if len(content) > most:
        raise GinsimError(f"{path}: is larger than {most:,} bytes, which no such file is")
    return content


def remove(path: Place) -> None:
    """Remove a file, if it is there."""
    with reaching(path, "cannot be removed"):
        path.unlink(missing_ok=True)


def remove_folder(folder: Place) -> None:
    """Remove *folder* with all that is in it, if it is there."""
    with reaching(folder, "cannot be removed"):
        if isinstance(folder, Path):
            if folder.is_symlink():
                folder.unlink()
            elif folder.exists():
                shutil.rmtree(folder)
        elif folder.exists():
            folder.fs.rm(folder.path, recursive=True)


def write_whole(path: Place, write: Callable[[Path], object]) -> None:
    """Call *write* with a temporary name on this machine, then put the file at *path*."""
    here = path.parent if isinstance(path, Path) else None
    with reaching(path, "cannot be written"):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=here)
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            if isinstance(path, Path):
                temporary.chmod(0o644)
                temporary.replace(path)
            else:
                _upload(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def write_bytes(path: Place, content: bytes) -> None:
    """Write *content*, whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_bytes(content))


def _upload(file: Path, path: UPath) -> None:
    if path.protocol in _ATOMIC:
        path.fs.put_file(str(file), path.path)
        return
    aside = path.parent / file.name
    path.fs.makedirs(path.parent.path, exist_ok=True)
    path.fs.put_file(str(file), aside.path)
    path.fs.mv(aside.path, path.path)


def half_written(name: str) -> bool:
    """Whether *name* is one that write_whole leaves behind when it is killed.

    >>> half_written(".part-000001.parquet.k3v0s9qz"), half_written("part-000001.parquet")
    (True, False)
    """
    return re.fullmatch(r"\.[\w.-]+\.(json|parquet|png|svg)\.\w{8}", name) is not None
