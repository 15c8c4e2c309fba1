"""Claims of rule guides: effects, verdicts, the bots that follow them, the table, one real run."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import naive
import numpy as np
import pytest
from hands import hands
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments import listing
from experiments.__main__ import main as command
from experiments.claims import (
    NORMAL,
    TAKER,
    THROWER,
    effect_of,
    estimate,
    held_cells,
    like,
    path_of,
    play_all,
)
from experiments.layoff_spread import fixed_melds, least_spreads
from experiments.trial import (
    DEPENDS,
    FAILS,
    HOLDS,
    NO_DIFFERENCE,
    POINTS,
    UNDECIDED,
    Cell,
    Claim,
    Held,
)
from experiments.verdicts import judged, overall, verdict_of, where
from ginsim.bots import Bot, load
from ginsim.cards import card_text, parse, parse_card
from ginsim.knock_chart import sample
from ginsim.match import play
from ginsim.melds import lay_off
from ginsim.rules import preset
from ginsim.stats import Rate, paired_difference
from ginsim.view import DISCARD, DRAW, KNOBS, KNOCK, View

ROOT = Path(__file__).parents[1]


def rate(value: float, half: float) -> Rate:
    return Rate(value, value - half, value + half, 100)


def some_cell(verdict: str, rival: str = "easy", rules: str = "classic", what: str = "") -> Cell:
    return Cell(what, rival, rules, rate(0.1, 0.05), None, 0.01, 0.01, verdict)


# --- effects ---


@pytest.fixture(scope="module")
def played():
    """Two bots against one rival on the same deals, in two blocks."""
    matchups = [(bot, "easy", "classic") for bot in ("normal", "simple")]
    return [play_all(matchups, 7, 1_100)[matchup] for matchup in matchups]


@pytest.mark.parametrize("key", ["matches_won", "net_points"])
def test_a_difference_is_the_paired_difference_of_the_statistics(played, key):
    first, second = played
    effect, _ = effect_of([(1, first), (-1, second)], key)
    assert effect == pytest.approx(paired_difference(first, second, key))


def test_a_matchup_has_the_pairs_of_a_plain_run(played):
    rows = play((load("normal"), load("easy")), preset("classic"), 7, 1_100)
    counts = played[0]
    assert counts.pairs.tolist() == list(range(1_100))
    assert counts.tally().total("rounds") == len(rows)
    assert counts.turns.sum() == len(rows)


def test_a_bot_less_itself_is_nothing_and_undecided_by_no_test(played):
    effect, p = effect_of([(1, played[0]), (-1, played[0])], "matches_won")
    assert (effect.value, effect.low, effect.high, p) == (0, 0, 0, 1)


def test_an_estimate_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(5)
    inside = small = 0
    for _ in range(2_000):
        scores = rng.normal(0, 0.4, 60)
        found, p = estimate(float(scores.mean()), scores - scores.mean())
        inside += found.low < 0 < found.high
        small += p < 0.05
    assert inside + small == 2_000, "the interval and the test say the same"
    assert abs(small - 100) < 40  # four standard errors of 9.7


# --- verdicts ---


@pytest.mark.parametrize(
    ("value", "half", "p", "verdict"),
    [
        (0.05, 0.02, 0.001, HOLDS),
        (-0.05, 0.02, 0.001, FAILS),
        (0.05, 0.06, 0.2, UNDECIDED),
        (0.05, 0.02, 0.06, UNDECIDED),  # clear alone, not among all the cells
        (0.005, 0.003, 0.001, NO_DIFFERENCE),  # sure of its sign, and too small
        (0.005, 0.01, 1, UNDECIDED),
    ],
)
def test_the_verdict_of_a_cell(value, half, p, verdict):
    assert verdict_of(rate(value, half), p) == verdict


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([HOLDS] * 3, HOLDS),
        ([FAILS] * 3, FAILS),
        ([NO_DIFFERENCE] * 2, NO_DIFFERENCE),
        ([HOLDS, FAILS, HOLDS, HOLDS], DEPENDS),
        ([HOLDS, HOLDS, UNDECIDED], "mostly holds"),
        ([FAILS, NO_DIFFERENCE], "mostly fails"),
        ([HOLDS, UNDECIDED, UNDECIDED], DEPENDS),
        ([NO_DIFFERENCE, UNDECIDED], NO_DIFFERENCE),
        ([NO_DIFFERENCE, UNDECIDED, UNDECIDED], UNDECIDED),
    ],
)
def test_the_verdict_on_a_claim(verdicts, said):
    assert overall([some_cell(verdict) for verdict in verdicts]) == said


def test_many_cells_are_judged_together():
    """Of twenty tests at p = 0.04 none stands, though each would alone."""
    one = Cell("", "easy", "classic", rate(0.05, 0.049), None, 0.04)
    assert [c.verdict for c in judged([one])] == [HOLDS]
    assert {c.verdict for c in judged([one] * 20)} == {UNDECIDED}


def test_where_names_rivals_and_where_they_differ_rules():
    cells = [
        some_cell(HOLDS, "easy"),
        some_cell(HOLDS, "hard"),
        some_cell(FAILS, "hard", "frapper"),
        some_cell(UNDECIDED, "easy", "frapper"),
        some_cell(HOLDS, "simple", what="late"),
        some_cell(HOLDS, "hard", what="late"),
        some_cell(HOLDS, "easy", "eaai", what="by rules"),
        some_cell(HOLDS, "hard", "eaai", what="by rules"),
        some_cell(FAILS, "easy", what="by rules"),
    ]
    assert where(cells) == (
        "holds v all (classic); fails v hard (frapper); "
        "undecided v easy (frapper). late: holds v all. "
        "by rules: holds v all (eaai); fails v all (classic)"
    )


def test_points_of_a_round_have_a_margin_of_their_own():
    assert verdict_of(rate(0.3, 0.1), 0.001, POINTS) == NO_DIFFERENCE
    assert verdict_of(rate(0.8, 0.1), 0.001, POINTS) == HOLDS


def test_a_knock_on_trial_is_the_difference_of_both_ways_to_play_the_deal():
    trial = Held("", "normal", (6, 6), (5, 10), knocks=True, places=(("easy", "classic"),))
    claim = Claim("x", "x", seed=5, pairs=400, seconds=0, held=(trial,))
    (cell,) = held_cells(claim, 400)
    seen = sample("normal", "easy", preset("classic"), 5, 0, 400, 6)
    here = seen.deadwood >= 5
    assert cell.effect.value == pytest.approx((seen.now - seen.on)[here].mean())
    assert cell.effect.weight == here.sum() > 50
    (waits,) = held_cells(replace(claim, held=(replace(trial, knocks=False),)), 400)
    assert waits.effect.value == -cell.effect.value
    assert held_cells(replace(claim, held=(replace(trial, turns=(30, 31)),)), 400) == []


# --- the bots ---


@pytest.fixture(scope="module", autouse=True)
def _compiled_once():
    for spec in (THROWER, TAKER):
        load(path_of(spec)).policies()


def rows_of(spec: str, rival: str = "normal") -> np.ndarray:
    return play((load(path_of(spec)), load(rival)), preset("classic"), 3, 30)


@pytest.mark.parametrize("spec", [THROWER, TAKER])
@pytest.mark.parametrize("level", ["easy", "normal", "hard"])
def test_without_a_rule_they_are_the_level_itself(spec, level):
    assert (rows_of(f"{spec}@{like(level)}") == rows_of(level)).all()
    assert (rows_of(spec) == rows_of(NORMAL)).all()


def knobs_of(bot: Bot, **changes: int) -> tuple[int, ...]:
    values = list({**bot.parameters, **changes}.values())
    return (*values, *[0] * (KNOBS - len(values)))


def blank(phase: int, hand: str, bot: Bot, **fields: int) -> View:
    nothing = dict.fromkeys(View._fields, 0)
    view = View(**{**nothing, "phase": phase, "hand": parse(hand), "knobs": knobs_of(bot)})
    view = view._replace(upcard=-1, drawn=-1, stock=31, stock_end=2, target=100, knock_limit=10)
    return view._replace(legal=view.hand, **fields)


def thrown(hand: str, changes: str, **fields: int) -> str:
    bot = load(f"{path_of(THROWER)}@out_weight=0,save_weight=0,high_weight=0,{changes}")
    view = blank(DISCARD, hand, bot, drawn=parse_card(hand.rsplit(maxsplit=1)[-1]))
    return card_text(int(bot.policies()[1](view._replace(**fields))))


def test_a_lone_face_card_goes_first_is_kept_or_gives_way_to_a_low_one():
    # The kings are a pair; QH, 4C and 9C fit nothing.
    hand = "5S 6S 7S AH AD AC KS KD QH 4C 9C"
    for key in range(5):
        assert thrown(hand, "rule=2", key=key) == "QH"
    assert thrown(hand, "rule=3") in ("KS", "KD")
    assert thrown(hand, "rule=4") == "4C"
    assert thrown(hand, "rule=4,turns=3", turn=6) in ("KS", "KD", "QH")


def test_a_card_that_fits_both_ways_is_kept_and_one_that_fits_one_way_as_any_other():
    # TS fits TD and JS; KH fits KC alone: equal deadwood.
    hand = "AS AD AC 4H 5H 6H TS TD JS KH KC"
    for key in range(5):
        assert thrown(hand, "rule=6,weight=30", key=key) != "TS"
    assert {thrown(hand, "rule=5,weight=30", key=key) for key in range(60)} == {
        "TS", "TD", "JS", "KH", "KC",
    }  # fmt: skip


def test_of_equal_deadwood_the_ends_or_the_middle_go_first():
    hand = "AS AD AC 4H 5H 6H 2C 7S TD QC KH"
    assert thrown(hand, "rule=7,weight=25") == "KH"
    assert thrown(hand, "rule=8,weight=25") == "TD"


def test_what_lies_next_to_a_taken_card_is_kept_within_its_price():
    hand = "AS AD AC 4H 5H 6H 2C 3D 7S QC KH"
    assert thrown(hand, "rule=9,weight=100", rival_known=parse("KD")) == "QC"
    assert thrown(hand, "rule=9,weight=100", rival_known=parse("KC")) in ("QC", "KH")
    assert thrown(hand, "rule=9,weight=200", rival_known=parse("KC QD")) in ("QC", "KH")
    assert thrown(hand, "rule=9,weight=400", rival_known=parse("KC QD")) == "7S"


def test_thrown_suits_and_ranks_are_thrown():
    hand = "AS AD AC 4H 5H 6H 2C 3D 7S QC KH"
    assert thrown(hand, "rule=10,weight=50", rival_thrown=parse("2H")) == "KH"
    assert thrown(hand, "rule=10,weight=50", rival_thrown=parse("9C")) == "QC"
    assert thrown(hand, "rule=11,weight=50", rival_thrown=parse("QS 2H")) == "QC"


def test_no_rule_passes_up_gin():
    for rule in range(12):
        hand = "4S 5S 6S AH AD AC KS KD KH KC 2C"
        assert thrown(hand, f"rule={rule},weight=1000", rival_known=parse("2D 3C")) == "2C"


def takes(hand: str, upcard: str, take_loose: int) -> bool:
    bot = load(f"{path_of(TAKER)}@take_loose={take_loose}")
    card = parse_card(upcard)
    view = blank(DRAW, hand, bot, upcard=card, discards=1 << card)
    return bool(bot.policies()[0](view))


def test_the_taker_takes_loose_cards_by_its_margin_or_nothing_but_gin():
    hand = "AS AD AC 4H 5H 6H 2C 9D QC KH"
    assert [takes(hand, "3S", margin) for margin in (-1, 0, 7, 8)] == [False, False, True, False]
    assert [takes(hand, "7H", margin) for margin in (-1, 0, 8)] == [False, True, True]
    assert takes("AS AD AC 4H 5H 6H 9D 9C 9S KH", "7H", -1), "gin"


def test_the_knocker_waits_until_the_stock_runs_low_and_looks_for_taken_cards():
    spec = path_of("experiments/bots/knocker.py:knocker")
    bot = load(f"{spec}@knock_from=8,knock_to=9,stock_left=6,safe=1")
    knock = bot.policies()[2]
    view = blank(KNOCK, "AS AD AC 4H 5H 6H 7H 2C 3D 4C", bot, kept_deadwood=9, stock=8)
    assert knock(view)
    assert not knock(view._replace(stock=9))
    assert not knock(view._replace(kept_deadwood=10))
    assert not knock(view._replace(kept_deadwood=7))
    assert not knock(view._replace(rival_known=parse("KD")))
    assert knock(view._replace(stock=20, kept_deadwood=0))


# --- layoffs and spreads ---


@given(hands(10, 10))
@settings(max_examples=60)
def test_least_spreads_are_those_of_the_definition(hand):
    found = {(naive.sets_of(s), naive.runs_of(s)) for s in naive.least_spreads(hand)}
    assert set(least_spreads(hand)) == found


@given(hands(20, 20), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_fixed_melds_are_never_better_than_the_joint_layoff(cards, random):
    knocker = naive.mask(random.sample(naive.cards(cards), 10))
    defender = cards & ~knocker
    for sets, runs in least_spreads(knocker):
        joint, _ = lay_off(defender, sets, runs)
        assert joint <= fixed_melds(defender, sets, runs) <= naive.deadwood(defender)


def test_fixed_melds_lay_off_in_chains_and_break_nothing():
    sets, runs = parse("JS JH JD"), parse("4S 5S 6S")
    assert fixed_melds(parse("3S 2S KC QD TH 9C 7D 5H 4D JC"), sets, runs) == 30 + 9 + 7 + 5 + 4
    # 7S, 8S and 9S could all go onto the run, but the set with 7S is worth more to begin with.
    defender = parse("7S 7D 7H 8S 9C TH AC 2D 3H KC")
    assert fixed_melds(defender, sets, runs) == 8 + 9 + 10 + 1 + 2 + 3 + 10


# --- the table, and a real run ---


def experiments_with(monkeypatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["experiments", *words])
    command()


def test_the_table_agrees_with_the_summaries():
    written = listing.README.read_text().partition(listing.START)[2].partition(listing.END)[0]
    assert written.strip() == listing.tables().strip(), "run python -m experiments <name>"


def test_every_claim_of_the_guides_is_listed_once_with_its_files():
    claims = [m.CLAIM for m in listing.modules().values() if listing.is_claim(m)]
    assert len(claims) == 13
    assert len({claim.seed for claim in claims}) == 13
    readme = listing.README.read_text()
    for claim in claims:
        assert readme.count(f"[{claim.sentence}]") == 1
        folder = ROOT / "results" / listing.folder_name(claim.name)
        assert {p.name for p in folder.iterdir()} == {"plot.png", "summary.json", "table.md"}
        assert (folder / "plot.png").stat().st_size < 150_000
        summary = json.loads((folder / "summary.json").read_text())
        assert (summary["seed"], summary["pairs"]) == (claim.seed, claim.pairs)
        assert summary["claim"] == claim.sentence


def test_a_claim_runs_from_end_to_end_and_again_to_the_same_bytes(tmp_path, monkeypatch):
    words = [sys.executable, "-m", "experiments", "starter-edge", "--pairs", "20", "--out"]
    done = subprocess.run(
        [*words, tmp_path / "one"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "has the edge" in done.stdout
    experiments_with(monkeypatch, "starter_edge", "--pairs", "20", "--out", str(tmp_path / "two"))
    one, two = (tmp_path / folder / "starter-edge" for folder in ("one", "two"))
    for file in ("table.md", "summary.json", "plot.png"):
        assert (one / file).read_bytes() == (two / file).read_bytes()
    summary = json.loads((one / "summary.json").read_text())
    assert summary["pairs"] == 20
    assert len(summary["cells"]) == 30
    for cell in summary["cells"]:
        effect = cell["effect"]
        assert -0.5 <= effect["value"] <= 0.5
        assert effect["low"] <= effect["value"] <= effect["high"]
    table = (one / "table.md").read_text()
    assert table.count("\n| ") == 31
    assert "python -m experiments starter_edge" in table


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "no experiment 'nonsense'"),
        (["starter_edge", "--pairs", "30"], "add --out FOLDER"),
        (["starter_edge", "--pairs", "1", "--out", "x"], "must be 20 or more"),
        (["gate", "--out", "x"], "gate takes no --pairs"),
    ],
)
def test_wrong_use_is_told_in_one_line(words, said, monkeypatch, capsys):
    with pytest.raises(SystemExit) as stop:
        experiments_with(monkeypatch, *words)
    assert stop.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
