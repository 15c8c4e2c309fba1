"""A round turn by turn, as JSON that carries every card and as text like a hand record.

The engine plays the match again with a trace of its steps; the hands are rebuilt from the
deck and the steps, and the row must come out as it was logged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ginsim import engine, records
from ginsim.bots import Bot
from ginsim.cards import Card, Hand, card_text, hand_of, parse, text
from ginsim.errors import GinsimError
from ginsim.guard import DECISION_LIMIT, Forfeit
from ginsim.match import explained, play_chunks
from ginsim.melds import deadwood
from ginsim.places import Place
from ginsim.rng import stream
from ginsim.rows import DEAD_REASONS
from ginsim.rules import Rules, to_dict
from ginsim.scoring import OUTCOMES
from ginsim.showdown import best_melds, card_list, lay_off_order, melds_of
from ginsim.tournament import MANIFEST, Plan, check_same, parts_by_block, plan_of
from ginsim.view import DRAW, OFFER

_FIRST_TRACE = 1 << 14


@dataclass(frozen=True)
class Where:
    """One round of a run."""

    pair: int
    leg: int
    round_: int


def deck_of(seed: int, pair: int, round_: int, starter: int) -> list[Card]:
    """Cards of a round in the order they are dealt and drawn, the first to seat *starter*."""
    deck = np.empty(52, dtype=np.int64)
    engine.shuffle_deck(stream(seed, pair, round_), starter, deck)
    return [int(card) for card in deck]


def traced_match(
    bots: tuple[Bot, Bot],
    rules: Rules,
    seed: int,
    pair: int,
    leg: int,
    limit: float = 0.0,
    as_plain: bool = False,
) -> tuple[np.ndarray, list[np.ndarray], list[Forfeit]]:
    """Rows of one match, its steps a round, int64 [n, 3] of (step, seat, card), its forfeit."""
    size = _FIRST_TRACE
    while True:
        trace = np.full((size, 3), engine.NO_STEP, dtype=np.int64)
        forfeits: list[Forfeit] = []
        chunks = play_chunks(
            bots,
            rules,
            seed,
            pair,
            pair + 1,
            mirrored=leg == 1,
            trace=trace,
            limit=limit,
            forfeits=forfeits,
            as_plain=[pair] if as_plain else [],
        )
        rows = np.concatenate([np.array(chunk) for chunk in chunks])
        used = int(np.argmax(trace[:, 0] == engine.NO_STEP))
        if used + 2 < size:  # a full trace may lack steps
            break
        size *= 8
    steps = trace[:used]
    starts = np.flatnonzero(steps[:, 0] == engine.DEAL)
    own = [explained(bots, rules, seed, one) for one in forfeits if one.leg == leg]
    return rows[rows["leg"] == leg], np.split(steps, starts)[1:], own


def rebuild(
    deck: Sequence[Card], starter: int, steps: np.ndarray
) -> tuple[list[dict[str, Any]], list[Hand]]:
    """Turns of a round as JSON, seats unnamed, and both final hands."""
    hands = [hand_of(deck[starter ^ seat : 20 : 2]) for seat in range(2)]
    turns: list[dict[str, Any]] = []
    number = 0
    for step, seat, card in steps.tolist():
        if step == engine.PASS:
            turns.append({"turn": None, "seat": seat, "action": "pass", "card": card_text(card)})
        elif step in (engine.TAKE, engine.STOCK_DRAW):
            number += 1
            hands[seat] |= 1 << card
            action = "take" if step == engine.TAKE else "draw"
            turns.append({"turn": number, "seat": seat, "action": action, "card": card_text(card)})
        elif step == engine.REFUSED_THROW:
            turns[-1]["illegal"] = card_text(card) if 0 <= card <= engine.LAST_CARD else card
            turns[-1] |= _hand_state(hands[seat])
        elif step == engine.GAVE_UP:
            if card in (OFFER, DRAW):
                turns.append({"turn": None, "seat": seat, "action": "give_up", "card": None})
            turns[-1] |= _hand_state(hands[seat]) | {"out": "give_up"}
        elif step in (engine.THROW, engine.KNOCK_THROW, engine.DECLARE_BIG):
            if step != engine.DECLARE_BIG:
                hands[seat] &= ~(1 << card)
                turns[-1]["throw"] = card_text(card)
            turns[-1] |= _hand_state(hands[seat])
            if step != engine.THROW:
                turns[-1]["out"] = "knock" if step == engine.KNOCK_THROW else "big_gin"
    return turns, hands


def _hand_state(hand: Hand) -> dict[str, Any]:
    """Cards after a turn: melds, loose cards, deadwood."""
    melds, loose = best_melds(hand)
    return {
        "hand": card_list(hand),
        "melds": [text(meld) for meld in melds],
        "loose": card_list(loose),
        "deadwood": int(deadwood(hand)),
    }


def replay(
    bots: tuple[Bot, Bot],
    rules: Rules,
    seed: int,
    where: Where,
    limit: float = DECISION_LIMIT,
    as_plain: bool = False,
) -> dict[str, Any]:
    """One round as JSON: who, the deck, both hands, every turn, the settlement, the row.

    ``deck`` is in draw order, the starter's cards at 0, 2, .. 18. A plain bot has *limit*
    seconds for a decision, as in a tournament; with *as_plain* a compiled one from a file is
    played as such, for it may hang. Raises GinsimError if the match has no such
    round.
    """
    rows, rounds, forfeits = traced_match(bots, rules, seed, where.pair, where.leg, limit, as_plain)
    if not 0 <= where.round_ < len(rows):
        raise GinsimError(
            f"--round {where.round_}: pair {where.pair}, leg {where.leg} has rounds "
            f"0..{len(rows) - 1}"
        )
    row = rows[where.round_]
    starter = int(row["starter"])
    deck = deck_of(seed, where.pair, where.round_, starter)
    turns, hands = rebuild(deck, starter, rounds[where.round_])
    names = [bot.name for bot in (bots if where.leg == 0 else bots[::-1])]
    for turn in turns:
        turn["bot"] = names[turn["seat"]]
    scores = [int(row["score_before_0"]), int(row["score_before_1"])]
    end = _end(row, hands)
    record = {
        "rules": to_dict(rules),
        "seed": seed,
        "pair": where.pair,
        "leg": where.leg,
        "round": where.round_,
        "seats": names,
        "starter": starter,
        "scores_before": scores,
        "deck": [card_text(card) for card in deck],
        "dealt": [card_list(hand_of(deck[starter ^ seat : 20 : 2])) for seat in range(2)],
        "upcard": card_text(deck[20]),
        "turns": turns,
        "hands": [card_list(hand) for hand in hands],
        "end": end,
        "scores_after": _scores_after(row, scores),
        "row": {name: int(row[name]) for name in row.dtype.names or ()},
    }
    if end["outcome"] == "forfeit" and forfeits:
        failure = forfeits[0].failure
        end |= {"reason": failure.reason, "what": failure.what, "asked": failure.asked}
    return record | {"finished": finished(record)}


def _scores_after(row: Any, before: Sequence[int]) -> list[int]:
    after = list(before)
    if row["winner"] >= 0:
        after[row["winner"]] += int(row["points"])
    return after


def _end(row: Any, hands: Sequence[Hand]) -> dict[str, Any]:
    """How the round ended: outcome, and the settlement of a knock."""
    end: dict[str, Any] = {
        "outcome": OUTCOMES[row["outcome"]],
        "dead_reason": DEAD_REASONS[row["dead_reason"]] if row["dead_reason"] >= 0 else None,
        "winner": int(row["winner"]) if row["winner"] >= 0 else None,
        "points": int(row["points"]),
    }
    if row["knocker"] < 0:
        return end
    sets, runs, laid = (int(row[name]) for name in ("spread_sets", "spread_runs", "layoffs"))
    knocker = int(row["knocker"])
    melds, loose = best_melds(hands[1 - knocker] & ~laid)
    return end | {
        "knocker": knocker,
        "spread": [text(meld) for meld in melds_of(sets, runs)],
        "knocker_loose": card_list(hands[knocker] & ~(sets | runs)),
        "knocker_deadwood": int(row["knock_deadwood"]),
        "layoffs": [card_text(card) for card in lay_off_order(laid, sets, runs)],
        "defender_melds": [text(meld) for meld in melds],
        "defender_loose": card_list(loose),
        "defender_deadwood_before": int(row["defender_deadwood_before"]),
        "defender_deadwood": int(row["defender_deadwood"]),
    }


def _actions(turns: Sequence[Mapping[str, Any]]) -> list[str]:
    """Actions of a round: pass, or take or draw and then the card thrown (or big_gin)."""
    actions: list[str] = []
    for turn in turns:
        if turn["action"] != "give_up":
            actions.append(turn["action"])
        if "throw" in turn:
            actions.append(turn["throw"])
        elif turn.get("out") == "big_gin":
            actions.append("big_gin")
    return actions


def finished(record: Mapping[str, Any]) -> dict[str, Any]:
    """*record* (``replay``) as a finished hand, the form that ``ginsim verify`` referees."""
    end, deck = record["end"], list(record["deck"])
    if record["starter"] == 1:  # there the cards at 0, 2, .. 18 are player 0's
        deck[:20] = [card for two in range(0, 20, 2) for card in (deck[two + 1], deck[two])]
    hand: dict[str, Any] = {
        "id": f"seed {record['seed']} pair {record['pair']} leg {record['leg']} "
        f"round {record['round']}",
        "starter": record["starter"],
        "deck": deck,
        "actions": _actions(record["turns"]),
        "hands": record["hands"],
        "type": "draw" if end["outcome"] == "dead" else end["outcome"],
        "winner": end["winner"],
        "points": end["points"],
    }
    if "knocker" in end:
        hand |= {
            "knocker": end["knocker"],
            "knock_melds": [meld.split() for meld in end["spread"]],
            "layoffs": [[card, None] for card in end["layoffs"]],
            "opp_melds": [meld.split() for meld in end["defender_melds"]],
            "knock_dw": end["knocker_deadwood"],
            "opp_dw_before": end["defender_deadwood_before"],
            "opp_dw": end["defender_deadwood"],
        }
    return hand


def logged_row(run: Place, plan: Plan, matchup: str, where: Where) -> dict[str, int]:
    """Row of the log as the engine wrote it, seats and not names."""
    block = where.pair // plan.block_size()
    part = parts_by_block(plan, run).get(block)
    if part is None:
        path = records.part_path(run, block)
        raise GinsimError(f"{path}: is missing; finish the run with --resume {run}")
    try:
        table = records.read_block(part, block).table
    except GinsimError:
        raise GinsimError(f"{part.path}: is torn; play it again with --resume {run}") from None
    table = table.filter(
        (pc.field("pair") == where.pair)
        & (pc.field("leg") == where.leg)
        & (pc.field("round") == where.round_)
        & (pc.field("matchup") == matchup)
    )
    if len(table) != 1:
        raise GinsimError(f"{run}: has no round {where} of {matchup}")
    rows = next(iter(records.from_table(table, [bot.name for bot in plan.bots()]).values()))
    return {name: int(rows[0][name]) for name in rows.dtype.names or ()}


def run_matchup(run: Place, matchup: str | None) -> tuple[Plan, int]:
    """Plan of *run*, and which of its matchups is meant; None if there is only one."""
    manifest = records.read_json(run / MANIFEST)
    plan = plan_of(manifest, run / MANIFEST)
    check_same(manifest, plan, run)
    names = plan.matchup_names()
    if matchup is None and len(names) > 1:
        raise GinsimError(f"{run}: has {len(names)} matchups; add --matchup {names[0]!r} or so")
    if matchup is not None and matchup not in names:
        raise GinsimError(f"--matchup {matchup!r}: {run} has {', '.join(names)}")
    return plan, names.index(matchup) if matchup else 0


def replay_logged(run: Place, matchup: str | None, where: Where) -> dict[str, Any]:
    """``replay`` of a round of a run; raises GinsimError if its row comes out otherwise."""
    plan, at = run_matchup(run, matchup)
    legs = 2 if plan.mirrored else 1
    if not 0 <= where.pair < plan.pairs or not 0 <= where.leg < legs:
        raise GinsimError(
            f"pair {where.pair}, leg {where.leg}: {run} has pairs 0..{plan.pairs - 1}, "
            f"legs 0..{legs - 1}"
        )
    a, b = plan.matchups()[at]
    bots = plan.bots()
    as_plain = (plan.matchup_names()[at], where.pair) in plan.as_plain
    both = bots[a], bots[b]
    record = replay(both, plan.rules, plan.seed, where, plan.decision_limit, as_plain)
    logged = logged_row(run, plan, plan.matchup_names()[at], where)
    if logged != record["row"]:
        odd = next(name for name in logged if logged[name] != record["row"][name])
        raise GinsimError(
            f"{run}: {where} has {odd} {logged[odd]} in the log and {record['row'][odd]} in "
            "the replay: the log was not written by this engine and these bots, or one of them "
            "is not deterministic or was too slow (see --decision-limit)"
        )
    return record


def hand_record(record: Mapping[str, Any]) -> str:
    """*record* (``replay``) as text: one line a turn, melds in brackets."""
    seats, before, after = record["seats"], record["scores_before"], record["scores_after"]
    width = max(len(name) for name in seats)
    lines = [
        f"seed {record['seed']}, pair {record['pair']}, leg {record['leg']}, "
        f"round {record['round']}: {seats[0]} v {seats[1]}, {before[0]}-{before[1]}",
        f"{seats[1 - record['starter']]} deals, {seats[record['starter']]} starts, "
        f"upcard {record['upcard']}",
    ]
    for seat, name in enumerate(seats):
        state = _hand_state(parse(" ".join(record["dealt"][seat])))
        lines.append(f"    {name:<{width}}  {_marked(state):<44} {state['deadwood']:>3}")
    lines += [_turn_line(turn, width) for turn in record["turns"]]
    lines += _end_lines(record)
    lines.append(f"score {seats[0]} {after[0]}, {seats[1]} {after[1]}")
    return "\n".join(lines)


def _marked(state: Mapping[str, Any]) -> str:
    """Cards with their melds in brackets."""
    return " ".join([*(f"[{meld}]" for meld in state["melds"]), *state["loose"]])


def _turn_line(turn: Mapping[str, Any], width: int) -> str:
    """One turn: number, who, drawn from where, thrown, the hand after, its deadwood."""
    if turn["action"] == "pass":
        return f"    {turn['bot']:<{width}}  passes {turn['card']}"
    if turn["action"] == "give_up":
        return f"    {turn['bot']:<{width}}  has no answer"
    verb = "takes" if turn["action"] == "take" else "draws"
    line = f"{turn['turn']:>3} {turn['bot']:<{width}}  {verb} {turn['card']}"
    if "illegal" in turn:
        return f"{line}, throws {turn['illegal']}, which is not legal"
    if turn.get("out") == "give_up" and "throw" not in turn:
        line += ", has no answer"
    elif "throw" in turn:
        line += f", {'knocks with' if turn.get('out') else 'throws'} {turn['throw']}"
    else:
        line += ", big gin"
    return f"{line:<{width + 36}} {_marked(turn):<44} {turn['deadwood']:>3}"


def _end_lines(record: Mapping[str, Any]) -> list[str]:
    """Spread, layoffs and points; or why nobody scored."""
    end, seats = record["end"], record["seats"]
    if end["outcome"] == "dead":
        why = {"stock": "the stock ran out", "turn_limit": "the turn limit was reached"}
        return [f"dead hand: {why[end['dead_reason']]}"]
    if end["outcome"] == "forfeit":
        lines = [f"{seats[1 - end['winner']]} forfeits the match to {seats[end['winner']]}"]
        if end.get("what"):
            lines += [f"{end['reason']}: {end['what']}, asked for {end['asked']}"]
        return lines
    knocker, defender = seats[end["knocker"]], seats[1 - end["knocker"]]
    spread = " ".join(f"[{meld}]" for meld in end["spread"])
    lines = [f"{knocker} lays down {spread or 'no meld'}, {end['knocker_deadwood']} deadwood"]
    laid = f"lays off {' '.join(end['layoffs'])}, " if end["layoffs"] else ""
    melds = " ".join(f"[{meld}]" for meld in end["defender_melds"])
    lines.append(
        f"{defender} {laid}melds {melds or 'nothing'}, "
        f"{end['defender_deadwood']} deadwood ({end['defender_deadwood_before']} before layoffs)"
    )
    if end["winner"] is None:
        return [*lines, f"{end['outcome']}: nobody scores"]
    return [*lines, f"{end['outcome']}: {seats[end['winner']]} scores {end['points']}"]
