"""Where blocks are played: threads or processes here, or a Dask or Ray cluster, all by joblib.

Joblib's own registrations are used. Whatever the backend, a block gives the same rows.
"""

import contextlib
import importlib
import logging
import os
import socket
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

from ginsim.errors import GinsimError
from ginsim.places import reason

THREADS, PROCESSES, DASK, RAY = "threads", "loky", "dask", "ray"
NAMES = (THREADS, PROCESSES, DASK, RAY)
#: Workers that may die in a row, without a block done in between, before a run gives up.
MOST_DEATHS = 3
#: Seconds to wait for a cluster that does not answer.
PATIENCE = 20

Result = TypeVar("Result")
log = logging.getLogger("ginsim")


@dataclass(frozen=True)
class Backend:
    """Where to play: one of NAMES, or "" for threads if all bots are compiled, else loky."""

    name: str = ""
    scheduler: str | None = None  #: address of a Dask or Ray cluster; None: start one here

    def __post_init__(self) -> None:
        """Check the words; raises GinsimError."""
        if self.name not in ("", *NAMES):
            raise GinsimError(f"--backend {self.name}: there are {', '.join(NAMES)}")
        if self.scheduler is not None and not self.remote():
            raise GinsimError("--scheduler goes with --backend dask or ray")

    def remote(self) -> bool:
        """Whether workers may be on other machines, in other folders, with other sources."""
        return self.name in (DASK, RAY)

    def fitting(self, compiled: bool) -> str:
        """Name of the joblib backend for bots that are *compiled*, or not."""
        if self.name == THREADS and not compiled:
            raise GinsimError(
                "--backend threads: plain Python bots play in processes: leave it out, or name loky"
            )
        name = self.name or (THREADS if compiled else PROCESSES)
        return "threading" if name == THREADS else name

    def waits(self) -> bool:
        """Whether results come wave by wave only: Ray gives no generator."""
        return self.name == RAY


def _needed(backend: str, module: str) -> Any:
    """Import *module*; raises GinsimError naming the extra that brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise GinsimError(
            f"--backend {backend}: {module} is not installed: pip install 'ginsim[{backend}]'"
        ) from None


@contextlib.contextmanager
def _dask(scheduler: str | None, jobs: int) -> Iterator[int]:
    """Connect to the Dask cluster at *scheduler*, or to one of *jobs* processes started here."""
    distributed = _needed(DASK, "distributed")
    quiet = logging.ERROR
    logging.getLogger("distributed").setLevel(quiet)
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            cluster: Any = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address="127.0.0.1:0",
                    host="127.0.0.1",
                    silence_logs=quiet,
                )
            )
        else:
            cluster = scheduler
        try:
            client = stack.enter_context(distributed.Client(cluster, timeout=PATIENCE))
            if not client.scheduler_info(n_workers=-1)["workers"]:
                client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, ValueError, TimeoutError) as error:
            raise GinsimError(f"--scheduler {scheduler}: no Dask there ({reason(error)})") from None
        yield jobs if scheduler is None else -1


def _answers(address: str) -> None:
    """Raise GinsimError unless something listens at *address*: Ray itself would try for minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdigit():
        return  # a word of Ray's, like "auto"
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise GinsimError(f"--scheduler {address}: no Ray there ({reason(error)})") from None


@contextlib.contextmanager
def _ray(scheduler: str | None, jobs: int) -> Iterator[int]:
    """Connect to the Ray cluster at *scheduler*, or to one of *jobs* workers started here."""
    ray = _needed(RAY, "ray")
    _needed(RAY, "ray.util.joblib").register_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a run reports to nobody
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if scheduler is None:
        options |= {"address": "local", "num_cpus": jobs, "include_dashboard": False}
    else:
        options |= {"address": scheduler}
        _answers(scheduler)
    try:
        ray.init(**options)
    except Exception as error:
        raise GinsimError(f"--scheduler {scheduler}: no Ray there ({reason(error)})") from None
    try:
        yield jobs if scheduler is None else -1
    finally:
        ray.shutdown()


@contextlib.contextmanager
def connected(backend: Backend, jobs: int) -> Iterator[int]:
    """Connect to the cluster of *backend*, if it has one; yields joblib's number of jobs."""
    if backend.name == DASK:
        with _dask(backend.scheduler, jobs) as n_jobs:
            yield n_jobs
    elif backend.name == RAY:
        with _ray(backend.scheduler, jobs) as n_jobs:
            yield n_jobs
    else:
        yield jobs


def _died(error: BaseException) -> bool:
    """Whether *error* says that a worker process died."""
    if isinstance(error, BrokenProcessPool):
        return True
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return bool(kinds & {"KilledWorker", "RayActorError", "WorkerCrashedError"})


def _numbered(work: Callable[[int], Result], block: int) -> tuple[int, Result]:
    return block, work(block)


def spread(
    work: Callable[[int], Result],
    blocks: Sequence[int],
    *,
    backend: Backend,
    compiled: bool,
    jobs: int,
    in_order: bool = False,
) -> Generator[Result, None, None]:
    """Yield ``work(block)`` of all *blocks*, as they are done or, with *in_order*, as listed.

    Blocks of a worker that died (killed, out of memory) are played again by the others. Raises
    GinsimError when one dies after another.
    """
    kind = backend.fitting(compiled)
    left, deaths = dict.fromkeys(blocks), 0
    with connected(backend, jobs) as n_jobs:
        while left:
            try:
                for block, result in _spread(work, list(left), kind, n_jobs, in_order, backend):
                    del left[block]
                    deaths = 0
                    yield result
            except Exception as error:
                if not _died(error):
                    raise
                deaths += 1
                if deaths == MOST_DEATHS:
                    raise GinsimError(
                        f"{deaths} worker processes died one after another (killed, or out of "
                        "memory: try fewer --jobs)"
                    ) from None
                log.warning(
                    "ginsim: a worker process died (killed, or out of memory); its blocks are "
                    "played again"
                )


def _spread(
    work: Callable[[int], Result],
    blocks: list[int],
    kind: str,
    n_jobs: int,
    in_order: bool,
    backend: Backend,
) -> Iterator[tuple[int, Result]]:
    # In order: a few blocks at a time, so that stopping early leaves little to throw away, and
    # ever more, so that long runs do not wait for each other's last block.
    waves = in_order or backend.waits()
    remote = {"batch_size": 1} if backend.remote() else {}
    with (
        warnings.catch_warnings(),
        joblib.parallel_config(backend=kind, n_jobs=n_jobs),
        joblib.Parallel(return_as="list" if waves else "generator_unordered", **remote) as parallel,
    ):
        # That a worker stopped, or that Ctrl-C left blocks undone, is said better elsewhere.
        warnings.filterwarnings("ignore", category=UserWarning, module="joblib")
        most = max(1, parallel._effective_n_jobs())
        at, wave = 0, (2 * most if waves else max(1, len(blocks)))
        while at < len(blocks):
            yield from parallel(
                joblib.delayed(_numbered)(work, block) for block in blocks[at : at + wave]
            )
            at, wave = at + wave, min(2 * wave, 32 * most)
