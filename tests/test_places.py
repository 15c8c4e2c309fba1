"""Logs behind a URL: a real S3-compatible server on loopback, and what is written whole."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ginsim import places, records
from ginsim.errors import GinsimError
from ginsim.locks import LOCK, held
from ginsim.records import iter_rounds, read_rounds

WORDS = ("easy", "simple", "--pairs", "60", "--seed", "2", "--block", "10", "--jobs", "2")


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an empty bucket on a moto server, in a process of its own."""
    pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    log = (tmp_path_factory.mktemp("s3") / "log").open("w+")
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    try:
        address = _address(log, server)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", address)
            patch.setenv("AWS_ACCESS_KEY_ID", "of-a-test")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "of-a-test")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
            request = urllib.request.Request(f"{address}/runs", method="PUT")
            urllib.request.urlopen(request, timeout=30).close()
            yield "s3://runs"
    finally:
        server.terminate()
        server.wait(timeout=30)
        log.close()


def _address(log: Any, server: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        log.seek(0)
        for line in log.read().splitlines():
            if "Running on http" in line:
                return line.rpartition("on ")[2].strip().rstrip("/")
        assert server.poll() is None, "the S3 server did not start"
        time.sleep(0.05)
    raise AssertionError("the S3 server does not answer")


def answer(cli_here: Any, *words: str) -> Any:
    found = cli_here(*words, "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_a_run_in_an_object_store(cli_here: Any, s3: str, tmp_path: Path):
    """Played, read, drawn, replayed, torn, resumed, compacted: as in a folder."""
    local = answer(cli_here, "tournament", *WORDS, "--out", str(tmp_path / "run"))
    url = f"{s3}/a/run"
    there = answer(cli_here, "tournament", *WORDS, "--out", url)
    assert there["summary"] == local["summary"]
    assert there["run"] == url
    run = places.place(url)
    assert places.names(run) == ["manifest.json", "plots", "rounds", "summary.json"]
    pictures = [places.read_bytes(run / "plots" / n, 10**7) for n in places.names(run / "plots")]
    assert pictures == [p.read_bytes() for p in sorted((tmp_path / "run" / "plots").iterdir())]

    rounds = read_rounds(url)
    assert len(rounds) == there["manifest"]["rows"] == sum(map(len, iter_rounds(url)))
    assert sorted(rounds["points"]) == sorted(read_rounds(tmp_path / "run")["points"])
    words = ("--pair", "33", "--leg", "1", "--round", "1")
    assert answer(cli_here, "replay", url, *words) == answer(
        cli_here, "replay", str(tmp_path / "run"), *words
    )
    assert "holds a run already" in cli_here("tournament", *WORDS, "--out", url).stderr

    whole = places.read_bytes(records.part_path(run, 1), 10**7)
    places.write_bytes(records.part_path(run, 1), whole[:-20])
    places.remove(records.part_path(run, 4))
    assert "part-000001.parquet: is torn" in cli_here("plot", url, "--recount").stderr
    again = answer(cli_here, "tournament", "--resume", url)
    assert again["summary"] == local["summary"]
    assert (again["found"]["torn"], again["found"]["missing"]) == (1, 1)
    merged = answer(cli_here, "compact", url)
    assert (merged["files_before"], merged["files"]) == (6, 1)
    assert merged["digest"] == local["summary"]["digest"]
    assert len(answer(cli_here, "plot", url, "--recount")) == 10
    assert records.read_json(run / "summary.json") == local["summary"]
    over = answer(cli_here, "tournament", *WORDS, "--overwrite", "--no-plots", "--out", url)
    assert over["summary"] == local["summary"]
    assert places.names(run) == ["manifest.json", "rounds", "summary.json"]
    assert len(places.names(run / "rounds")) == 6


def test_processes_write_their_own_files_to_an_object_store(cli: Any, s3: str):
    url = f"{s3}/by-processes"
    words = ("--backend", "loky", "--no-plots", "--json", "--out", url)
    found = cli("tournament", *WORDS, *words)
    assert found.returncode == 0, found.stderr
    assert len(read_rounds(url)) == json.loads(found.stdout)["manifest"]["rows"]


def test_an_upload_that_fails_leaves_what_was_there(s3: str):
    path = places.place(f"{s3}/kept.json")
    places.write_bytes(path, b"old")

    def fail(temporary: Path) -> None:
        temporary.write_bytes(b"half of")
        raise OSError(28, "No space left on device")

    with pytest.raises(GinsimError, match=r"kept\.json: cannot be written \(No space left"):
        places.write_whole(path, fail)
    assert places.read_bytes(path, 10) == b"old"


def test_one_writer_in_an_object_store(s3: str):
    """No lock there: a mark, which --resume and --overwrite take over from a run that died."""
    run = places.place(f"{s3}/marked")
    with held(run, take_over=False) as before:
        assert before is None
        with (
            pytest.raises(GinsimError, match=r"another run is writing here .*takes over"),
            held(run, take_over=False),
        ):
            pass
    assert places.names(run) == []
    note = {"host": "elsewhere", "pid": 1, "since": "yesterday"}
    places.write_bytes(run / LOCK, json.dumps(note).encode())
    with held(run, take_over=True) as before:
        assert before == "process 1 on 'elsewhere' since 'yesterday'"
    assert places.names(run) == []


def test_errors_of_a_store_are_one_line(cli_here: Any, s3: str):
    for url, says in (
        (f"{s3}/nothing", "nothing: holds no summary to draw"),
        ("s3://no-such-bucket/run", "no-such-bucket/run: holds no summary to draw"),
        ("s3://", "names no folder"),
        ("zzz://a/b", "zzz://a/b: cannot be reached (Protocol not known: zzz)"),
    ):
        found = cli_here("plot", url)
        assert found.returncode == 2
        assert len(found.stderr.splitlines()) == 1
        assert says in found.stderr
    found = cli_here("tournament", *WORDS, "--out", "s3://no-such-bucket/run")
    assert found.returncode == 2
    assert "no-such-bucket" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_a_store_that_is_away_is_one_line(cli_here: Any, s3: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("ginsim.places.OPTIONS", {"skip_instance_cache": True})
    found = cli_here("plot", "s3://runs/away")
    assert found.returncode == 2
    assert "cannot be read (Could not connect to the endpoint" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_a_file_url_is_a_folder_of_this_machine(cli_here: Any, tmp_path: Path):
    url = f"file://{tmp_path}/run"
    found = answer(cli_here, "tournament", *WORDS, "--no-plots", "--out", url)
    assert places.place(url) == tmp_path / "run"
    assert len(read_rounds(tmp_path / "run")) == found["manifest"]["rows"]


def test_any_fsspec_url_will_do(cli_here: Any):
    """A store that moves files into place: here, of fsspec's own in memory."""
    found = answer(cli_here, "tournament", *WORDS, "--no-plots", "--out", "memory://runs/a")
    assert len(read_rounds("memory://runs/a")) == found["manifest"]["rows"]
    assert len(answer(cli_here, "plot", "memory://runs/a")) == 10


def test_where_uploads_do_not_appear_whole_a_file_is_moved_into_place(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(places, "_ATOMIC", ())
    path = places.place("memory://moved/run/manifest.json")
    places.write_bytes(path, b"{}")
    assert places.names(path.parent) == ["manifest.json"]
    assert places.read_bytes(path, 10) == b"{}"


@pytest.mark.parametrize("where", ["a\0b", "", "s3://a/\0"])
def test_names_that_are_none_are_refused(where: str):
    with pytest.raises(GinsimError, match="is no name of a folder"):
        places.place(where)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    def missing(kind: str) -> None:
        raise ImportError(kind)

    monkeypatch.setattr(places.fsspec, "get_filesystem_class", missing)
    with pytest.raises(GinsimError, match=r"s3:// needs ginsim\[s3\]: pip install"):
        places.place("s3://runs/a")
