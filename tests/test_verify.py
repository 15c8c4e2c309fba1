"""The referee: finished hands of other programs, and every kind of tampering with them."""

import copy
import io
import json
import random
import sys

import hands
import pytest
from scripted import stacked

from ginsim import cli
from ginsim.bots import load
from ginsim.cards import card_text
from ginsim.errors import GinsimError
from ginsim.replay import Where, replay
from ginsim.rules import PRESETS, preset, resolve
from ginsim.verify import Disagreement, parse_finished, referee, verify

EAAI = preset("eaai")
THEIRS = hands.cases("finished-hands.jsonl")


def found(*finished: dict, rules=EAAI) -> list[Disagreement]:
    """What the referee finds in *finished* hands."""
    return verify([json.dumps(hand) for hand in finished], rules, "hands.jsonl").disagreements


def what(*finished: dict, rules=EAAI) -> list[str]:
    """On what the referee disagrees."""
    return [one.what for one in found(*finished, rules=rules)]


def tampered(hand: dict, **changes) -> dict:
    """A copy of *hand* with *changes*."""
    return {**copy.deepcopy(hand), **changes}


def readable(one: Disagreement) -> str:
    """*one* as the command prints it; fails unless it is one short line."""
    line = f"hand {one.hand}: {one.what}: theirs {one.theirs}, ours {one.ours}"
    assert "\n" not in line
    assert len(line) < 250
    return line


def right_hand(**wanted) -> dict:
    """First hand of the file on which both programs agree and that has the values *wanted*."""
    return next(
        hand
        for hand in THEIRS
        if hand.get("opp_dw") == hand.get("opp_dw_joint")
        and all(hand.get(key) == value for key, value in wanted.items())
    )


KNOCK = right_hand(type="knock")
GIN = right_hand(type="gin")
UNDERCUT = right_hand(type="undercut")


def drawn_hand() -> dict:
    """A dead hand: both draw from the stock and throw what they drew, to the end."""
    hands_, upcard = ("AS 3S 5S 7S 9S JS KS 2D 4D 6D", "2C 4C 6C 8C TC QC AH 3H 5H 7H"), "9H"
    deck = [card_text(card) for card in stacked(*hands_, upcard)]
    turns = [word for card in deck[21:50] for word in ("draw", card)]
    return {
        "id": "drawn",
        "deck": deck,
        "starter": 0,
        "actions": ["pass", "pass", *turns],
        "hands": [hand.split() for hand in hands_],
        "type": "draw",
        "winner": None,
        "points": 0,
    }


DRAWN = drawn_hand()


# --- the 250 hands of another program ---


def test_250_hands_disagree_only_where_that_program_lays_off_after_fixing_its_melds():
    assert len(THEIRS) == 250
    differ = {hand["id"] for hand in THEIRS if hand.get("opp_dw") != hand.get("opp_dw_joint")}
    disagreements = found(*THEIRS)
    assert {int(one.hand) for one in disagreements} == differ
    assert 0 < len(differ) < 10
    for hand in THEIRS:
        about = {one.what: one for one in disagreements if one.hand == str(hand["id"])}
        if hand["id"] in differ:
            assert set(about) <= {"opp_dw", "points", "score", "winner", "type"}
            assert about["opp_dw"].theirs == hand["opp_dw"]
            assert about["opp_dw"].ours == hand["opp_dw_joint"]
            saved = hand["opp_dw"] - hand["opp_dw_joint"]
            assert about["points"].theirs - about["points"].ours == saved


def test_the_hands_are_of_every_kind():
    assert {hand["type"] for hand in THEIRS} == {"knock", "gin", "undercut"}
    assert {hand["starter"] for hand in THEIRS} == {0, 1}


def test_the_order_and_case_of_cards_do_not_matter():
    hand = tampered(KNOCK)
    hand["deck"] = [card.upper() for card in hand["deck"]]
    hand["hands"] = [[card.lower() for card in reversed(cards)] for cards in hand["hands"]]
    hand["knock_melds"] = [meld[::-1] for meld in reversed(hand["knock_melds"])]
    assert found(hand) == []


def test_a_hand_may_say_no_more_than_what_was_done():
    bare = {key: KNOCK[key] for key in ("deck", "starter", "actions")}
    assert found(bare) == []


def test_hands_of_another_preset_are_refereed_by_its_rules():
    passing = [hand for hand in THEIRS[:9] if hand["actions"][0] == "pass"]
    assert what(*passing, rules=preset("tutorial")) == ["legality"] * len(passing)
    assert "pass where draw or take is due" in readable(
        found(passing[0], rules=preset("tutorial"))[0]
    )


# --- tampering: every kind is reported ---


@pytest.mark.parametrize(
    "hand", [KNOCK, GIN, UNDERCUT, DRAWN], ids=["knock", "gin", "undercut", "draw"]
)
def test_an_honest_hand_is_agreed_with(hand):
    assert found(hand) == []


def only(hand: dict, rules=EAAI) -> tuple[str, str]:
    """(what, the line) of the one disagreement about *hand*."""
    (one,) = found(hand, rules=rules)
    return one.what, readable(one)


def test_a_discard_that_is_not_held_is_reported():
    actions = KNOCK["actions"][:]
    actions[3] = KNOCK["hands"][0][0] if KNOCK["starter"] == 1 else KNOCK["hands"][1][0]
    about, line = only(tampered(KNOCK, actions=actions))
    assert about == "legality"
    assert f"action 3: throws {actions[3]}, which is not held" in line


def test_the_card_just_taken_thrown_back_is_reported():
    actions = KNOCK["actions"][:]
    at = actions.index("take")
    upcard = actions[at - 1]
    actions[at + 1] = upcard
    about, line = only(tampered(KNOCK, actions=actions))
    assert about == "legality"
    assert f"action {at + 1}: throws {upcard}, which was just taken" in line


def test_a_knock_over_the_limit_is_reported():  # case R67
    # The first discard of a hand that had not been finished by then.
    cut = 4 if KNOCK["actions"][:2] == ["pass", "pass"] else 2
    about, line = only(tampered(KNOCK, actions=KNOCK["actions"][:cut]))
    assert about == "legality"
    assert "may not knock with" in line


@pytest.mark.parametrize("left", [11, 12])
def test_a_knock_with_11_is_refused_and_one_with_10_is_not(left):
    loose = {11: "6H 4C", 12: "6H 5C"}[left]
    melds = "AS 2S 3S 4S 5D 6D 7D"
    for kept, legal in ((loose, False), ("6H 3C", True)):
        deck = stacked(f"{melds} {kept} KC", "TH JH QH 2C 2D 2H KD 8C AH 9S", "4H", "AC")
        hand = {
            "deck": [card_text(card) for card in deck],
            "starter": 0,
            "actions": ["pass", "pass", "draw", "KC"],
            "type": "knock",
        }
        if legal:
            assert found(hand) == []
        else:
            assert only(hand)[1].endswith(f"theirs knocks, ours may not knock with {left} deadwood")


def test_wrong_hands_are_reported():
    wrong = [KNOCK["hands"][0][:], KNOCK["hands"][1][:]]
    wrong[0][0], wrong[1][0] = wrong[1][0], wrong[0][0]
    assert only(tampered(KNOCK, hands=wrong))[0] == "hands"
    assert only(tampered(KNOCK, hands=KNOCK["hands"][::-1]))[0] == "hands"


@pytest.mark.parametrize("hand", [KNOCK, GIN, UNDERCUT], ids=["knock", "gin", "undercut"])
def test_wrong_points_are_reported_with_both_values(hand):
    about, line = only(tampered(hand, points=hand["points"] + 1))
    assert about == "points"
    assert line.endswith(f"points: theirs {hand['points'] + 1}, ours {hand['points']}")


@pytest.mark.parametrize("hand", [KNOCK, GIN, UNDERCUT], ids=["knock", "gin", "undercut"])
@pytest.mark.parametrize("key", ["winner", "knocker", "knock_dw", "opp_dw", "opp_dw_before"])
def test_every_wrong_value_of_the_settlement_is_reported(hand, key):
    wrong = 1 - hand[key] if key in ("winner", "knocker") else hand[key] + 3
    about, line = only(tampered(hand, **{key: wrong}))
    assert about == key
    assert line.endswith(f"{key}: theirs {wrong}, ours {hand[key]}")


def test_a_wrong_score_is_reported():
    assert only(tampered(KNOCK, score=KNOCK["score"][::-1]))[0] == "score"


@pytest.mark.parametrize("claim", ["gin", "undercut", "big_gin"])
def test_a_wrong_kind_of_ending_is_reported(claim):
    about, line = only(tampered(KNOCK, type=claim))
    assert about == "type"
    assert line.endswith(f"theirs {claim}, ours knock")


def test_points_for_a_dead_hand_are_reported():
    assert only(tampered(DRAWN, points=10))[0] == "points"


def test_a_dead_hand_claimed_to_be_won_is_reported():
    assert what(tampered(DRAWN, winner=0)) == ["winner"]
    assert what(tampered(DRAWN, score=[10, 0])) == ["score"]


def test_a_dead_hand_that_was_claimed_as_a_knock_is_reported():
    about, _ = only(tampered(DRAWN, type="knock"))
    assert about == "legality"


def test_a_spread_that_is_not_best_is_reported():
    hand = next(h for h in THEIRS if h["type"] == "knock" and len(h["knock_melds"]) == 2)
    lines = [readable(one) for one in found(tampered(hand, knock_melds=hand["knock_melds"][:1]))]
    assert any("best_spread" in line for line in lines)


def test_a_spread_with_no_meld_is_reported():
    no_meld = [KNOCK["knock_melds"][0][:2] + [KNOCK["actions"][-1]]]
    lines = [readable(one) for one in found(tampered(KNOCK, knock_melds=no_meld))]
    assert any("knock_melds" in line and "is no meld" in line for line in lines)


def test_a_spread_of_cards_that_are_not_held_is_reported():
    held = {card for cards in KNOCK["hands"] for card in cards}
    melds = [meld for hand in THEIRS for meld in hand["knock_melds"] if not held & set(meld)]
    lines = [readable(one) for one in found(tampered(KNOCK, knock_melds=melds[:1]))]
    assert any("does not hold" in line for line in lines)


def test_a_card_in_two_melds_of_the_spread_is_reported():
    melds = [*KNOCK["knock_melds"], KNOCK["knock_melds"][0]]
    lines = [readable(one) for one in found(tampered(KNOCK, knock_melds=melds))]
    assert any("stands in two melds" in line for line in lines)


def test_a_spread_of_equal_deadwood_is_settled_as_it_was_laid():
    # Case A13: the nine of spades in the run or in the set, +20 or -25 at equal deadwood.
    knocker, defender = "4S 5S 6S 7S 8S 9S AC 9C 9D", "AS 2S 3S TS JS 2C 2D AH 2H 3H"
    deck = [card_text(card) for card in stacked(f"{knocker} KC", defender, "KD", "9H")]
    hand = {"deck": deck, "starter": 0, "actions": ["pass", "pass", "draw", "KC"], "type": "knock"}
    in_set = [["4S", "5S", "6S", "7S", "8S"], ["9S", "9C", "9D", "9H"]]
    in_run = [["4S", "5S", "6S", "7S", "8S", "9S"], ["9C", "9D", "9H"]]
    assert found(tampered(hand, knock_melds=in_set, winner=0, points=20, score=[20, 0])) == []
    undercut = {"type": "undercut", "winner": 1, "points": 25, "score": [0, 25]}
    assert found(tampered(hand, knock_melds=in_run, **undercut)) == []


def test_actions_that_are_cut_short_are_reported():
    for cut in range(1, 7):
        for hand in (KNOCK, DRAWN):
            about, _ = only(tampered(hand, actions=hand["actions"][:-cut]))
            assert about == "legality", cut


def test_actions_cut_after_a_draw_are_not_blamed_on_the_player_before():
    # Nobody claims to knock where the last action is a draw: the discard is missing.
    hand = tampered(KNOCK, actions=KNOCK["actions"][:-1])
    _, line = only(hand)
    assert f"action {len(hand['actions'])}: the end where a discard is due" in line


def test_no_actions_at_all_are_reported():
    assert only(tampered(KNOCK, actions=[]))[0] == "legality"


def test_actions_that_go_on_after_the_end_are_reported():
    about, line = only(tampered(DRAWN, actions=[*DRAWN["actions"], "draw", "AS"]))
    assert about == "end"
    assert "goes on with draw" in line
    assert "dead by then" in line


def test_a_knock_that_comes_one_action_too_early_is_not_called_over_the_limit():
    # The actions go on after a throw that leaves a legal knock, so nobody knocks there.
    assert KNOCK["knock_dw"] <= 10
    _, line = only(tampered(KNOCK, actions=[*KNOCK["actions"], "draw"]))
    assert f"may not knock with {KNOCK['knock_dw']} deadwood" not in line


def test_a_pass_where_a_draw_is_due_is_reported():
    actions = [*KNOCK["actions"][:4], "pass", *KNOCK["actions"][4:]]
    about, line = only(tampered(KNOCK, actions=actions))
    assert about == "legality"
    assert "action 4: pass where draw or take is due" in line


def test_a_draw_where_the_upcard_is_offered_is_reported():
    _, line = only(tampered(KNOCK, actions=KNOCK["actions"][2:]))
    assert "action 0: draw where pass or take is due" in line


def test_taking_the_upcard_that_both_have_passed_is_reported():
    assert KNOCK["actions"][:3] == ["pass", "pass", "draw"]
    actions = ["pass", "pass", "take", *KNOCK["actions"][3:]]
    _, line = only(tampered(KNOCK, actions=actions))
    assert "action 2: take where draw is due" in line


def test_a_discard_without_a_draw_is_reported():
    at = 4
    actions = [*KNOCK["actions"][:at], *KNOCK["actions"][at + 1 :]]
    _, line = only(tampered(KNOCK, actions=actions))
    assert f"action {at}: {actions[at]} where draw or take is due" in line


def test_a_move_where_a_discard_is_due_is_reported():
    actions = [*KNOCK["actions"][:3], "take", *KNOCK["actions"][3:]]
    _, line = only(tampered(KNOCK, actions=actions))
    assert "action 3: take where a discard is due" in line


def test_the_wrong_starter_is_reported():
    assert "legality" in what(tampered(KNOCK, starter=1 - KNOCK["starter"]))


def test_two_cards_of_the_stock_exchanged_are_reported():
    # A card that was drawn lies elsewhere, so it is thrown without being held, or stays unseen.
    chance, reported = random.Random(1), 0
    for hand in [h for h in THEIRS if h["type"] != "draw"][:20]:
        deck = hand["deck"][:]
        drawn = hand["actions"].count("draw")
        at, other = 21 + chance.randrange(drawn), 50
        deck[at], deck[other] = deck[other], deck[at]
        reported += bool(found(tampered(hand, deck=deck)))
    assert reported == 20


def test_any_one_change_of_a_number_is_found():
    for hand in THEIRS[:20]:
        for key in ("points", "knock_dw", "opp_dw_before", "winner", "knocker"):
            if isinstance(hand.get(key), int) and hand.get("opp_dw") == hand.get("opp_dw_joint"):
                assert key in what(tampered(hand, **{key: hand[key] + 1}))


# --- what is no finished hand is refused, with its line ---


def refusal(line: str) -> str:
    """Why *line*, the second of a file, is refused."""
    with pytest.raises(GinsimError) as refused:
        verify([json.dumps(KNOCK), line], EAAI, "hands.jsonl")
    message = str(refused.value)
    assert message.startswith("hands.jsonl, line 2: ")
    assert "\n" not in message
    assert len(message) < 200
    return message.removeprefix("hands.jsonl, line 2: ")


def test_a_deck_of_51_cards_is_refused():
    assert "51 different cards of 51: give 52" in refusal(
        json.dumps(tampered(KNOCK, deck=KNOCK["deck"][:-1]))
    )


def test_a_card_that_is_in_the_deck_twice_is_refused():
    deck = [*KNOCK["deck"][:-1], KNOCK["deck"][0]]
    assert "51 different cards of 52" in refusal(json.dumps(tampered(KNOCK, deck=deck)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"deck": ["XX", *KNOCK["deck"][1:]]}, "'XX' is no card"),
        ({"deck": 7}, "'deck' must be a list of texts"),
        ({"deck": [1] * 52}, "'deck' must be a list of texts"),
        ({"starter": 2}, "'starter' is 2: must be 0 or 1"),
        ({"starter": None}, "'starter' is None"),
        ({"actions": ["fold"]}, "'fold' is no card"),
        ({"actions": "pass"}, "'actions' must be a list of texts"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_hand_with_odd_content_is_refused(changes, reason):
    assert reason in refusal(json.dumps(tampered(KNOCK, **changes)))


@pytest.mark.parametrize("key", ["deck", "starter", "actions"])
def test_a_hand_without_deck_starter_or_actions_is_refused(key):
    hand = tampered(KNOCK)
    del hand[key]
    assert refusal(json.dumps(hand)) == f"has no '{key}'"


@pytest.mark.parametrize("line", ["{", "[]", "7", "null", '{"finished": 3}'])
def test_a_line_that_is_no_hand_is_refused(line):
    assert refusal(line)


@pytest.mark.parametrize(
    "changes",
    [
        {"knock_melds": None},
        {"knock_melds": 5},
        {"knock_melds": [1, 2]},
        {"knock_melds": [["XX", "2S", "3S"]]},
        {"knock_melds": "AS 2S 3S"},
        {"hands": None},
        {"hands": [["XX"], ["2S"]]},
        {"hands": [[1, 2], [3]]},
        {"hands": [KNOCK["hands"][0], [*KNOCK["hands"][1][:-1], KNOCK["hands"][1][0]]]},
        {"points": "7"},
        {"points": None},
        {"winner": [1]},
        {"type": 5},
        {"type": []},
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_odd_claim_is_a_disagreement_or_a_refusal_and_no_crash(changes):
    try:
        lines = [readable(one) for one in found(tampered(KNOCK, **changes))]
    except GinsimError as refused:
        lines = [str(refused)] * str(refused).startswith("hands.jsonl, line 1: ")
    assert lines


# --- what ginsim itself plays is agreed with ---

PLAYERS = [("hard", "normal"), ("simple", "random"), ("gin-only", "easy")]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("names", PLAYERS, ids=" v ".join)
def test_every_replay_is_agreed_with_under_its_rules(names, name):
    rules, bots = preset(name), (load(names[0]), load(names[1]))
    records = [
        replay(bots, rules, seed, Where(pair, leg, 0))
        for seed in (1, 2)
        for pair in (0, 1, 2)
        for leg in (0, 1)
    ]
    whole = verify([json.dumps(record) for record in records], rules, "replays")
    assert (whole.hands, whole.disagreements) == (len(records), [])
    assert found(*(record["finished"] for record in records), rules=rules) == []


@pytest.mark.parametrize(
    "rule",
    [
        "knock_limit=0",
        "oklahoma=yes",
        "stock_end=20",
        "turn_limit=6",
        "tie=nothing",
        "gin_bonus=20",
    ],
)
def test_replays_under_changed_rules_are_agreed_with(rule):
    rules = resolve("classic", [rule])
    bots = (load("normal"), load("simple"))
    records = [replay(bots, rules, 3, Where(pair, 0, 0)) for pair in range(8)]
    assert verify([json.dumps(record) for record in records], rules, "replays").disagreements == []


def test_replays_hold_every_kind_of_ending():
    bots, kinds = (load("gin-only"), load("simple")), set()
    rules = preset("big-gin")
    for seed in range(3):
        for pair in range(8):
            record = replay(bots, rules, seed, Where(pair, 0, 0))
            kinds.add(record["end"]["outcome"])
            assert found(record, rules=rules) == []
    assert {"gin", "knock"} <= kinds


BIG = "AS 2S 3S 4S 5D 6D 7D 9S 9C 9D"


def big_gin_hand() -> dict:
    deck = stacked(BIG, "TH JH QH 2C 2D 2H KD 8C AC AH", "4H", "9H")
    return {
        "deck": [card_text(card) for card in deck],
        "starter": 0,
        "actions": ["draw", "big_gin"],
        "type": "big_gin",
        "knocker": 0,
        "winner": 0,
        "points": 51,
        "score": [51, 0],
        "knock_dw": 0,
        "opp_dw": 20,
    }


def test_big_gin_is_refereed():
    hand = big_gin_hand()
    assert found(hand, rules=preset("big-gin")) == []
    assert what(tampered(hand, points=45), rules=preset("big-gin")) == ["points"]


def test_big_gin_after_passes_is_refereed():
    rules = resolve("classic", ["big_gin=yes"])
    hand = big_gin_hand()
    assert found(tampered(hand, actions=["pass", "pass", "draw", "big_gin"]), rules=rules) == []


def test_big_gin_where_the_rules_have_none_is_reported():
    about, line = only(big_gin_hand(), preset("tutorial"))
    assert about == "legality"
    assert "action 1: big_gin where a discard is due" in line


def test_big_gin_without_eleven_melded_cards_is_reported():
    hand = big_gin_hand()
    hand["deck"][21], hand["deck"][40] = hand["deck"][40], hand["deck"][21]
    about, line = only(hand, preset("big-gin"))
    assert about == "legality"
    assert "big_gin" in line


def test_under_oklahoma_a_spread_that_leaves_more_than_the_upcard_allows_is_reported():
    rules = resolve("classic", ["oklahoma=yes"])
    deck = stacked("AS 2S 3S 5D 6D 7D 9S 9C 3C KC", "TH JH QH 2C 2D 2H KD 8C AC AH", "3H", "9H")
    hand = {
        "deck": [card_text(card) for card in deck],
        "starter": 0,
        "actions": ["pass", "pass", "draw", "KC"],
        "type": "knock",
        "knock_melds": [["5D", "6D", "7D"], ["9S", "9C", "9H"]],  # 9 left, the upcard allows 3
    }
    assert "best_spread" in what(hand, rules=rules)
    assert "legality" in what(hand, rules=rules)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"layoffs": [["KS", None]]}, "does not hold KS"),
        ({"layoffs": [["9S", None]]}, None),
        ({"opp_melds": [["AS", "2S", "4S"]]}, "is no meld"),
        ({"opp_melds": []}, None),
        ({"opp_melds": 7}, ""),
    ],
)
def test_layoffs_and_melds_of_the_defender_are_checked(changes, says):
    """Hand 0: the defender melds AH 2H 3H 4H and 8H 8S 8D, lays off nothing, is left with 14."""
    found = list(referee("0", parse_finished(json.dumps(tampered(KNOCK, **changes)))[1], EAAI))
    assert [d.what for d in found] == ["defence"]
    assert says is None or says in str(found[0].ours)


# --- the command ---


def command(monkeypatch, capsys, *words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of ``ginsim verify``."""
    monkeypatch.setattr(sys, "argv", ["ginsim", "verify", *words])
    with pytest.raises(SystemExit) as left:
        cli.main()
    shown = capsys.readouterr()
    return left.value.code or 0, shown.out, shown.err


@pytest.fixture
def written(tmp_path):
    """Writes hands into a file."""

    def write(*finished: dict) -> str:
        path = tmp_path / "hands.jsonl"
        path.write_text("\n".join(json.dumps(hand) for hand in finished) + "\n\n")
        return str(path)

    return write


def test_the_command_exits_0_where_all_agree(monkeypatch, capsys, written):
    file = written(KNOCK, GIN, UNDERCUT, DRAWN)
    code, out, err = command(monkeypatch, capsys, file, "--rules", "eaai")
    assert (code, out, err) == (0, "4 hands, 0 disagreements\n", "")


def test_the_command_exits_1_and_lists_both_values_where_one_differs(monkeypatch, capsys, written):
    file = written(KNOCK, tampered(GIN, points=1))
    code, out, _ = command(monkeypatch, capsys, file, "--rules", "eaai")
    assert code == 1
    assert out.splitlines() == [
        f"hand {GIN['id']}: points: theirs 1, ours {GIN['points']}",
        "2 hands, 1 disagreements",
    ]


def test_the_command_prints_json(monkeypatch, capsys, written):
    file = written(tampered(GIN, points=1))
    code, out, _ = command(monkeypatch, capsys, file, "--rules", "eaai", "--json")
    assert code == 1
    assert json.loads(out) == {
        "hands": 1,
        "disagreements": [
            {"hand": str(GIN["id"]), "what": "points", "theirs": 1, "ours": GIN["points"]}
        ],
    }


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["no-such-file.jsonl"], "no-such-file.jsonl: cannot be read"),
        (["{file}", "--rules", "eeai"], "did you mean 'eaai'"),
        (["{file}", "--rule", "knock_limit=ten"], "knock_limit=ten: write a whole number"),
        (["{file}", "--no-such"], "--no-such"),
        ([], "Missing argument 'file'"),
    ],
    ids=str,
)
def test_the_command_exits_2_with_one_line_on_wrong_use(
    monkeypatch, capsys, written, words, reason
):
    file = written(KNOCK)
    code, out, err = command(monkeypatch, capsys, *[word.format(file=file) for word in words])
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert reason in err


def test_the_command_exits_2_naming_the_line_of_a_file_that_is_none(monkeypatch, capsys, tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_text(json.dumps(KNOCK) + "\nnot json\n")
    code, out, err = command(monkeypatch, capsys, str(path), "--rules", "eaai")
    assert (code, out) == (2, "")
    assert err.startswith(f"ginsim: {path}, line 2: is no JSON")
    assert err.count("\n") == 1


def test_the_command_exits_2_on_bytes_that_are_no_text(monkeypatch, capsys, tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    code, _, err = command(monkeypatch, capsys, str(path))
    assert code == 2
    assert err.count("\n") == 1


def test_the_command_reads_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(tampered(KNOCK, points=0))))
    code, out, _ = command(monkeypatch, capsys, "-", "--rules", "eaai")
    assert code == 1
    assert f"points: theirs 0, ours {KNOCK['points']}" in out


def test_what_replay_prints_as_json_is_what_verify_reads(monkeypatch, capsys, tmp_path):
    asked = ["ginsim", "replay", "--seed", "4", "--bots", "simple", "gin-only", "--json"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert not left.value.code
    file = tmp_path / "replay.json"
    file.write_text(capsys.readouterr().out)
    code, out, err = command(monkeypatch, capsys, str(file))
    assert (code, out, err) == (0, "1 hands, 0 disagreements\n", "")
