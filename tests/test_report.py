"""The report of a run: what it says, that it stands alone, and that a browser shows it."""

import copy
import json
import os
import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ginsim import rules
from ginsim.cli import main
from ginsim.errors import GinsimError
from ginsim.plots import PLOTS
from ginsim.records import write_json
from ginsim.report import page_of, write_report
from ginsim.sprt import Sprt
from ginsim.summary import summary_of
from ginsim.sweep import CURVES
from ginsim.tournament import (
    Plan,
    manifest_of,
    prepare_folder,
    run_sequential,
    run_tournament,
    sequential_plan,
)
from ginsim.tournament_report import Run, chance, headline, p_equal, strongest

CHEAT = """
from ginsim import load
from ginsim.bots import Bot

normal = load("normal")
cheat = Bot("<b>ch</b> & $o$ \\"q\\"", normal.draw, lambda view: 0, normal.knock, jit=False)
"""


class Page(HTMLParser):
    """What a page holds: its elements, the text of its tables, and that tags are closed."""

    VOID = frozenset({"meta", "img", "link", "br", "input", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not data.strip() or "style" in self.open:
            return
        self.words.append(data.strip())
        if {"th", "td"} & set(self.open):
            self.rows[-1][-1] = f"{self.rows[-1][-1]} {data.strip()}".strip()


@pytest.fixture(scope="module")
def found(finished_run):
    """The small run's folder read for a report."""
    return Run(finished_run["manifest"], finished_run["summary"], finished_run["plan"])


@pytest.fixture(scope="module")
def html(finished_run):
    return page_of(finished_run["path"]).html()


def written_commands(folder):
    html = (folder / "report.html").read_text()
    commands = re.findall(r"<pre>(.*?)</pre>", html, re.DOTALL)[-1]
    return unescape(re.sub("<[^>]*>", "", commands)).strip().splitlines()


def with_results(run, wins, pairs=1000, width=0.03):
    """*run* of as many bots as *wins* has rows: wins[a][b] of its matches a won against b."""
    names = [bot["name"] for bot in run.summary["bots"]][: len(wins)]

    def rate(value):
        low, high = value - width, value + width
        if value in (0, 1):
            low, high = (0, 0.004) if value == 0 else (0.996, 1)
        return {"value": value, "low": low, "high": high, "weight": 2 * pairs}

    summary = copy.deepcopy(run.summary)
    summary |= {"pairs": pairs, "bots": summary["bots"][: len(wins)], "matchups": []}
    for a, name in enumerate(names):
        mean = sum(wins[a]) / (len(wins) - 1)
        summary["bots"][a]["metrics"]["matches_won"] = rate(mean)
        for b in range(a + 1, len(names)):
            summary["matchups"].append(
                {
                    "first": name,
                    "second": names[b],
                    "first_metrics": {"matches_won": rate(wins[a][b])},
                    "second_metrics": {"matches_won": rate(wins[b][a])},
                }
            )
    summary["ratings"]["bots"] = [
        {"name": name, "elo": 100 * sum(won), "low": None, "high": None}
        for name, won in zip(names, wins, strict=True)
    ]
    return Run(run.manifest, summary, run.plan)


def test_headline_names_the_strongest_and_its_closest_rival(found):
    wins = [[0, 0.4, 0.3], [0.6, 0, 0.45], [0.7, 0.55, 0]]
    first, second = headline(with_results(found, wins))
    assert first == "hard is the strongest of these 3 bots."
    assert "62.5 ±3.0 % of its matches" in second
    assert "55.0 ±3.0 % against normal" in second
    assert "(corrected for 2 comparisons)" in second


def test_headline_admits_what_it_cannot_tell(found):
    wins = [[0, 0.4, 0.3], [0.6, 0, 0.49], [0.7, 0.51, 0]]
    first, second, third = headline(with_results(found, wins))
    assert first == "hard leads, but this run cannot tell it from normal."
    # 0.01 off a half is 0.653 standard errors of 0.0153: two-sided 0.51.
    assert "with a chance of 51 %" in second
    # 2.8 standard errors are 0.01 when there are (2.8 / 0.653) ** 2 = 18.4 times the pairs.
    assert "a run of 19,000 pairs a matchup" in third


def test_headline_sees_that_strength_goes_in_circles(found):
    wins = [[0, 0.6, 0.1], [0.4, 0, 0.55], [0.9, 0.45, 0]]
    first, second = headline(with_results(found, wins))
    assert first == "hard has the highest rating of these 3 bots, but loses to normal."
    assert "not transitive" in second


def test_headline_of_two_and_of_equals(found):
    assert headline(with_results(found, [[0, 0.4], [0.6, 0]]))[0] == "normal is stronger than easy."
    equal = headline(with_results(found, [[0, 0.5], [0.5, 0]]))
    assert equal == ["All 2 bots came out exactly equal, each with half of its matches."]
    # A thousand pairs that all went one way are no rate without spread: certain all the same.
    assert "less than 1 in 1,000" in headline(with_results(found, [[0, 1], [0, 0]]))[1]


def test_several_comparisons_need_more_evidence(found):
    """3.1 points at ±3 are p = 0.043 alone, but three such rivals are 0.13 by Holm."""
    wins = [[0, 0.5, 0.5, 0.469], [0.5, 0, 0.5, 0.469], [0.5, 0.5, 0, 0.469], [0.531] * 3 + [0]]
    best, duels = strongest(with_results(found, wins).summary)
    assert best == "simple"
    assert [round(duel.p, 2) for duel in duels] == [0.13] * 3
    assert not any(duel.clear() for duel in duels)


def test_headline_warns_of_few_pairs_and_single_deals(found):
    run = with_results(found, [[0, 0.4], [0.6, 0]], pairs=20)
    run.summary["mirrored"] = False
    assert "not mirrored" in headline(run)[-1]
    assert "fewer than 30 pairs" in headline(run)[-1]


def test_chances():
    none = {"value": None, "low": None, "high": None}
    assert p_equal(none, 5) == 1
    assert p_equal({"value": 1.0, "low": 0.2, "high": 1.0}, 3) == 0.25  # as three tosses of a coin
    assert chance(0.05) == "5.0 %"


def test_the_page_holds_the_run(found, html):
    shown = Page(html)
    text = " ".join(shown.words)
    manifest, summary = found.manifest, found.summary
    assert html.count(summary["digest"]) == 2  # at the top, and among the digests
    assert manifest["commit"] in text
    assert "ginsim tournament easy normal hard simple --pairs 60 --seed 5" in text
    rows = {row[0]: row[1:] for row in shown.rows if len(row) == 7}
    won = summary["matchups"][0]["first_metrics"]["matches_won"]
    assert rows["easy"][1].split()[0] == f"{100 * won['value']:.1f}"
    assert rows["easy"][0] == ""
    for bot in manifest["bots"]:
        for knob, value in bot["parameters"].items():
            assert f"{knob}={value}" in text
    for name, kind in rules.FIELDS.items():
        assert kind.say(getattr(found.plan.rules, name)) in text


def test_every_plot_is_drawn_in_the_page_with_words_for_it(found, html):
    figures = [attributes for tag, attributes in Page(html).elements if tag == "figure"]
    assert len(figures) == len(PLOTS)
    for figure in figures:
        assert figure["role"] == "img"
        assert len(figure["aria-label"]) > 60
    assert html.count("<svg") == len(PLOTS)
    # Text stays text, so that it can be found and copied.
    assert re.search(r"<text[^>]*>How long rounds last</text>", html)
    assert not re.search(r"<path[^>]*DejaVu", html)


def test_plots_keep_their_colours_and_what_they_refer_to(html):
    """Each plot has ids of its own, and all that it refers to is there."""
    every = [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]
    ids = [element.get("id") for svg in every for element in svg.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for svg in every:
        own = {element.get("id") for element in svg.iter()}
        text = ET.tostring(svg, encoding="unicode")
        used = re.findall(r"url\(#([^)]*)\)", text) + re.findall(r'href="#([^"]*)"', text)
        assert set(used) <= own
        assert used
        for colour in re.findall(r'fill[=:] ?"?(#[^";]*)', text):
            assert re.fullmatch(r"#[0-9a-f]{6}", colour)


def test_the_page_stands_alone(html):
    assert not re.findall(r"https?:|//[a-z]+\.[a-z]+/", html)
    assert "@import" not in html
    tags = {tag for tag, _ in Page(html).elements}
    assert not tags & {"script", "link", "iframe", "object"}
    for _, attributes in Page(html).elements:
        for key in ("src", "href"):
            assert (attributes.get(key) or "#").startswith(("#", "data:image/png"))


def test_same_run_same_bytes_and_nothing_of_where_it_lay(finished_run, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(finished_run["path"], moved)
    first, _ = write_report(finished_run["path"], tmp_path / "first.html")
    second, _ = write_report(moved)
    assert second == moved / "report.html"
    assert first.read_bytes() == second.read_bytes()
    assert str(tmp_path) not in second.read_text()
    assert str(finished_run["path"].parent) not in second.read_text()


def play(plan, run, preset):
    """Play *plan* into *run* as the command does, without plots."""
    prepare_folder(run, overwrite=False)
    totals, _ = run_tournament(plan, run, manifest_of(plan, preset), jobs=1)
    write_json(run / "summary.json", summary_of(plan, totals))


@pytest.fixture(scope="module")
def odd_run(tmp_path_factory):
    """Two bots, one of an odd name that forfeits, under changed rules, not mirrored."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "cheat.py").write_text(CHEAT)
    chosen = rules.resolve("eaai", ["knock_limit=5"])
    plan = Plan((f"{folder / 'cheat.py'}:cheat", "easy"), chosen, 1, 3, mirrored=False)
    play(plan, folder / "run", "eaai")
    return folder / "run"


def test_a_run_with_forfeits_odd_names_and_no_plots(cli, odd_run):
    done = cli("report", odd_run, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["file"] == str(odd_run / "report.html")
    assert told["headline"][0].startswith("easy ")
    html = (odd_run / "report.html").read_text()
    assert not (odd_run / "plots").exists()
    assert html.count("<svg") == len(PLOTS)
    shown = Page(html)
    assert not [tag for tag, _ in shown.elements if tag == "b"]
    name = '<b>ch</b> & $o$ "q"'
    text = " ".join(shown.words)
    assert f"{name} forfeited 3 matches: illegal card" in text
    assert "some matches were forfeited" in text
    assert "ginsim replay RUN --matchup" in text
    # The command that plays it again names no folder of this machine.
    assert (
        "ginsim tournament cheat.py:cheat easy --pairs 3 --seed 1 --rules eaai "
        "--rule knock_limit=5 --no-mirror"
    ) in text
    assert str(odd_run.parent) not in html
    assert "SHA-256" in text
    values = {row[0]: row[1] for row in shown.rows if len(row) == 3}
    assert values["knock_limit"] == "5"


def test_a_sequential_run_reports_its_verdict(tmp_path):
    run, test = tmp_path / "seq", Sprt(0.45, 0.5)
    plan = sequential_plan(Plan(("random", "easy"), rules.preset("classic"), 1, 1000))
    prepare_folder(run, overwrite=False)
    kept, totals, _, _ = run_sequential(plan, run, manifest_of(plan, "classic"), test, jobs=1)
    write_json(run / "summary.json", summary_of(kept, totals))
    _, told = write_report(run)
    assert re.match(r"Decided after \d+ pairs .* random wins 0.45 of its matches", told[0])
    assert "biased" in told[1]
    assert written_commands(run)[-1].endswith("--pairs 1000 --seed 1 --sprt 0.45:0.5")


def test_an_old_report_goes_with_the_run_that_is_replaced(finished_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(finished_run["path"], run)
    write_report(run)
    prepare_folder(run, overwrite=True)
    assert not (run / "report.html").exists()


def test_what_is_no_finished_run_is_refused_in_one_line(finished_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(finished_run["path"], run, ignore=shutil.ignore_patterns("rounds"))
    manifest, summary = finished_run["manifest"], finished_run["summary"]

    def refused(why, **options):
        with pytest.raises(GinsimError, match=why) as error:
            write_report(run, **options)
        assert "\n" not in str(error.value)

    refused("is a folder", out=tmp_path)
    refused("there is no folder", out=tmp_path / "none" / "a.html")
    (run / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    refused(r"is not finished; go on with `ginsim tournament --resume")
    (run / "manifest.json").write_text(json.dumps(manifest | {"digest": "0"}))
    refused("of different runs")
    (run / "manifest.json").write_text(json.dumps(manifest))
    (run / "summary.json").write_text(json.dumps({"digest": summary["digest"]}))
    refused("not of a run of this version")
    (run / "summary.json").unlink()
    refused("has no summary.json")
    (run / "manifest.json").unlink()
    refused("cannot be read")
    assert not (run / "report.html").exists()


# Sweeps, knock charts and calibrations


def tuned_page(folder, kind):
    file, headline = write_report(folder / kind)
    html = file.read_text()
    shown = Page(html)
    assert not re.findall(r"https?:|//[a-z]+\.[a-z]+/", html)
    assert str(folder) not in html
    return shown, " ".join(shown.words), headline, html.count("<svg")


def test_report_of_a_sweep(tuned, tmp_path, monkeypatch, capsys):
    shown, _, told, plots = tuned_page(tuned, "sweep")
    summary = json.loads((tuned / "sweep" / "sweep.json").read_text())
    assert plots == len(CURVES)
    best = "late_limit=" + str(summary["best"][0])
    assert best in told[0]
    gain = summary.get("confirmed", {}).get("gain")
    assert (gain is None) == ("is at its best" in told[0])
    rows = [row for row in shown.rows if row[0].startswith("0")]
    won = [c["metrics"]["matches_won"]["value"] for c in summary["curves"] if c["setting"] == [0]]
    assert [row[1].split()[0] for row in rows] == [f"{100 * value:.1f}" for value in won]
    assert len(rows) == 3  # against either rival, and over both
    # The command that the page gives plays the same sweep again.
    command = next(line for line in written_commands(tuned / "sweep") if " sweep " in line)
    assert "--rules eaai --rule knock_limit=8" in command
    words = [*shlex.split(command), "--out", str(tmp_path / "again"), "--json"]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit, match="0"):
        main()
    again = json.loads(capsys.readouterr().out)["sweep"]
    assert again["digest"] == summary["digest"]
    assert again["confirmed"]["digest"] == summary["confirmed"]["digest"]


def test_report_of_a_knock_chart(tuned):
    _, _, told, plots = tuned_page(tuned, "chart")
    chart = json.loads((tuned / "chart" / "knock_chart.json").read_text())
    assert plots == 2
    assert told[0].startswith("Against easy, knocking at once surely pays at")
    sure = [c for c in chart["cells"] if c["score"] is None and c["advice"] in ("knock", "wait")]
    assert len(sure) > 3
    listed = re.findall(r"turn (\d+) with ([\d, and]+)", " ".join(told[1:]))
    assert {(int(t), int(d)) for t, found in listed for d in re.findall(r"\d+", found)} == {
        (cell["turn"], cell["deadwood"]) for cell in sure
    }
    (command,) = written_commands(tuned / "chart")
    assert command == (
        "ginsim sweep knock_limit --bot normal --vs easy --pairs 2000 --turns 8 --seed 1 "
        "--score 80:20"
    )


def test_report_of_a_calibration(tuned):
    _, text, told, plots = tuned_page(tuned, "calibration")
    found = json.loads((tuned / "calibration" / "calibration.json").read_text())
    assert plots == 1
    assert told[0] == "Every target was hit."
    seen = found["steps"][0]["verified"]["value"]
    assert f"hard wins {100 * seen:.2f} ±" in told[1]
    assert found["steps"][0]["tries"][0]["digest"] in text
    command = shlex.split(written_commands(tuned / "calibration")[-1])
    options = dict(zip(command[2::2], command[3::2], strict=True))
    assert options == {
        "--targets": "hard/normal=0.65", "--anchor": "hard", "--pairs": "100",
        "--knob": "normal=late_limit:0,4,8", "--verify-pairs": "100",
        "--within": "0.45", "--seed": "1",
    }  # fmt: skip


def test_an_unfinished_sweep_is_refused_with_how_to_go_on(tuned, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(tuned / "sweep", run)
    (run / "sweep.json").unlink()
    with pytest.raises(GinsimError, match=r"has no sweep\.json; go on with `ginsim sweep --resume"):
        write_report(run)


# In a real browser


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """Run Chromium on a file: its standard output, and its console's lines."""
    program = shutil.which("chromium")
    if program is None:
        reason = "no chromium on this machine: Debian's package of that name has it"
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(f"{reason}; on CI this test is not skipped")
        pytest.skip(reason)

    def run(file: Path, *options: str) -> tuple[str, list[str]]:
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"]
        command += ["--no-first-run", "--disable-background-networking"]
        command += ["--disable-component-update", "--disable-sync", "--enable-logging=stderr"]
        command += [f"--user-data-dir={tmp_path_factory.mktemp('chromium')}", *options]
        done = subprocess.run(
            [*command, file.as_uri()], capture_output=True, text=True, timeout=120, check=True
        )
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return run


def test_a_browser_shows_it_without_a_complaint(chromium, html, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(html)
    dom, console = chromium(file, "--dump-dom")
    assert console == []
    shown, written = Page(dom), Page(html)
    assert shown.rows == written.rows
    assert dom.count("<svg") == len(PLOTS)
    # What the page's own policy forbids is seen: the check above can fail.
    file.write_text(html.replace("</main>", '<img src="else.png"></main>'))
    _, console = chromium(file, "--dump-dom")
    assert "Content Security Policy" in console[0]


MEASURE = """<!DOCTYPE html><iframe src="report.html" style="width: {width}px; height: 800px"
onload="const page = this.contentDocument, root = page.documentElement;
document.title = JSON.stringify({{width: root.clientWidth, needs: root.scrollWidth,
tables: [...page.querySelectorAll('table')].map(t => t.getBoundingClientRect().height),
plots: [...page.querySelectorAll('svg')].map(s => s.getBoundingClientRect().height),
cut: [...page.querySelectorAll('h1, h2, h3, p, pre')].filter(
    e => e.getBoundingClientRect().right > root.clientWidth).length}})"></iframe>"""


@pytest.mark.parametrize("width", [390, 1200])
def test_no_width_makes_the_page_scroll_sideways(chromium, odd_run, tuned, html, tmp_path, width):
    odd, _ = write_report(odd_run, tmp_path / "odd.html")
    tuned_pages = [write_report(tuned / kind)[0].read_text() for kind in ("sweep", "chart")]
    for text in (html, odd.read_text(), *tuned_pages):
        (tmp_path / "report.html").write_text(text)
        outer = tmp_path / "outer.html"
        outer.write_text(MEASURE.format(width=width))
        dom, _ = chromium(outer, "--dump-dom", "--allow-file-access-from-files")
        title = re.search(r"<title>(.*?)</title>", dom)
        assert title
        found = json.loads(title[1])
        assert found["needs"] <= found["width"]
        assert found["cut"] == 0
        assert min(found["tables"]) > 20
        assert min(found["plots"]) > 100


def test_it_prints_on_a_few_pages_of_a4(chromium, html, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(html)
    pdf = tmp_path / "report.pdf"
    chromium(file, "--no-pdf-header-footer", f"--print-to-pdf={pdf}")
    content = pdf.read_bytes()
    assert 4 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 7
    boxes = {
        tuple(round(float(side)) for side in box.split())
        for box in re.findall(rb"/MediaBox\s*\[([^]]*)\]", content)
    }
    assert boxes == {(0, 0, 595, 842)}
    assert rb"/Font" in content  # text, not a picture of it
