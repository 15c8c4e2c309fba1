"""Tournaments: the same rows however they are played, and nothing lost when stopped."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ginsim import records
from ginsim.bots import load
from ginsim.errors import GinsimError
from ginsim.match import play
from ginsim.rules import preset
from ginsim.sprt import Sprt
from ginsim.summary import summary_of
from ginsim.tournament import (
    MANIFEST,
    Plan,
    Totals,
    check_same,
    manifest_of,
    plan_of,
    played,
    prepare_folder,
    recount_block,
    run_sequential,
    run_tournament,
    sequential_plan,
)

PLAN = Plan(("easy", "simple", "random"), preset("classic"), seed=3, pairs=40)


def totals_of(plan: Plan, jobs: int = 1) -> Totals:
    totals = Totals.empty(plan)
    for block in played(plan, jobs, None):
        totals.add(block)
    return totals


def test_the_digest_does_not_depend_on_jobs():
    digests = {str(totals_of(PLAN, jobs).digest()) for jobs in (1, 2, 4)}
    assert len(digests) == 1


def test_the_digest_does_not_depend_on_the_block_size():
    digests = {str(totals_of(replace(PLAN, block_pairs=b)).digest()) for b in (1, 7, 40, 1000)}
    assert len(digests) == 1


def test_the_summary_does_not_depend_on_jobs_or_block_size():
    whole = summary_of(PLAN, totals_of(replace(PLAN, block_pairs=40)))
    split = summary_of(PLAN, totals_of(replace(PLAN, block_pairs=3), jobs=3))
    assert whole == split


def test_another_seed_gives_another_digest():
    assert totals_of(PLAN).digest() != totals_of(replace(PLAN, seed=4)).digest()


def test_adding_a_bot_changes_no_other_matchup():
    more = replace(PLAN, specs=("normal", *PLAN.specs))
    before = dict(zip(PLAN.matchup_names(), totals_of(PLAN).digests, strict=True))
    after = dict(zip(more.matchup_names(), totals_of(more).digests, strict=True))
    assert before.items() <= after.items()


def test_more_pairs_leave_the_first_pairs_as_they_were():
    bots = (load("easy"), load("random"))
    few = play(bots, preset("classic"), seed=9, pairs=5)
    many = play(bots, preset("classic"), seed=9, pairs=20)
    assert np.array_equal(few, many[: len(few)])


def test_pairs_can_be_played_from_any_first_pair():
    bots = (load("easy"), load("simple"))
    many = play(bots, preset("classic"), seed=9, pairs=20)
    assert np.array_equal(
        play(bots, preset("classic"), 9, 4, first=13), many[np.isin(many["pair"], range(13, 17))]
    )


def test_both_legs_see_the_same_deals_with_seats_swapped():
    """The dealt deadwoods and the first starter of a pair are the same in both legs."""
    rows = play((load("easy"), load("gin-only")), preset("classic"), seed=2, pairs=30)
    first = rows[rows["round"] == 0]
    legs = [first[first["leg"] == leg] for leg in (0, 1)]
    for name in ("pair", "starter", "dealt_deadwood_0", "dealt_deadwood_1"):
        assert np.array_equal(legs[0][name], legs[1][name])


def test_deals_are_the_same_for_every_matchup():
    first = [
        play((load(a), load(b)), preset("classic"), seed=2, pairs=30)
        for a, b in (("easy", "hard"), ("random", "simple"))
    ]
    dealt = [
        {
            (int(r["pair"]), int(r["round"])): sorted(
                [int(r["dealt_deadwood_0"]), int(r["dealt_deadwood_1"])]
            )
            for r in rows
        }
        for rows in first
    ]
    shared = dealt[0].keys() & dealt[1].keys()
    assert len(shared) > 30
    assert all(dealt[0][at] == dealt[1][at] for at in shared)


@pytest.mark.parametrize("name", ["random", "simple", "easy", "hard"])
def test_two_copies_of_one_bot_sum_to_zero_in_every_pair(name: str):
    plan = Plan((name, name), preset("classic"), seed=8, pairs=50)
    totals = totals_of(plan)
    first, second = totals.by_matchup[0]
    assert plan.matchup_names() == [f"{name} v {name}#2"]
    assert first.product("net_points", "net_points") == 0
    # Half matches are 2 of 4 in every pair: their squares sum to 4 a pair.
    assert first.product("half_matches", "half_matches") == 4 * plan.pairs
    assert np.array_equal(first.sums, second.sums)


def test_a_second_process_with_a_warm_cache_has_the_same_digest(cli: Any, tmp_path: Path):
    words = ("tournament", "easy", "simple", "random", "--pairs", "40", "--seed", "3", "--json")
    answer = cli(*words, "--no-plots", "--out", tmp_path / "run")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["summary"]["digest"] == str(totals_of(PLAN).digest())


def test_a_run_holds_what_the_design_names(finished_run: dict[str, Any]):
    run, plan, manifest = (finished_run[key] for key in ("path", "plan", "manifest"))
    assert len(list((run / "rounds").glob("part-*.parquet"))) == plan.blocks()
    for key in ("command", "rules", "bots", "seed", "versions", "commit", "rows", "digest"):
        assert key in manifest
    assert manifest["status"] == "done"
    assert json.loads((run / MANIFEST).read_text()) == manifest
    assert manifest["bots"][0]["parameters"] == load("easy").parameters


def test_the_manifest_says_the_settings_that_were_in_force(finished_run: dict[str, Any]):
    """R61: evidence restated defaults as literals and went stale."""
    again = plan_of(finished_run["manifest"], Path("manifest.json"))
    assert again == replace(finished_run["plan"], block_pairs=again.block_pairs)
    assert again.bots()[2].parameters == finished_run["manifest"]["bots"][2]["parameters"]


def test_the_log_reads_back_to_the_digest_of_the_run(finished_run: dict[str, Any]):
    plan, run = finished_run["plan"], finished_run["path"]
    names = [bot.name for bot in plan.bots()]
    total = records.Digest()
    for block in range(plan.blocks()):
        by_matchup, _ = records.read_part(records.part_path(run, block), names)
        for (a, b), rows in by_matchup.items():
            total += records.digest(rows, records.matchup_name(names[a], names[b]))
    assert str(total) == finished_run["manifest"]["digest"]


def stopped_run(plan: Plan, run: Path, blocks: list[int]) -> None:
    """A run of which only *blocks* were played, as if it had been killed then."""
    prepare_folder(run, overwrite=False)
    records.write_json(run / MANIFEST, manifest_of(plan, "classic"))
    list(played(plan, 1, run, blocks))


def test_resume_plays_only_what_is_missing_and_ends_with_the_same_digest(tmp_path: Path):
    run, seen = tmp_path / "run", []
    stopped_run(PLAN, run, [0, 2, 5])
    kept = records.part_path(run, 2).stat().st_mtime_ns
    totals, manifest = run_tournament(
        PLAN, run, manifest_of(PLAN, "classic"), jobs=2, resume=True, watch=seen.append
    )
    assert manifest["digest"] == str(totals_of(PLAN).digest())
    assert summary_of(PLAN, totals) == summary_of(PLAN, totals_of(PLAN))
    assert len(seen) == PLAN.blocks() - 3
    assert seen[-1].pairs_done == PLAN.pairs
    assert records.part_path(run, 2).stat().st_mtime_ns == kept


@pytest.mark.parametrize("damage", ["torn", "empty", "other rows"])
def test_a_damaged_part_is_played_again(tmp_path: Path, damage: str):
    run = tmp_path / "run"
    stopped_run(PLAN, run, [0, 1])
    part = records.part_path(run, 1)
    content = part.read_bytes()
    other = records.part_path(run, 0).read_bytes()
    part.write_bytes({"torn": content[:-40], "empty": b"", "other rows": other}[damage])
    assert recount_block(PLAN, 1, run) is None
    _, manifest = run_tournament(PLAN, run, manifest_of(PLAN, "classic"), jobs=1, resume=True)
    assert manifest["digest"] == str(totals_of(PLAN).digest())


def test_resume_refuses_another_engine_or_other_bots(finished_run: dict[str, Any]):
    manifest, plan = finished_run["manifest"], finished_run["plan"]
    check_same(manifest, plan, Path("run"))
    with pytest.raises(GinsimError, match="was played by engine 0123"):
        check_same(manifest | {"engine": "0123"}, plan, Path("run"))
    bots = [dict(bot) for bot in manifest["bots"]]
    bots[1]["parameters"] = bots[1]["parameters"] | {"late_limit": 9}
    with pytest.raises(GinsimError, match="bot 'normal' has changed"):
        check_same(manifest | {"bots": bots}, plan, Path("run"))


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"seed": "1"}, "whole numbers"),
        ({"pairs": -1}, "--pairs -1: must be 1"),
        ({"bots": 3}, "is no manifest"),
        ({"rules": {}}, "is missing"),
        ({"mirrored": "yes"}, "true or false"),
    ],
)
def test_a_manifest_is_read_as_data_and_checked(
    finished_run: dict[str, Any], broken: dict[str, Any], says: str
):
    with pytest.raises(GinsimError, match=says):
        plan_of(finished_run["manifest"] | broken, Path("manifest.json"))


def test_an_existing_run_is_refused_and_kept(tmp_path: Path):
    run = tmp_path / "run"
    stopped_run(PLAN, run, [0])
    before = sorted(p.name for p in run.rglob("*"))
    with pytest.raises(GinsimError, match="holds a run already; add --overwrite"):
        prepare_folder(run, overwrite=False)
    assert sorted(p.name for p in run.rglob("*")) == before
    prepare_folder(run, overwrite=True)
    assert [p.name for p in run.rglob("*")] == ["rounds"]


def test_a_folder_of_other_files_is_never_overwritten(tmp_path: Path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(GinsimError, match="holds other files than a run"):
        prepare_folder(tmp_path, overwrite=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"specs": ("easy",)}, "name at least two"),
        ({"pairs": 0}, "--pairs 0"),
        ({"seed": -1}, "--seed -1"),
        ({"block_pairs": -5}, "--block -5"),
    ],
)
def test_a_plan_that_cannot_be_played_is_refused(changed: dict[str, Any], says: str):
    with pytest.raises(GinsimError, match=says):
        replace(PLAN, **changed)


def test_a_run_without_mirroring_plays_one_leg():
    plan = replace(PLAN, mirrored=False)
    rows = totals_of(plan)
    assert rows.by_matchup[0][0].total("legs") == plan.pairs


def test_progress_counts_every_pair_once(tmp_path: Path):
    seen: list[Any] = []
    prepare_folder(tmp_path / "run", overwrite=False)
    run_tournament(PLAN, tmp_path / "run", {}, jobs=2, watch=seen.append)
    assert [p.blocks_done for p in seen] == list(range(1, PLAN.blocks() + 1))
    assert seen[-1].pairs_done == PLAN.pairs


def sequential(run: Path, jobs: int, pairs: int = 2000) -> tuple[Plan, Any, dict[str, Any]]:
    plan = sequential_plan(Plan(("gin-only", "simple"), preset("classic"), seed=6, pairs=pairs))
    prepare_folder(run, overwrite=False)
    kept, _, manifest, verdict = run_sequential(
        plan, run, manifest_of(plan, "classic"), Sprt(0.5, 0.6), jobs=jobs
    )
    return kept, verdict, manifest


def test_a_sequential_run_stops_at_the_same_pair_for_any_jobs_and_cap(tmp_path: Path):
    """gin-only wins two of three against simple, far above 0.6."""
    found = [sequential(tmp_path / f"{j}-{p}", j, p) for j, p in ((1, 2000), (2, 2000), (4, 900))]
    plans, verdicts, manifests = zip(*found, strict=True)
    assert len({plan.pairs for plan in plans}) == 1
    assert plans[0].pairs < 900
    assert {verdict.stop.accepted for verdict in verdicts} == {"high"}
    assert len({manifest["digest"] for manifest in manifests}) == 1
    for run in tmp_path.iterdir():
        assert len(list((run / "rounds").iterdir())) == plans[0].blocks()
        assert len(records.read_rounds(run)["pair"].unique()) == plans[0].pairs


def test_a_sequential_run_is_the_beginning_of_a_fixed_one(tmp_path: Path):
    kept, _, manifest = sequential(tmp_path / "run", 2)
    assert manifest["digest"] == str(totals_of(kept).digest())
    assert manifest["sprt"]["pairs"] == kept.pairs == manifest["pairs"]


def test_a_sequential_run_that_does_not_decide_says_so(tmp_path: Path):
    kept, verdict, _ = sequential(tmp_path / "run", 1, pairs=50)
    assert (kept.pairs, verdict.stop.accepted) == (50, None)


def test_a_sequential_run_takes_two_bots():
    with pytest.raises(GinsimError, match="name just two"):
        sequential_plan(PLAN)


def test_the_first_forfeit_is_kept_whatever_the_blocks(tmp_path: Path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from ginsim.bots import Bot, load\n"
        "s = load('simple')\n"
        "def late(view):\n"
        "    return 60 if view.turn > 9 else view.drawn if view.legal >> view.drawn & 1 else 60\n"
        "bot = Bot('bad', lambda view: 0, late, s.knock, s.parameters)\n"
    )
    plan = Plan((f"{bad}:bot", "gin-only"), preset("classic"), seed=3, pairs=12)
    found = [totals_of(replace(plan, block_pairs=size)) for size in (1, 5, 12)]
    assert len({totals.forfeits[0] for totals in found}) == 1
    assert found[0].by_matchup[0][0].total("forfeits") > 0
    first = summary_of(plan, found[0])["first_forfeits"][0]
    assert first["bot"] == "bad"
    rows = play((plan.bots()[0], plan.bots()[1]), plan.rules, plan.seed, plan.pairs)
    lost = rows[rows["outcome"] == 5][0]
    assert (first["pair"], first["leg"], first["round"]) == tuple(
        int(lost[name]) for name in ("pair", "leg", "round")
    )


def test_a_bot_edited_in_the_same_process_is_played_as_it_is_now(tmp_path: Path):
    mine = tmp_path / "mine.py"
    text = (
        "from dataclasses import replace\nfrom ginsim.bots import load\nbot = load('knock-at-{}')\n"
    )
    plan = Plan((f"{mine}:bot", "simple"), preset("classic"), seed=3, pairs=5)
    seen = []
    for limit in (3, 9):
        mine.write_text(text.format(limit))
        os.utime(mine, ns=(limit, limit))
        entry = manifest_of(plan, "classic")["bots"][0]
        seen.append((entry["parameters"]["knocks_at"], entry["sha256"]))
    assert [limit for limit, _ in seen] == [3, 9]
    assert seen[0][1] != seen[1][1]
