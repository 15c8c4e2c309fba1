"""Rules: each row of the preset table in design.md, overrides, and the written form."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ginsim.errors import GinsimError
from ginsim.rules import (
    FIELDS,
    PRESETS,
    Rules,
    check,
    describe,
    from_dict,
    preset,
    resolve,
    to_dict,
    winning_score,
    with_overrides,
)

many = settings(deadline=None, max_examples=200)


def values_of(field: str) -> st.SearchStrategy[int]:
    kind = FIELDS[field]
    return (
        st.integers(0, len(kind.choices) - 1) if kind.choices else st.integers(kind.low, kind.high)
    )


def playable(rules: Rules) -> bool:
    """The one pair of fields that may not stand together (see the test of its refusal)."""
    return not rules.oklahoma_ace or bool(rules.oklahoma)


any_rules = st.builds(Rules, **{name: values_of(name) for name in FIELDS}).filter(playable)


def unlike_classic(name: str) -> dict[str, object]:
    """Fields of preset *name* that differ from classic, as users write them."""
    classic = to_dict(preset("classic"))
    return {
        field: value for field, value in to_dict(preset(name)).items() if value != classic[field]
    }


# --- presets: the table of design.md, a test a row ---


def test_classic_offers_the_upcard_and_leaves_two_cards_in_the_stock():
    expected = {
        "upcard": "offered",
        "stock_end": 2,
        "next_starter": "loser",  # the winner deals
        "big_gin": "no",
        "match_end": "target",
        "target": 100,
        "discard_taken": "no",
        "knock_taken": "no",
        # Rules common to all presets, and the stop
        "knock_limit": 10,
        "gin_bonus": 25,
        "undercut_bonus": 25,
        "tie": "undercut",
        "oklahoma": "no",
        "turn_limit": 200,
    }
    written = to_dict(preset("classic"))
    assert {field: written[field] for field in expected} == expected


def test_classic_is_the_default():
    assert preset("classic") == Rules()


def test_frapper_opens_the_pile_and_plays_the_stock_to_its_end():
    assert unlike_classic("frapper") == {"upcard": "opens", "stock_end": 0}


def test_big_gin_opens_the_pile_and_lets_eleven_melded_cards_score_31():
    assert unlike_classic("big-gin") == {"upcard": "opens", "big_gin": "yes"}
    assert preset("big-gin").big_gin_bonus == 31


def test_tutorial_opens_the_pile():
    assert unlike_classic("tutorial") == {"upcard": "opens"}


def test_table_is_one_scored_round_whose_first_starter_is_drawn_and_then_changes():
    assert unlike_classic("table") == {
        "upcard": "opens",
        "next_starter": "alternates",
        "match_end": "scored-round",
    }
    assert to_dict(preset("table"))["first_starter"] == "drawn"


def test_table_may_be_played_to_100():
    rules = resolve("table", ["match_end=target"])
    assert (to_dict(rules)["match_end"], rules.target) == ("target", 100)


def test_eaai_lets_the_starter_alternate_and_undercuts_on_ties():
    assert unlike_classic("eaai") == {"next_starter": "alternates"}
    assert to_dict(preset("eaai"))["tie"] == "undercut"


def test_openspiel_is_one_round_from_player_0_in_which_ties_score_nothing():
    changed = unlike_classic("openspiel")
    changed.pop("next_starter", None)  # there is no next round
    assert changed == {
        "first_starter": "seat0",
        "match_end": "round",
        "tie": "nothing",
        "discard_taken": "yes",
        "knock_taken": "yes",
    }


def test_there_are_seven_presets_and_each_can_be_played():
    names = ["classic", "frapper", "big-gin", "tutorial", "table", "eaai", "openspiel"]
    assert list(PRESETS) == names
    assert [check(preset(name)) for name in names] == [preset(name) for name in names]


# The columns of the table, and the cells that it marks with * (the source is silent).
COLUMNS = {"upcard", "stock_end", "next_starter", "big_gin", "match_end", "target"} | {
    "discard_taken",
    "knock_taken",
}
HOUSE = {"next_starter", "discard_taken", "knock_taken"}
STARRED = {
    "classic": set(),
    "frapper": HOUSE,
    "big-gin": HOUSE,
    "tutorial": HOUSE | {"stock_end"},
    "table": set(),
}


@pytest.mark.parametrize("name", STARRED)
def test_the_fields_on_which_the_source_is_silent_are_marked(name):
    assert PRESETS[name].ours & COLUMNS == STARRED[name]


def test_the_stops_are_marked_as_ours_in_every_preset():
    assert all({"turn_limit", "round_limit"} <= one.ours for one in PRESETS.values())


def test_marks_name_fields():
    assert all(one.ours <= set(FIELDS) for one in PRESETS.values())


def test_an_unknown_preset_is_refused_with_the_near_one_and_the_list():
    with pytest.raises(GinsimError, match=r"'clasic'; did you mean 'classic'.*openspiel"):
        preset("clasic")


# --- overrides ---


def test_a_knock_limit_above_ten_is_allowed():
    assert resolve("classic", ["knock_limit=12"]).knock_limit == 12


def test_an_override_changes_its_field_only():
    assert resolve("frapper", ["undercut_bonus=10"]) == preset("frapper")._replace(
        undercut_bonus=10
    )


def test_choices_are_overridden_by_name():
    rules = resolve("classic", ["oklahoma=yes", "oklahoma_ace=gin", "upcard=opens"])
    assert (rules.oklahoma, rules.oklahoma_ace, rules.upcard) == (1, 1, 1)


def test_blanks_around_an_override_do_not_matter():
    assert resolve("classic", [" knock_limit = 5 "]).knock_limit == 5


def test_of_two_overrides_of_a_field_the_last_holds():
    assert resolve("classic", ["target=50", "target=250"]).target == 250


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("target=-1", "target=-1: must be 1..10000"),
        ("target=0", "target=0: must be 1..10000"),
        ("knock_limit=101", "knock_limit=101: must be 0..100"),
        ("knock_limit=ten", "knock_limit=ten: write a whole number, 0..100"),
        ("knock_limit=5.5", "knock_limit=5.5: write a whole number"),
        ("knock_limit=", "knock_limit=: write a whole number"),
        ("upcard=maybe", "upcard=maybe: choose one of offered, opens"),
        ("big_gin=1", "big_gin=1: choose one of no, yes"),
        ("turn_limit=1", "turn_limit=1: must be 2..1000"),
        ("knock_limit", "'knock_limit': write knock_limit=VALUE"),
        ("knok_limit=5", "'knok_limit=5': write field=value .*did you mean 'knock_limit'"),
        ("chinchilla=5", "'chinchilla=5': write field=value with a field of `ginsim rules`$"),
        ("oklahoma_ace=gin", "oklahoma_ace=gin: has no effect without oklahoma=yes"),
    ],
)
def test_a_bad_override_is_refused_with_the_reason(override, reason):
    with pytest.raises(GinsimError, match=f"^{reason}") as refused:
        resolve("classic", [override])
    assert "\n" not in str(refused.value)


def test_the_fiftieth_card_variant_is_refused_by_name():
    # R41 of rules.jsonl: make the variant an option or refuse it by name.
    with pytest.raises(GinsimError, match=r"^wall: .*fiftieth card.*dead at once"):
        resolve("classic", ["wall=yes"])


# --- check ---


@pytest.mark.parametrize("field", FIELDS)
def test_a_value_outside_its_range_is_refused_by_field(field):
    kind = FIELDS[field]
    low, high = (0, len(kind.choices) - 1) if kind.choices else (kind.low, kind.high)
    for value in (low - 1, high + 1):
        with pytest.raises(GinsimError, match=rf"^{field}={value}: must be {low}\.\.{high}"):
            check(Rules()._replace(**{field: value}))


@pytest.mark.parametrize("value", [10.0, "10", True, None])
def test_a_value_that_is_no_int_is_refused(value):
    with pytest.raises(GinsimError, match=r"^knock_limit="):
        check(Rules()._replace(knock_limit=value))


@many
@given(any_rules)
def test_check_returns_rules_that_can_be_played(rules):
    assert check(rules) is rules


# --- the written form ---


def test_every_field_is_described_in_the_order_of_the_tuple():
    assert list(FIELDS) == list(Rules._fields)


@many
@given(any_rules)
def test_rules_read_back_from_their_dict_and_from_json(rules):
    assert from_dict(to_dict(rules)) == rules
    assert from_dict(json.loads(json.dumps(to_dict(rules)))) == rules


@many
@given(any_rules)
def test_every_field_written_as_an_override_gives_the_rules(rules):
    written = [f"{field}={value}" for field, value in to_dict(rules).items()]
    assert with_overrides(Rules(), written) == rules


@many
@given(any_rules)
def test_every_rule_is_one_sentence_that_shows_its_value(rules):
    for name, kind in FIELDS.items():
        value = getattr(rules, name)
        sentence = kind.say(value)
        assert sentence.endswith(".")
        assert "{" not in sentence
        assert kind.choices or str(value) in sentence


def test_two_choices_of_a_field_never_read_the_same():
    for kind in FIELDS.values():
        sentences = [kind.say(value) for value in range(len(kind.choices))]
        assert len(set(sentences)) == len(sentences)


def test_a_dict_with_a_field_missing_is_refused_by_field():
    written = to_dict(Rules())
    del written["tie"]
    with pytest.raises(GinsimError, match="'tie' is missing"):
        from_dict(written)


def test_a_dict_with_a_field_too_many_is_refused_by_field():
    with pytest.raises(GinsimError, match="'wild' is unknown"):
        from_dict(to_dict(Rules()) | {"wild": 1})


def test_a_dict_with_a_bad_value_is_refused_with_the_reason():
    with pytest.raises(GinsimError, match=r"^target=-1: must be 1\.\.10000"):
        from_dict(to_dict(Rules()) | {"target": -1})


# --- in words ---


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_described_by_its_name(name):
    assert describe(preset(name)) == name


@many
@given(any_rules)
def test_a_description_reads_back(rules):
    name, *overrides = describe(rules).split(", ")
    assert resolve(name, overrides) == rules


def test_a_description_names_the_nearest_preset():
    assert describe(resolve("frapper", ["knock_limit=5"])) == "frapper, knock_limit=5"


def test_the_winning_score_is_the_target_or_any_point_where_one_round_decides():
    assert winning_score(resolve("classic", ["target=250"])) == 250
    assert [winning_score(preset(name)) for name in ("table", "openspiel")] == [1, 1]
