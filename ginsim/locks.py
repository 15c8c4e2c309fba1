"""One writer a run folder: a lock that dies with its holder, and a note of who that is.

On this machine the system's file lock counts: it is gone when its process is, even after
kill -9. Behind a URL there is no such lock, so there the note itself is the mark, and
``--resume`` or ``--overwrite`` takes over one whose run has died.
"""

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from upath import UPath

from ginsim import places
from ginsim.errors import GinsimError
from ginsim.places import Place

try:
    import fcntl
except ImportError:  # no such lock on this system: the note is the mark there, too
    fcntl = None  # type: ignore[assignment]

#: Note of who writes here; gone when the run has ended in any other way than being killed.
LOCK = "lock.json"
_MOST = 10_000


def _note() -> dict[str, Any]:
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _told(content: bytes) -> dict[str, Any]:
    """Return the note in *content*, empty if there is none to be read."""
    try:
        note = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}


def _who(note: dict[str, Any]) -> str:
    if not note:
        return "its holder is not told"
    return f"process {note.get('pid')!r} on {note.get('host')!r} since {note.get('since')!r}"


def _refused(run: Place, note: dict[str, Any], how: str) -> GinsimError:
    return GinsimError(f"{run}: another run is writing here ({_who(note)}); {how}")


@contextlib.contextmanager
def held(run: Place, *, take_over: bool) -> Iterator[str | None]:
    """Hold *run* for this process; raises GinsimError if another has it.

    Makes the folder. Yields who held it before and died, None if nobody. *take_over*: where
    only a note tells, a dead run's is replaced.
    """
    try:
        places.make_folder(run)
    except GinsimError as error:
        raise GinsimError(f"{error}; name another --out") from None
    if isinstance(run, Path) and fcntl is not None:
        with _locked(run) as before:
            yield before
    else:
        with _marked(run, take_over) as before:
            yield before


@contextlib.contextmanager
def _locked(run: Path) -> Iterator[str | None]:
    path = run / LOCK
    with places.reaching(path, "cannot be written"):
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                note = _told(os.read(handle, _MOST))
                os.close(handle)
                raise _refused(run, note, "wait for it, or name another --out") from None
            except OSError:
                os.close(handle)
                raise
            # The one who held it may have removed the file since it was opened here.
            with contextlib.suppress(FileNotFoundError):
                if os.stat(path).st_ino == os.fstat(handle).st_ino:
                    break
            os.close(handle)
    try:
        before = os.read(handle, _MOST)
        os.ftruncate(handle, 0)
        with contextlib.suppress(OSError):  # a full disk: the lock holds without its note
            os.pwrite(handle, json.dumps(_note()).encode(), 0)
        yield _who(_told(before)) if before else None
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(handle)


@contextlib.contextmanager
def _marked(run: Place, take_over: bool) -> Iterator[str | None]:
    path, note, before = run / LOCK, _note(), None
    if not _put_new(path, json.dumps(note).encode()):
        before = _told(places.read_bytes(path, _MOST))
        if _lives(before) or not take_over:
            raise _refused(
                run,
                before,
                "wait for it, or name another --out"
                if _lives(before)
                else "if that one is dead, --resume or --overwrite takes over",
            )
        places.write_bytes(path, json.dumps(note).encode())
    try:
        yield _who(before) if before is not None else None
    finally:
        # Not the mark of one who took over meanwhile, and no error on top of another.
        with contextlib.suppress(GinsimError):
            if _told(places.read_bytes(path, _MOST)) == note:
                places.remove(path)


def _put_new(path: Place, content: bytes) -> bool:
    """Write *content* unless the file exists; where the store can, as one step."""
    if places.is_file(path):
        return False
    if isinstance(path, UPath):
        try:
            path.fs.pipe_file(path.path, content, mode="create")
        except FileExistsError:
            return False
        except Exception:  # a store without exclusive writes, or out of reach: that will tell
            places.write_bytes(path, content)
    else:
        places.write_bytes(path, content)
    return True


def _lives(note: dict[str, Any]) -> bool:
    """Whether the process of *note* runs on this machine."""
    pid = note.get("pid")
    if note.get("host") != socket.gethostname() or type(pid) is not int or sys.platform == "win32":
        return False
    if pid == os.getpid() or not 0 < pid < 1 << 31:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
