"""Replays: a logged round comes out as it was, every card of it, as JSON and as text."""

import json
import random
import re
from pathlib import Path

import naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scripted import play_bots

from ginsim import engine, records
from ginsim.bots import Bot, load
from ginsim.cards import DECK, card_text, cards_of, parse, parse_card, parse_cards
from ginsim.errors import GinsimError
from ginsim.match import play
from ginsim.replay import (
    Where,
    deck_of,
    hand_record,
    logged_row,
    rebuild,
    replay,
    replay_logged,
    traced_match,
)
from ginsim.rows import DEAD_REASONS
from ginsim.rules import PRESETS, from_dict, preset, resolve
from ginsim.scoring import OUTCOMES
from ginsim.tournament import Plan, manifest_of, prepare_folder, run_tournament

BOTS = ("normal", "simple", "random", "gin-only")


def make_run(folder: Path, name: str, pairs: int) -> tuple[Path, Plan]:
    run, plan = folder / name, Plan(BOTS, preset(name), seed=17, pairs=pairs, block_pairs=2)
    prepare_folder(run, overwrite=False)
    run_tournament(plan, run, manifest_of(plan, name), jobs=1)
    return run, plan


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, tuple[Path, Plan]]:
    """A small run a preset, on disk."""
    folder = tmp_path_factory.mktemp("replayed")
    return {name: make_run(folder, name, 5) for name in PRESETS}


def rounds_of(run: Path, number: int) -> list[dict]:
    """Some rows of the log, as the log has them."""
    table = pq.read_table(records.rounds_folder(run))
    picked = random.Random(9).sample(range(len(table)), number)
    return [table.slice(at, 1).to_pylist()[0] for at in picked]


def where(row: dict) -> Where:
    return Where(row["pair"], row["leg"], row["round"])


# --- a logged round ---


@pytest.mark.parametrize("name", PRESETS)
def test_replaying_random_rounds_of_a_run_reproduces_their_rows_exactly(runs, name):
    run, _ = runs[name]
    for row in rounds_of(run, 25):
        record = replay_logged(run, row["matchup"], where(row))
        again, seats = record["row"], record["seats"]
        reason = again["dead_reason"]
        by_name = {
            "seat0": seats[0],
            "seat1": seats[1],
            "matchup": " v ".join(seats if row["leg"] == 0 else seats[::-1]),
            "starter": seats[again["starter"]],
            "starter_seat": again["starter"],
            "outcome": OUTCOMES[again["outcome"]],
            "dead_reason": DEAD_REASONS[reason] if reason >= 0 else None,
            "winner": seats[again["winner"]] if again["winner"] >= 0 else None,
            "knocker": seats[again["knocker"]] if again["knocker"] >= 0 else None,
        }
        for column, logged in row.items():
            replayed = by_name[column] if column in by_name else again[column]
            assert (None if replayed == -1 else replayed) == logged, column


def test_a_run_with_one_matchup_needs_no_name_and_with_several_does(runs, tmp_path):
    run, plan = runs["classic"]
    with pytest.raises(GinsimError, match="has 6 matchups; add --matchup 'normal v simple'"):
        replay_logged(run, None, Where(0, 0, 0))
    with pytest.raises(GinsimError, match=r"--matchup 'no v one': .* has normal v simple, "):
        replay_logged(run, "no v one", Where(0, 0, 0))
    two = Plan(("simple", "random"), plan.rules, seed=17, pairs=1)
    prepare_folder(tmp_path / "two", overwrite=False)
    run_tournament(two, tmp_path / "two", manifest_of(two, "classic"), jobs=1)
    assert replay_logged(tmp_path / "two", None, Where(0, 1, 0))["seats"] == ["random", "simple"]


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (Where(5, 0, 0), "has pairs 0..4, legs 0..1"),
        (Where(-1, 0, 0), "has pairs 0..4, legs 0..1"),
        (Where(0, 2, 0), "has pairs 0..4, legs 0..1"),
        (Where(0, 0, 999), "has rounds 0.."),
        (Where(0, 0, -1), "has rounds 0.."),
    ],
    ids=str,
)
def test_a_round_that_the_run_has_not_is_refused(runs, at, reason):
    with pytest.raises(GinsimError, match=reason):
        replay_logged(runs["classic"][0], "normal v simple", at)


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(GinsimError, match="cannot be read"):
        replay_logged(tmp_path, None, Where(0, 0, 0))


@pytest.fixture
def tampered(tmp_path):
    """A run of its own, with a way to change one cell of its first part."""
    run, _ = make_run(tmp_path, "classic", 1)
    path = records.part_path(run, 0)

    def change(column: str, value: object) -> tuple[Path, dict]:
        table = pq.read_table(path)
        at = next(
            i for i, row in enumerate(table.to_pylist())
            if row["outcome"] in ("knock", "gin") and row["matchup"] == "normal v simple"
            and row[column] != value
        )  # fmt: skip
        row = table.slice(at, 1).to_pylist()[0]
        place = table.schema.get_field_index(column)
        cells = table[column].to_pylist()
        cells[at] = value
        field = table.schema.field(column)
        if pa.types.is_dictionary(field.type):
            changed = pa.array(cells, pa.string()).dictionary_encode().cast(field.type)
        else:
            changed = pa.array(cells, field.type)
        pq.write_table(table.set_column(place, field, changed), path)
        return run, row

    return change


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("points", 99), ("turns", 3), ("layoffs", 5), ("spread_sets", 7), ("stock_left", 30),
        ("knock_deadwood", 11), ("score_before_0", 42), ("pile_draws_1", 9), ("laid_off", 4),
        ("outcome", "undercut"), ("winner", "random"),
    ],
)  # fmt: skip
def test_a_tampered_log_is_reported_with_the_column(tampered, column, value):
    run, row = tampered(column, value)
    with pytest.raises(GinsimError) as refused:
        replay_logged(run, row["matchup"], where(row))
    assert "\n" not in str(refused.value)
    if column in ("points", "turns", "layoffs", "outcome"):
        assert f"has {column}" in str(refused.value)


@pytest.mark.parametrize(("column", "value"), [("starter_seat", 7), ("seat1", "random")])
def test_a_tampered_seat_is_reported_too(tampered, column, value):
    run, row = tampered(column, value)
    assert row[column] != value
    with pytest.raises(GinsimError):
        replay_logged(run, row["matchup"], where(row))


def test_a_round_missing_from_the_log_is_reported(tampered):
    run, row = tampered("pair", 8)
    with pytest.raises(GinsimError, match="has no round"):
        replay_logged(run, row["matchup"], where(row))


def test_a_part_missing_from_the_run_is_reported(tampered):
    run, row = tampered("points", 1)
    records.part_path(run, 0).unlink()
    with pytest.raises(GinsimError, match=r"part-000000\.parquet: is missing"):
        replay_logged(run, row["matchup"], where(row))


def test_a_logged_row_is_read_as_the_engine_wrote_it(runs):
    run, plan = runs["classic"]
    rows = play((load("normal"), load("simple")), plan.rules, plan.seed, plan.pairs)
    for row in rows[:: max(1, len(rows) // 12)]:
        at = Where(int(row["pair"]), int(row["leg"]), int(row["round"]))
        logged = logged_row(run, plan, "normal v simple", at)
        assert logged == {name: int(row[name]) for name in rows.dtype.names}


# --- the record ---


def some_records(name: str, number: int = 8) -> list[dict]:
    """Replays of whole pairs: their first and last rounds."""
    rules, found = preset(name), []
    for seed, (first, second) in enumerate((("hard", "random"), ("gin-only", "simple"))):
        bots = (load(first), load(second))
        rows = play(bots, rules, seed, number // 4)
        for pair in range(number // 4):
            for leg in (0, 1):
                last = int(rows["round"][(rows["pair"] == pair) & (rows["leg"] == leg)].max())
                found.append(replay(bots, rules, seed, Where(pair, leg, last)))
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_the_json_of_a_replay_parses_back(name):
    for record in some_records(name):
        assert json.loads(json.dumps(record)) == record
        assert from_dict(record["rules"]) == preset(name)


@pytest.mark.parametrize("name", PRESETS)
def test_a_replay_carries_every_card(name):
    for record in some_records(name):
        deck = parse_cards(" ".join(record["deck"]))
        assert sorted(deck) == list(range(52))
        starter = record["starter"]
        dealt = [parse_cards(" ".join(cards)) for cards in record["dealt"]]
        assert sorted(deck[0:20:2]) == sorted(dealt[starter])
        assert sorted(deck[1:20:2]) == sorted(dealt[1 - starter])
        assert card_text(deck[20]) == record["upcard"]
        hands = [parse(" ".join(cards)) for cards in record["hands"]]
        pile, stock = [deck[20]], deck[21:]
        held = [set(cards) for cards in dealt]
        for turn in record["turns"]:
            seat, card = turn["seat"], parse_card(turn["card"])
            if turn["action"] == "pass":
                assert card == pile[-1]
                continue
            source = pile.pop() if turn["action"] == "take" else stock.pop(0)
            assert source == card
            held[seat].add(card)
            if "throw" in turn:
                thrown = parse_card(turn["throw"])
                held[seat].remove(thrown)
                pile.append(thrown)
            assert {parse_card(word) for word in turn["hand"]} == held[seat]
            melded = [naive.mask(parse_cards(meld)) for meld in turn["melds"]]
            loose = naive.mask(parse_cards(" ".join(turn["loose"])))
            assert all(naive.is_meld(meld) for meld in melded)
            assert naive.union(melded) | loose == naive.mask(held[seat])
            assert turn["deadwood"] == naive.points(loose) == naive.deadwood(naive.mask(held[seat]))
        assert hands == [naive.mask(cards) for cards in held]
        assert hands[0] | hands[1] | naive.mask(pile) | naive.mask(stock) == DECK
        assert len(stock) == record["row"]["stock_left"]
        assert sum(turn["action"] != "pass" for turn in record["turns"]) == record["row"]["turns"]


@pytest.mark.parametrize("name", PRESETS)
def test_the_settlement_of_a_replay_adds_up(name):
    for record in some_records(name):
        end, row = record["end"], record["row"]
        before, after = record["scores_before"], record["scores_after"]
        gained = [b - a for a, b in zip(before, after, strict=True)]
        wanted = [0, 0]
        if end["winner"] is not None:
            wanted[end["winner"]] = end["points"]
        assert gained == wanted
        if end["outcome"] == "dead":
            assert end["dead_reason"] in DEAD_REASONS
            assert record["finished"]["type"] == "draw"
            continue
        knocker = end["knocker"]
        shown = parse(" ".join(record["hands"][knocker]))
        spread = [parse(meld) for meld in end["spread"]]
        loose = parse(" ".join(end["knocker_loose"]))
        assert all(naive.is_meld(meld) for meld in spread)
        assert naive.union(spread) | loose == shown
        assert naive.points(loose) == end["knocker_deadwood"] == naive.deadwood(shown)
        table = list(spread)
        for word in end["layoffs"]:  # in an order in which each fits when its turn comes
            card = parse_card(word)
            at = next(i for i, meld in enumerate(table) if naive.fits(card, meld))
            table[at] |= 1 << card
        laid = parse(" ".join(end["layoffs"]))
        left = parse(" ".join(end["defender_loose"]))
        melds = [parse(meld) for meld in end["defender_melds"]]
        assert naive.union(melds) | left | laid == parse(" ".join(record["hands"][1 - knocker]))
        assert naive.points(left) == end["defender_deadwood"] == row["defender_deadwood"]
        least = naive.deadwood(parse(" ".join(record["hands"][1 - knocker])))
        assert end["defender_deadwood_before"] == least


def test_a_replay_is_the_same_match_as_it_is_played():
    bots = (load("easy"), load("simple"))
    played = play_bots(bots, preset("classic"), seed=6, pair=2, record=False)
    for round_ in range(len(played.rows)):
        record = replay(bots, preset("classic"), 6, Where(2, 0, round_))
        hands = [parse(" ".join(cards)) for cards in record["hands"]]
        assert hands == played.hands(round_)
        assert parse_cards(" ".join(record["deck"])) == deck_of(
            6, 2, round_, int(played.rows[round_]["starter"])
        )
        assert record["row"] == {n: int(played.rows[round_][n]) for n in played.rows[0].dtype.names}


def test_the_second_leg_seats_the_bots_the_other_way_round():
    bots = (load("easy"), load("simple"))
    legs = [replay(bots, preset("classic"), 6, Where(0, leg, 0)) for leg in (0, 1)]
    assert [record["seats"] for record in legs] == [["easy", "simple"], ["simple", "easy"]]
    assert legs[0]["deck"] == legs[1]["deck"]


def test_a_plain_python_bot_is_replayed_too():
    easy = load("easy")
    plain = Bot("plain", easy.draw, easy.discard, easy.knock, easy.parameters, jit=False)
    records_ = [replay((b, easy), preset("classic"), 6, Where(0, 0, 0)) for b in (plain, easy)]
    assert records_[0]["turns"] != []
    assert records_[0]["row"] == records_[1]["row"]
    assert records_[0]["deck"] == records_[1]["deck"]


def test_a_match_with_more_steps_than_the_trace_holds_is_replayed_whole(monkeypatch):
    bots, rules, at = (load("easy"), load("simple")), preset("classic"), Where(0, 1, 2)
    whole = replay(bots, rules, 1, at)
    steps = sum(len(steps) for steps in traced_match(bots, rules, 1, 0, 1)[1])
    for size in (1, 2, 3, 10, steps - 1, steps, steps + 1, steps + 2, steps + 3):
        monkeypatch.setattr("ginsim.replay._FIRST_TRACE", size)
        assert replay(bots, rules, 1, at) == whole


def test_a_replay_of_an_illegal_throw_says_what_was_thrown():
    def yes(view):
        return 1

    for answer, shown in ((77, 77), (parse_card("AS"), None)):
        cheat = Bot("cheat", yes, lambda view, answer=answer: answer, yes, jit=False)
        seed = next(
            s for s in range(50) if deck_of(s, 0, 0, 0)[-1] == parse_card("AS") or answer == 77
        )
        record = replay((cheat, cheat), preset("tutorial"), seed, Where(0, 0, 0))
        assert record["end"]["outcome"] == "forfeit"
        assert record["turns"][-1]["illegal"] == (shown or "AS")
        assert "which is not legal" in hand_record(record)
        assert "cheat forfeits the match to cheat" in hand_record(record)


def test_hands_are_rebuilt_from_deck_and_steps():
    deck = list(range(52))
    steps = np.array(
        [
            (engine.DEAL, 0, 20),
            (engine.TAKE, 0, 20),
            (engine.THROW, 0, 0),
            (engine.STOCK_DRAW, 1, 21),
            (engine.KNOCK_THROW, 1, 1),
        ]
    )
    turns, hands = rebuild(deck, 0, steps)
    assert [sorted(cards_of(hand)) for hand in hands] == [
        [*range(2, 20, 2), 20],
        [*range(3, 20, 2), 21],
    ]
    assert [turn["turn"] for turn in turns] == [1, 2]
    assert turns[1]["out"] == "knock"


# --- the text ---


@pytest.mark.parametrize("name", PRESETS)
def test_the_text_reads_like_a_hand_record(name):
    for record in some_records(name, 4):
        lines = hand_record(record).splitlines()
        seats = record["seats"]
        before, after = record["scores_before"], record["scores_after"]
        assert lines[0].endswith(f": {seats[0]} v {seats[1]}, {before[0]}-{before[1]}")
        dealer, starter = seats[1 - record["starter"]], seats[record["starter"]]
        assert lines[1] == f"{dealer} deals, {starter} starts, upcard {record['upcard']}"
        for seat, line in enumerate(lines[2:4]):
            shown = parse(
                line.split(seats[seat], 1)[1].rsplit(None, 1)[0].translate({91: "", 93: ""})
            )
            assert shown == parse(" ".join(record["dealt"][seat]))
            assert int(line.split()[-1]) == record["row"][f"dealt_deadwood_{seat}"]
        body = lines[4 : 4 + len(record["turns"])]
        for turn, line in zip(record["turns"], body, strict=True):
            assert turn["bot"] in line
            assert turn["card"] in line
            if turn["action"] == "pass":
                assert "passes" in line
                continue
            assert int(line.split()[0]) == turn["turn"]
            assert {"take": "takes", "draw": "draws"}[turn["action"]] in line
            assert int(line.split()[-1]) == turn["deadwood"]
            if "throw" in turn:
                verb = "knocks with" if "out" in turn else "throws"
                assert f", {verb} {turn['throw']} " in line
            bracketed = re.findall(r"\[([^]]*)\]", line)
            assert bracketed == turn["melds"]
        assert lines[-1] == f"score {seats[0]} {after[0]}, {seats[1]} {after[1]}"
        assert record["end"]["outcome"].replace("dead", "dead hand") in "\n".join(lines)
        assert all(len(line) < 130 for line in lines)


def test_the_text_of_a_knock_tells_spread_layoffs_and_points():
    bots, rules = (load("easy"), load("simple")), preset("classic")
    rows = play(bots, rules, seed=1, pairs=20)
    for row in rows[rows["laid_off"] > 0][:5]:
        at = Where(int(row["pair"]), int(row["leg"]), int(row["round"]))
        record = replay(bots, rules, 1, at)
        end, seats = record["end"], record["seats"]
        spread, settled, points = hand_record(record).splitlines()[-4:-1]
        melds = " ".join(f"[{meld}]" for meld in end["spread"])
        assert spread == (
            f"{seats[end['knocker']]} lays down {melds}, {end['knocker_deadwood']} deadwood"
        )
        assert f"lays off {' '.join(end['layoffs'])}, melds" in settled
        assert (
            f"{end['defender_deadwood']} deadwood ({row['defender_deadwood_before']} before"
            in settled
        )
        assert points == f"{end['outcome']}: {seats[end['winner']]} scores {end['points']}"


def test_the_text_of_a_dead_hand_says_why():
    idle = Bot("idle", lambda view: 0, lambda view: view.drawn, lambda view: 0, jit=False)
    record = replay((idle, idle), preset("openspiel"), 1, Where(0, 0, 0))
    assert "dead hand: the stock ran out" in hand_record(record)
    record = replay((idle, idle), resolve("openspiel", ["turn_limit=4"]), 1, Where(0, 0, 0))
    assert "dead hand: the turn limit was reached" in hand_record(record)


def test_the_text_of_a_tie_that_scores_nothing_says_so():
    bots, rules = (load("easy"), load("simple")), preset("openspiel")
    rows = play(bots, rules, seed=1, pairs=400)
    tie = rows[(rows["outcome"] == OUTCOMES.index("knock")) & (rows["points"] == 0)][0]
    record = replay(bots, rules, 1, Where(int(tie["pair"]), int(tie["leg"]), 0))
    assert "knock: nobody scores" in hand_record(record)
    assert record["end"]["winner"] is None
