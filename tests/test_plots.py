"""Plots: what is drawn equals the summary, and can be read."""

import copy
import itertools
import json
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib

import matplotlib
import numpy as np
import pytest
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure

from ginsim import plots
from ginsim.errors import GinsimError
from ginsim.summary import ENDINGS, deadwood_labels
from ginsim.tally import TURN_BINS

LINE_PLOTS = ("undercut_by_deadwood", "knock_deadwood", "round_length")


def rate(value, low, high, weight):
    return {"value": value, "low": low, "high": high, "weight": weight}


NO_RATE = rate(None, None, None, 0)


def bot(name, rounds, endings, knocks, undercut, turns):
    """One bot as ``summary.bot_json`` writes it, without what no plot reads."""
    return {
        "name": name,
        "rounds": rounds,
        "endings": dict(zip(ENDINGS, endings, strict=True)),
        "deadwood": deadwood_labels(),
        "knocks_by_deadwood": knocks,
        "undercut_by_deadwood": undercut,
        "rounds_by_turns": turns,
    }


def matchup(first, second, value, low, high):
    """One matchup; the second bot wins what the first does not."""
    return {
        "first": first,
        "second": second,
        "first_metrics": {"matches_won": rate(value, low, high, 400)},
        "second_metrics": {"matches_won": rate(1 - value, 1 - high, 1 - low, 400)},
    }


def hand_made():
    """Summary of three bots, made up: 200 mirrored pairs of three matchups.

    ``eager`` knocks at anything, ``careful`` at little and has each kind of undercut rate: a
    usual one, one of 0 whose lower end is a rounding error above it (as Wilson's comes out),
    one without an interval, and ones on too few knocks; ``patient`` knocks only with gin.
    Each bot's endings add up to its rounds, and its knocks to gin, knock won and undercut
    suffered.
    """
    usual = [rate(d / 50, d / 50 - 0.01, d / 50 + 0.015, 50) for d in range(1, 11)]
    odd = [
        rate(0.1, 0.04, 0.16, 100),
        rate(0.0, 1e-19, 0.002, 40),
        rate(0.05, None, None, 30),
        rate(0.5, 0.0, 1.0, 29),
        *[rate(0.0, 0.0, 0.02, 1)] * 6,
    ]
    none = [rate(0.0, 0.0, 0.02, 300), *[NO_RATE] * 11]
    return {
        "rules": "classic",
        "pairs": 200,
        "mirrored": True,
        "seed": 7,
        "rounds": 3000,
        "bots": [
            bot(
                "eager",
                2000,
                (40, 400, 20, 10, 100, 1400, 30),
                [40, *[50] * 10, 0],
                [rate(0.0, 0.0, 0.02, 40), *usual, NO_RATE],
                [0, 500, 1000, 498, 1, 0, 1],
            ),
            bot(
                "careful",
                2000,
                (95, 200, 900, 5, 5, 700, 95),
                [95, 100, 40, 30, 29, *[1] * 6, 0],
                [rate(0.0, 0.0, 0.02, 95), *odd, NO_RATE],
                [0, 400, 1100, 500],
            ),
            bot(
                "patient",
                2000,
                (300, 0, 500, 200, 0, 600, 400),
                [300, *[0] * 11],
                none,
                [0, 0, 1000, 1000],
            ),
        ],
        "matchups": [
            matchup("eager", "careful", 0.25, 0.2, 0.3),
            matchup("eager", "patient", 0.4125, 0.3511, 0.4739),
            matchup("careful", "patient", 1.0, 0.981, 1.0),
        ],
    }


def crowd(bots):
    """Summary of as many bots, with long names and as much ink as there can be."""
    summary = hand_made()
    made = [copy.deepcopy(summary["bots"][at % 2]) for at in range(bots)]
    for at, one in enumerate(made):
        one["name"] = f"knock-at-{at}" if at % 4 else f"a-very-cautious-newcomer#{at}"
    summary["bots"] = made
    summary["matchups"] = [
        matchup(a["name"], b["name"], 0.999, 0.9951, 1.0)
        for a, b in itertools.combinations(made, 2)
    ]
    return summary


@pytest.fixture(scope="module")
def summary():
    return hand_made()


def caption_of(ax):
    """The text between title and axes: the one that names the seed."""
    (found,) = (text for text in ax.texts if "seed" in text.get_text())
    return found


def bot_lines(ax):
    """The curves with one marker a bot, in the legend's order."""
    if any(isinstance(container, ErrorbarContainer) for container in ax.containers):
        return [container.lines[0] for container in ax.containers]
    return [line for line in ax.get_lines() if line.get_marker() in plots.MARKERS]


def cells(ax):
    """Text of each cell of the matrix by (row, column)."""
    found = {}
    for text in ax.texts:
        if text is not caption_of(ax):
            x, y = text.get_position()
            found[int(y), int(x)] = text.get_text().split("\n")
    return found


# Win rates


def test_a_cell_holds_the_rows_wins_over_their_interval(summary):
    assert cells(plots.win_rate_matrix(summary)) == {
        (0, 1): ["25.0", "20.0\u201330.0"],
        (1, 0): ["75.0", "70.0\u201380.0"],
        (0, 2): ["41.2", "35.1\u201347.4"],
        (2, 0): ["58.8", "52.6\u201364.9"],
        (1, 2): ["100.0", "98.1\u2013100.0"],
        (2, 1): ["0.0", "0.0\u20131.9"],
    }


def test_rows_and_columns_are_the_bots_from_the_top_left(summary):
    ax = plots.win_rate_matrix(summary)
    order = ["eager", "careful", "patient"]
    assert [label.get_text() for label in ax.get_yticklabels()] == order
    assert [label.get_text() for label in ax.get_xticklabels()] == order
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_colours_are_centred_on_half_and_the_diagonal_is_blank(summary):
    (mesh,) = plots.win_rate_matrix(summary).collections
    assert (mesh.norm.vmin, mesh.norm.vmax) == (0, 100)
    shown = mesh.get_array().reshape(3, 3)
    assert np.array_equal(np.ma.getmaskarray(shown), np.eye(3, dtype=bool))
    assert np.allclose(shown.compressed(), [25, 41.25, 75, 100, 58.75, 0])


def test_the_colour_bar_says_what_and_in_which_unit(summary):
    ax = plots.win_rate_matrix(summary)
    (bar,) = (other for other in ax.figure.axes if other is not ax)
    assert bar.get_ylabel() == "matches won by the bot of the row (%)"


def test_a_rate_without_an_interval_stands_alone(summary):
    lone = copy.deepcopy(summary)
    lone["matchups"][0]["first_metrics"]["matches_won"] = rate(0.5, None, None, 2)
    assert cells(plots.win_rate_matrix(lone))[0, 1] == ["50.0"]


# Undercuts


def test_undercut_points_and_error_bars_are_the_summarys(summary):
    ax = plots.undercut_by_deadwood(summary)
    for one, container in zip(summary["bots"], ax.containers, strict=True):
        line, _, (bars,) = container.lines
        drawn = {
            round(x): (y, *path.vertices[:, 1])
            for (x, y), path in zip(line.get_xydata(), bars.get_paths(), strict=True)
            if not np.isnan(y)
        }
        expected = {
            deadwood: [
                np.nan if r[key] is None else 100 * r[key] for key in ("value", "low", "high")
            ]
            for deadwood, r in enumerate(one["undercut_by_deadwood"])
            if deadwood and r["weight"] >= plots.MIN_KNOCKS
        }
        assert drawn.keys() == expected.keys()
        for deadwood, values in expected.items():
            assert drawn[deadwood] == pytest.approx(values, abs=1e-9, nan_ok=True)


def test_gin_and_rates_on_few_knocks_are_left_out_and_it_says_so(summary):
    ax = plots.undercut_by_deadwood(summary)
    _, careful, patient = bot_lines(ax)
    assert [round(x) for x, y in careful.get_xydata() if not np.isnan(y)] == [1, 2, 3]
    assert np.isnan(patient.get_ydata()).all()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["eager", "careful", "patient (left out)"]
    assert "gin, which cannot be undercut" in caption_of(ax).get_text()
    assert f"fewer than {plots.MIN_KNOCKS} knocks" in caption_of(ax).get_text()
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(d) for d in range(1, 11)]


@pytest.mark.parametrize("bots", [2, 3, 12])
def test_points_are_dodged_within_their_deadwood(bots):
    xs = np.array([line.get_xdata() for line in bot_lines(plots.undercut_by_deadwood(crowd(bots)))])
    assert (np.abs(xs - np.arange(1, 11)) < 0.4).all()
    assert (np.diff(xs, axis=0) > 0.05).all()


def test_an_undercut_plot_with_too_little_to_show_says_so(summary):
    tiny = copy.deepcopy(summary)
    for one in tiny["bots"]:
        one["undercut_by_deadwood"] = [rate(0.5, None, None, 2)] * 11 + [NO_RATE]
    ax = plots.undercut_by_deadwood(tiny)
    assert any("no bot knocked 30 times" in text.get_text() for text in ax.texts)
    assert ax.get_ylim() == (0, 100)


# Endings


def test_endings_are_styled_for_every_key_of_the_summary():
    assert list(plots.ENDING_STYLE) == list(ENDINGS)


def test_segments_are_the_endings_in_order_and_fill_the_bar(summary):
    ax = plots.ending_mix(summary)
    stacks = [c for c in ax.containers if isinstance(c, BarContainer)]
    assert [stack.get_label() for stack in stacks] == list(ENDINGS)
    for at, one in enumerate(summary["bots"]):
        bars = [stack[at] for stack in stacks]
        expected = [100 * count / one["rounds"] for count in one["endings"].values()]
        assert [bar.get_width() for bar in bars] == pytest.approx(expected)
        assert [bar.get_x() for bar in bars] == pytest.approx(np.cumsum([0, *expected])[:-1])
        assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(100)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["eager", "careful", "patient"]


def test_wide_segments_carry_their_number_and_narrow_ones_none(summary):
    ax = plots.ending_mix(summary)
    numbers = [t for t in ax.texts if t is not caption_of(ax)]
    eager = [t.get_text() for t in numbers if t.get_position()[1] == 0]
    assert eager == ["20.0", "5.0", "70.0"]
    ax.figure.draw_without_rendering()
    bars = [bar.get_window_extent() for stack in ax.containers for bar in stack]
    for number in numbers:
        box = number.get_window_extent()
        assert any(b.x0 < box.x0 and box.x1 < b.x1 and b.y0 < box.y0 < b.y1 for b in bars)


def test_rounds_in_no_ending_are_shown_beside_the_dead_ones(summary):
    tied = copy.deepcopy(summary)
    tied["bots"][0]["rounds"] += 500
    ax = plots.ending_mix(tied)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[3:6] == ["dead", "tie or forfeit", "undercut suffered"]
    assert [bar.get_width() for bar in ax.containers[4]] == pytest.approx([20, 0, 0])


def test_endings_differ_in_grey():
    """Any two differ in hatch or clearly in lightness."""
    styles = [*plots.ENDING_STYLE.values(), plots.UNSCORED_STYLE]
    for (one, hatch), (other, other_hatch) in itertools.combinations(styles, 2):
        greys = [np.dot(matplotlib.colors.to_rgb(c), [0.299, 0.587, 0.114]) for c in (one, other)]
        assert hatch != other_hatch or abs(greys[0] - greys[1]) > 0.1


# Distributions


def test_knock_curves_are_shares_of_the_bots_knocks(summary):
    ax = plots.knock_deadwood(summary)
    for one, line in zip(summary["bots"], bot_lines(ax), strict=True):
        knocks = one["knocks_by_deadwood"]
        assert list(line.get_xdata()) == list(range(11))
        assert line.get_ydata() == pytest.approx([100 * n / sum(knocks) for n in knocks[:11]])
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["0\n(gin)", *(str(d) for d in range(1, 11))]


def test_deadwood_above_ten_is_shown_only_where_somebody_knocked_so(summary):
    higher = copy.deepcopy(summary)
    higher["bots"][0]["knocks_by_deadwood"][11] = 60
    higher["bots"][0]["undercut_by_deadwood"][11] = rate(0.3, 0.2, 0.4, 60)
    for draw in (plots.knock_deadwood, plots.undercut_by_deadwood):
        assert draw(higher).get_xticklabels()[-1].get_text() == "11+"
        assert draw(summary).get_xticklabels()[-1].get_text() == "10"
    assert bot_lines(plots.undercut_by_deadwood(higher))[0].get_ydata()[-1] == pytest.approx(30)


def test_a_scale_that_is_not_linear_is_named(summary):
    squeezed = plots.knock_deadwood(summary)
    assert squeezed.get_yscale() == "function"
    assert squeezed.get_ylabel().endswith("square-root scale")
    plain = plots.knock_deadwood(crowd(2))
    assert plain.get_yscale() == "linear"
    assert "scale" not in plain.get_ylabel()


def test_a_bot_that_never_knocks_is_named_as_such(summary):
    idle = copy.deepcopy(summary)
    idle["bots"][2]["knocks_by_deadwood"] = [0] * 12
    ax = plots.knock_deadwood(idle)
    assert ax.get_legend().get_texts()[2].get_text() == "patient (no knocks)"
    assert np.isnan(bot_lines(ax)[2].get_ydata()).all()


def test_round_lengths_are_shares_cut_where_999_in_1000_rounds_of_each_bot_have_ended(summary):
    ax = plots.round_length(summary)
    for one, line in zip(summary["bots"], bot_lines(ax), strict=True):
        turns = one["rounds_by_turns"][:4]
        assert list(line.get_xdata()) == [0, 1, 2, 3]
        assert line.get_ydata() == pytest.approx([100 * n / one["rounds"] for n in turns])
    assert ax.get_xlim() == (0, 3.5)
    note = "beyond 3 turns, not shown: at most 0.1 % of a bot's rounds, the longest of 6"
    assert caption_of(ax).get_text().endswith(note)


def test_the_last_bin_of_turns_is_open(summary):
    endless = copy.deepcopy(summary)
    endless["bots"][0]["rounds_by_turns"] += [0] * (TURN_BINS - 8) + [1]
    assert "the longest of 201 or more" in caption_of(plots.round_length(endless)).get_text()


def test_no_note_where_nothing_is_cut(summary):
    short = summary | {"bots": summary["bots"][1:]}
    assert "beyond" not in caption_of(plots.round_length(short)).get_text()


# What all plots share


@pytest.mark.parametrize("name", plots.PLOTS)
def test_titles_captions_and_units(name, summary):
    ax = plots.PLOTS[name](summary)
    assert ax.get_title(loc="left")
    caption = caption_of(ax).get_text()
    assert "200 mirrored pairs a matchup, 3,000 rounds in all, seed 7" in caption
    assert ("95 % intervals, clustered by pair" in caption) == (
        name in ("win_rate_matrix", "undercut_by_deadwood")
    )
    units = {
        "win_rate_matrix": ("(column)", "(row)"),
        "undercut_by_deadwood": ("(points)", "(%)"),
        "ending_mix": ("(%)", "bot"),
        "knock_deadwood": ("(points)", "(%)"),
        "round_length": ("turns", "(%)"),
    }[name]
    assert units[0] in ax.get_xlabel()
    assert units[1] in ax.get_ylabel()


def test_a_caption_warns_of_few_pairs_and_tells_unmirrored_ones(summary):
    small = summary | {"pairs": 1, "mirrored": False}
    caption = caption_of(plots.win_rate_matrix(small)).get_text()
    assert "1 unmirrored pair a matchup" in caption
    assert "rough: fewer than 30 pairs" in caption


def test_a_bot_has_one_colour_and_marker_in_all_plots_and_shares_it_with_none():
    twelve = crowd(12)
    looks = [
        [
            (line.get_color(), line.get_marker(), line.get_linestyle())
            for line in bot_lines(plots.PLOTS[name](twelve))
        ]
        for name in LINE_PLOTS
    ]
    assert looks[0] == looks[1] == looks[2]
    assert len({(colour, line) for colour, _, line in looks[0]}) == 12
    assert len({marker for _, marker, _ in looks[0]}) == 12
    for name in LINE_PLOTS:
        legend = plots.PLOTS[name](twelve).get_legend()
        assert [text.get_text().removesuffix(" (left out)") for text in legend.get_texts()] == [
            plots.shown(one["name"]) for one in twelve["bots"]
        ]


@pytest.mark.parametrize("name", plots.PLOTS)
def test_a_plot_draws_on_the_axes_it_is_given(name, summary):
    figure = Figure(figsize=(9, 5))
    ax, other = figure.subplots(1, 2)
    assert plots.PLOTS[name](summary, ax=ax) is ax
    assert ax.figure is figure
    assert not other.has_data()


def test_names_are_shown_as_they_are(summary):
    named = copy.deepcopy(summary)
    for one, name in zip(named["bots"], ("_hidden", "a$b$c", "two\nlines"), strict=True):
        one["name"] = name
    ax = plots.round_length(named)
    ax.figure.draw_without_rendering()
    texts = ax.get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["_hidden", r"a\$b\$c", "two lines"]
    # Mathtext would set the second in italics and drop its dollars: it would be narrower.
    plain = ax.figure.text(0, 0, "a$b$c", parse_math=False, fontsize=texts[1].get_fontsize())
    assert texts[1].get_window_extent().width == pytest.approx(plain.get_window_extent().width)


def overlap(one, other):
    """Pixels by which two boxes overlap, in the direction where it is less."""
    return min(
        min(one.x1, other.x1) - max(one.x0, other.x0),
        min(one.y1, other.y1) - max(one.y0, other.y0),
    )


@pytest.mark.parametrize("bots", [2, 4, 12])
@pytest.mark.parametrize("name", plots.PLOTS)
def test_all_can_be_read(name, bots):
    """Nothing is cut off, and no text hides another or the data."""
    ax = plots.PLOTS[name](crowd(bots))
    figure = ax.figure
    figure.draw_without_rendering()

    whole, inch = figure.bbox, figure.get_tightbbox()
    assert inch.x0 >= 0
    assert inch.y0 >= 0
    assert inch.x1 * figure.dpi <= whole.width
    assert inch.y1 * figure.dpi <= whole.height

    caption, frame = caption_of(ax).get_window_extent(), ax.get_window_extent()
    title = ax._left_title.get_window_extent()  # no public way to a title set at the left
    for box in (caption, title):
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
    assert overlap(title, caption) < 0
    assert overlap(caption, frame) < 0
    assert frame.width > 0.4 * whole.width
    assert frame.height > 0.4 * whole.height

    if ax.get_legend():
        legend = ax.get_legend().get_window_extent()
        assert overlap(legend, frame) < 0
        assert overlap(legend, caption) < 0
        assert legend.y0 >= 0

    inside = [text.get_window_extent() for text in ax.texts if text is not caption_of(ax)]
    for one, other in itertools.combinations(inside, 2):
        assert overlap(one, other) < 0
    rows = [label.get_window_extent() for label in ax.get_yticklabels()]
    columns = [label.get_window_extent() for label in ax.get_xticklabels()]
    if not ax.get_xticklabels()[0].get_rotation():
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(columns))
    for one, other in itertools.pairwise(rows):
        assert overlap(one, other) < 0


# Files


def png_chunks(content):
    """Yield (kind, data) of each chunk of a PNG; its check sums must be right."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(content):
        size, kind = struct.unpack(">I4s", content[at : at + 8])
        data = content[at + 8 : at + 8 + size]
        (check,) = struct.unpack(">I", content[at + 8 + size : at + 12 + size])
        assert zlib.crc32(kind + data) == check
        yield kind, data
        at += 12 + size


@pytest.fixture(scope="module")
def saved(summary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "plots"
    return folder, plots.save_plots(summary, folder)


def test_every_plot_is_saved_in_both_formats(saved):
    folder, files = saved
    names = [f"{name}.{kind}" for name in plots.PLOTS for kind in ("png", "svg")]
    assert [file.name for file in files] == names
    assert sorted(file.name for file in folder.iterdir()) == sorted(names)


def test_pngs_are_whole_and_fine_enough(saved):
    for file in saved[1]:
        if file.suffix == ".png":
            chunks = dict(png_chunks(file.read_bytes()))
            assert "IEND" in {kind.decode() for kind in chunks}
            per_metre, _, unit = struct.unpack(">IIB", chunks[b"pHYs"])
            assert unit == 1
            assert per_metre * 0.0254 >= 150


def test_svgs_are_pictures(saved):
    for file in saved[1]:
        if file.suffix == ".svg":
            root = ET.parse(file).getroot()
            assert root.tag == "{http://www.w3.org/2000/svg}svg"
            assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 10


def test_the_same_summary_gives_the_same_bytes_whatever_the_users_settings(
    saved, summary, tmp_path
):
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.fonttype": "none"}):
        before = list(dict.items(matplotlib.rcParams))
        again = plots.save_plots(summary, tmp_path)
        assert list(dict.items(matplotlib.rcParams)) == before
    for one, other in zip(saved[1], again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_plots_leave_settings_alone_and_need_no_pyplot(summary):
    # dict.items: reading the entry of the backend would itself load pyplot.
    code = (
        "import json, sys, matplotlib; before = list(dict.items(matplotlib.rcParams))\n"
        "from ginsim.plots import ending_mix; ending_mix(json.loads(sys.argv[1]))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert list(dict.items(matplotlib.rcParams)) == before"
    )
    subprocess.run([sys.executable, "-c", code, json.dumps(summary)], check=True)


def test_a_folder_that_cannot_be_written_is_one_clear_line(summary, tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    with pytest.raises(GinsimError, match=r"win_rate_matrix\.png: cannot be written") as caught:
        plots.save_plots(summary, file / "plots")
    assert "\n" not in str(caught.value)
    assert file.read_text() == "in the way"
