"""The ``ginsim`` command: parse, call, print. Heavy modules are imported where they are used."""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ginsim.errors import GinsimError

app = typer.Typer(
    help="Simulation harness for Gin Rummy bots.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

#: Hangs of compiled bots after which a tournament is given up: each costs a new process.
MOST_HANGS = 20
MOST_LINE = 900
FINE, FAILED, WRONG_USE, NOT_DECIDED, INTERRUPTED = 0, 1, 2, 3, 130

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
RulesName = Annotated[str, typer.Option("--rules", help="Preset; see `ginsim rules`.")]
Override = Annotated[
    list[str] | None, typer.Option("--rule", metavar="FIELD=VALUE", help="Change one rule.")
]
Jobs = Annotated[int, typer.Option("--jobs", help="Jobs in parallel; 0: one a core.")]
RunFolder = Annotated[str, typer.Argument(help="Run folder, or its URL.")]


def say(line: str) -> None:
    """Print *line* to standard error; what it quotes of a file cannot steer the terminal."""
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    print(plain, file=sys.stderr, flush=True)


def print_json(content: Any, *, line: bool = False) -> None:
    """Print *content* as JSON, on one line if *line*."""
    print(json.dumps(content, indent=None if line else 1), flush=True)


def announce_compiling() -> None:
    """Say so when the kernels of this version are not compiled yet."""
    from ginsim.jit import CACHE_FOLDER, INTERPRETED

    if not INTERPRETED and not any(CACHE_FOLDER.rglob("*play_pairs*.nbc")):
        say("Compiling the engine for this machine, once per version: some 20 seconds.")


def jobs_of(jobs: int) -> int:
    """Return the number of jobs that ``--jobs`` means."""
    if jobs < 0:
        raise GinsimError(f"--jobs {jobs}: must be 0 (one a core) or more")
    import joblib

    return jobs or int(joblib.cpu_count())


def each_line(
    answer: Callable[[str], dict[str, Any]], show: Callable[[dict[str, Any]], None]
) -> None:
    """Answer each line of standard input; a bad one gets an error object, and exit code 2."""
    bad, read = 0, 0
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        read += 1
        try:
            show(answer(line))
        except GinsimError as error:
            bad += 1
            show({"error": str(error), "line": number})
    if read == 0:
        raise GinsimError("standard input is empty: give a line a question")
    if bad:
        raise GinsimError(f'{bad} line(s) of standard input could not be answered (see "error")')


@app.callback(invoke_without_command=True)
def ginsim(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Simulation harness for Gin Rummy bots."""
    if version:
        from importlib.metadata import version as version_of

        print(version_of("ginsim"))
        raise typer.Exit(FINE)
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(FINE)


@app.command()
def tournament(
    context: typer.Context,
    bots: Annotated[
        list[str] | None, typer.Argument(help="Two or more bots; see `ginsim bots`.")
    ] = None,
    pairs: Annotated[int, typer.Option(help="Mirrored pairs a matchup.")] = 1000,
    seed: Annotated[int, typer.Option(help="Names the deals and all else that is random.")] = 1,
    rules: RulesName = "classic",
    rule: Override = None,
    jobs: Jobs = 0,
    out: Annotated[
        str | None, typer.Option(help="Run folder or URL; default results/<bots>-<time>.")
    ] = None,
    bot: Annotated[
        list[str] | None, typer.Option(metavar="FILE.PY:NAME", help="One more bot, from a file.")
    ] = None,
    mirror: Annotated[
        bool, typer.Option(help="Play each deal twice, seats swapped, or once.")
    ] = True,
    overwrite: Annotated[bool, typer.Option(help="Replace the run that --out holds.")] = False,
    resume: Annotated[
        str | None, typer.Option(metavar="RUN", help="Go on with a run that was stopped.")
    ] = None,
    block: Annotated[int, typer.Option(help="Pairs a block; 0: a size that suits.")] = 0,
    backend: Annotated[
        str, typer.Option(help="threads, loky, dask or ray; default: threads, or what suits.")
    ] = "",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask or Ray cluster; default: a local.")
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option(metavar="LOW:HIGH", help="Two bots: stop once decided."),
    ] = None,
    decision_limit: Annotated[
        float | None,
        typer.Option(help="Seconds a bot may take for a decision; 0: no limit. Default 10."),
    ] = None,
    plots: Annotated[bool, typer.Option(help="Save plots.")] = True,
    as_json: Json = False,
) -> None:
    """Play all matchups of some bots, log every round, print tables, save plots."""
    announce_compiling()
    from dataclasses import replace

    from ginsim.backends import Backend
    from ginsim.places import place
    from ginsim.records import read_json
    from ginsim.rules import resolve
    from ginsim.sprt import Sprt
    from ginsim.tournament import MANIFEST as NAME
    from ginsim.tournament import (
        Plan,
        check_folder,
        check_given,
        check_same,
        fitted,
        manifest_of,
        plan_of,
        sequential_plan,
        sequential_test,
        warm_up,
    )
    from ginsim.watchdog import on_watch

    named = [*(bots or []), *(bot or [])]
    test = Sprt.parse(sprt) if sprt else None
    where = Backend(backend, scheduler)
    if resume is not None:
        if decision_limit is not None:
            raise GinsimError("--resume takes the decision limit from the run: leave it out")
        run = place(resume)
        manifest = read_json(run / NAME)
        plan = plan_of(manifest, run / NAME)
        sequential = sequential_test(manifest, plan, run / NAME)
        given = _given(context)
        if given & {"rules", "rule"}:
            given |= {"rules"}
        check_given(
            replace(
                plan,
                specs=tuple(named) if named else plan.specs,
                rules=resolve(rules, rule or []) if "rules" in given else plan.rules,
                seed=seed if "seed" in given else plan.seed,
                pairs=pairs if "pairs" in given else (sequential[1] if sequential else plan).pairs,
                mirrored=mirror if "mirror" in given else plan.mirrored,
                block_pairs=block if "block" in given else plan.block_pairs,
            ),
            test,
            manifest,
            run,
        )
        check_same(manifest, plan, run)
        test, plan = sequential or (None, plan)
    else:
        plan = Plan(tuple(named), resolve(rules, rule or []), seed, pairs, mirror, block)
        if decision_limit is not None:
            plan = replace(plan, decision_limit=decision_limit)
        where.fitting(plan.compiled())
        run = place(out or f"results/{'-'.join(_file_name(n) for n in named)}-{_now()}")
        if test:
            plan = sequential_plan(plan)
        check_folder(run, overwrite)
        warm_up(plan)  # a bot that does not compile must not cost an older run

        def hangs(hang: Any) -> None:
            """Start again without the trial that fits the blocks; a hang is told there."""
            _start_anew([*sys.argv[1:], "--block", str(plan.block_size())])

        with on_watch(plan.decision_limit, hangs):
            plan = fitted(plan)
        manifest = manifest_of(plan, rules)
    how = _How(jobs_of(jobs), resume is not None, overwrite, where, plots, as_json)
    _play(plan, run, manifest, test, how)


def _given(context: typer.Context) -> set[str]:
    """Names of the parameters that were given on the command line."""
    return {
        name
        for name in context.params
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }


def _now() -> str:
    return datetime.now().strftime("%Y%m%d-%H%M%S")


def _file_name(spec: str) -> str:
    return Path(spec.rpartition(":")[0] or spec).stem


class _How(NamedTuple):
    """How to run a tournament; what is played is in its plan."""

    jobs: int
    resume: bool
    overwrite: bool
    backend: Any
    plots: bool
    as_json: bool


@contextlib.contextmanager
def _stoppable(run: Any, command: str = "tournament") -> Iterator[None]:
    """Say how to go on with a run that is stopped, or fails: nothing that was played is lost."""
    go_on = f"what was played is kept: ginsim {command} --resume {run}"

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except KeyboardInterrupt:
        say(f"ginsim: stopped; {go_on}")
        raise typer.Exit(INTERRUPTED) from None
    except GinsimError as error:
        raise GinsimError(f"{' '.join(_lines(error))}; {go_on}") from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _play(plan: Any, run: Any, manifest: dict[str, Any], test: Any, how: _How) -> None:
    """Run the tournament with a progress bar, then write and show what came out."""
    from ginsim.locks import held
    from ginsim.progress import watching
    from ginsim.records import write_json
    from ginsim.summary import summary_of
    from ginsim.tournament import SUMMARY, prepare_folder, run_sequential, run_tournament
    from ginsim.watchdog import Hang, on_watch

    verdict, found = None, None
    jobs, as_json, plots = how.jobs, how.as_json, how.plots

    def tell(what: Any) -> None:
        nonlocal found
        found = what
        say(f"ginsim: {run}: {what}")

    def hangs(hang: Hang) -> None:
        """Leave the compiled code that hangs, and go on in a process in its place."""
        _tell_hang(hang, plan.decision_limit)
        if test is not None or how.backend.remote() or not isinstance(run, Path):
            say("ginsim: such a run ends here; see `ginsim check` for that bot")
            os._exit(WRONG_USE)
        if len(plan.as_plain) >= MOST_HANGS:
            say(f"ginsim: that is often enough; mend the bot, or set jit=False (kept: {run})")
            os._exit(WRONG_USE)
        say("ginsim: going on, with that pair played as plain Python")
        _play_as_plain(run, hang.matchup, hang.pair)
        words = ["tournament", "--resume", str(run), "--jobs", str(jobs)]
        words += [] if plots else ["--no-plots"]
        _start_anew([*words, "--json"] if as_json else words)

    with held(run, take_over=how.resume or how.overwrite) as died:
        if died is not None:
            say(f"ginsim: {run}: the run that wrote here died ({died}); taken over")
        if not how.resume:
            prepare_folder(run, how.overwrite)
        with (
            _stoppable(run),
            watching(plan.pairs) as watch,
            on_watch(plan.decision_limit, hangs),
        ):
            rest: Any = {"jobs": jobs, "resume": how.resume, "watch": watch, "tell": tell}
            rest["backend"] = how.backend
            if test is None:
                totals, manifest = run_tournament(plan, run, manifest, **rest)
            else:
                plan, totals, manifest, verdict = run_sequential(plan, run, manifest, test, **rest)
            summary = summary_of(plan, totals)
            write_json(run / SUMMARY, summary)
            if plots:
                from ginsim.plots import save_plots

                save_plots(summary, run / "plots")
    if as_json:
        content = {"run": str(run), "manifest": manifest, "summary": summary}
        print_json(content | ({} if found is None else {"found": found.to_json()}))
        return
    from ginsim.tables import (
        bot_table,
        cross_table,
        forfeit_lines,
        print_tables,
        rating_note,
        verdict_lines,
    )

    print_tables(cross_table(summary), rating_note(summary), bot_table(summary))
    for line in forfeit_lines(summary, run):
        print(line)
    if verdict is not None:
        print("\n".join(verdict_lines(summary, verdict)))
    speed = manifest["rounds_per_second"]
    print(
        f"{summary['matches']:,} matches, {summary['rounds']:,} rounds"
        + (f" in {manifest['seconds']:.1f} s ({speed:,} rounds/s, --jobs {jobs})" if speed else "")
    )
    print(f"digest {summary['digest']}")
    print(f"run    {run}" + ("  (log, manifest.json, summary.json, plots)" if plots else ""))


def _tell_hang(hang: Any, limit: float) -> None:
    place = f"{hang.matchup}, pair {hang.pair}, leg {hang.leg}, round {hang.round_}"
    say(f"ginsim: no decision for {limit:g} s in {place}: a compiled bot hangs")


def _start_anew(words: list[str]) -> None:
    """Run ``ginsim`` with *words* in place of this process, which compiled code holds up."""
    command = "from ginsim.cli import main; main()"
    os.execv(sys.executable, [sys.executable, "-c", command, *words])


def _play_as_plain(run: Path, matchup: str, pair: int) -> None:
    """Write into the manifest of *run* that *pair* of *matchup* is played as plain Python."""
    from ginsim.records import read_json, write_json
    from ginsim.tournament import MANIFEST

    manifest = read_json(run / MANIFEST)
    manifest["as_plain"] = [*manifest.get("as_plain", []), [matchup, pair]]
    write_json(run / MANIFEST, manifest)


@app.command()
def hand(
    cards: Annotated[
        str, typer.Argument(help="1-11 cards, like 'AS 2S 3S'; - for lines of stdin.")
    ],
    taken: Annotated[
        str | None, typer.Option(metavar="CARD", help="The card just taken from the pile.")
    ] = None,
    rules: RulesName = "classic",
    rule: Override = None,
    as_json: Json = False,
) -> None:
    """Tell a hand's melds, deadwood and, for 11 cards, what it may do."""
    from ginsim.rules import resolve
    from ginsim.showdown import hand_report

    chosen = resolve(rules, rule or [])

    def answer(words: str) -> dict[str, Any]:
        return hand_report(words, taken, chosen)

    if cards == "-":
        each_line(answer, lambda report: _show_report(report, as_json, one_line=True))
    else:
        _show_report(answer(cards), as_json)


@app.command()
def showdown(
    lines: Annotated[
        str | None, typer.Argument(help="- to read JSON lines: knocker, spread, defender.")
    ] = None,
    knocker: Annotated[str | None, typer.Option(help="The knocker's 10 cards.")] = None,
    spread: Annotated[
        str | None, typer.Option(help="Its melds, like '5S 5C 5D | 6S 7S 8S'; default: chosen.")
    ] = None,
    defender: Annotated[str | None, typer.Option(help="The defender's 10 cards.")] = None,
    rules: RulesName = "classic",
    rule: Override = None,
    as_json: Json = False,
) -> None:
    """Settle a knock: layoffs, undercut, points."""
    from ginsim.rules import resolve
    from ginsim.showdown import showdown as settle_showdown
    from ginsim.showdown import showdown_line

    chosen = resolve(rules, rule or [])
    if lines == "-" and (knocker, spread, defender) != (None, None, None):
        raise GinsimError("with - the hands come from standard input: leave the options out")
    if lines == "-":
        each_line(
            lambda line: showdown_line(line, chosen),
            lambda report: _show_report(report, as_json, one_line=True),
        )
        return
    if lines is not None:
        raise GinsimError(f"{lines!r}: give --knocker and --defender, or - for lines of JSON")
    if knocker is None or defender is None:
        raise GinsimError("give --knocker and --defender, ten cards each")
    _show_report(settle_showdown(knocker, defender, spread, chosen), as_json)


def _show_report(report: dict[str, Any], as_json: bool, *, one_line: bool = False) -> None:
    """Print a report of cards as JSON or as lines ``key: value``."""
    if as_json:
        print_json(report, line=one_line)
        return
    for key, value in report.items():
        shown = " | ".join(value) if isinstance(value, list) and " " in "".join(value) else value
        shown = " ".join(shown) if isinstance(shown, list) else shown
        print(f"{key.replace('_', ' ')}: {'none' if shown in (None, '') else shown}")
    if one_line:
        print()


@app.command()
def replay(
    run: Annotated[str | None, typer.Argument(help="Run folder or URL; or give --seed.")] = None,
    seed: Annotated[int | None, typer.Option(help="Play this seed, no run needed.")] = None,
    bots: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="The two bots, with --seed.")
    ] = None,
    matchup: Annotated[
        str | None, typer.Option(metavar="'A V B'", help="Matchup of the run, if several.")
    ] = None,
    pair: Annotated[int, typer.Option(help="Index of the pair.")] = 0,
    leg: Annotated[int, typer.Option(help="0, or 1 with the seats swapped.")] = 0,
    round_: Annotated[int, typer.Option("--round", help="Round of the match, from 0.")] = 0,
    rules: RulesName = "classic",
    rule: Override = None,
    as_json: Json = False,
) -> None:
    """Show a round turn by turn: a logged one, or any seed's."""
    announce_compiling()
    from ginsim.bots import load_all
    from ginsim.places import place
    from ginsim.replay import Where, hand_record, replay_logged
    from ginsim.replay import replay as replay_seed
    from ginsim.rules import resolve
    from ginsim.tournament import Plan

    where = Where(pair, leg, round_)
    if run is not None and seed is None and bots is None:
        record = replay_logged(place(run), matchup, where)
    elif run is None and seed is not None and bots is not None:
        if pair < 0 or leg not in (0, 1):
            raise GinsimError(f"--pair {pair}, --leg {leg}: must be 0 or more, and 0 or 1")
        plan = Plan(bots, resolve(rules, rule or []), seed, pair + 1)
        first, second = load_all(bots)
        record = replay_seed((first, second), plan.rules, seed, where)
    else:
        raise GinsimError("give a run folder, or --seed S --bots A B")
    if as_json:
        print_json(record, line=True)  # `ginsim verify` reads a hand a line
    else:
        print(hand_record(record))


@app.command()
def verify(
    file: Annotated[str, typer.Argument(help="Finished hands, JSON lines; - for stdin.")],
    rules: RulesName = "classic",
    rule: Override = None,
    as_json: Json = False,
) -> None:
    """Referee finished hands of any program: legality, spread, layoff, points."""
    from dataclasses import asdict

    from ginsim.rules import resolve
    from ginsim.verify import verify as verify_lines

    chosen = resolve(rules, rule or [])
    if file == "-":
        verdict = verify_lines(sys.stdin, chosen, "standard input")
    else:
        try:
            with Path(file).open(encoding="utf-8") as lines:
                verdict = verify_lines(lines, chosen, file)
        except (OSError, UnicodeDecodeError) as error:
            raise GinsimError(f"{file}: cannot be read ({error})") from None
    if as_json:
        print_json(asdict(verdict))
    else:
        for found in verdict.disagreements:
            print(f"hand {found.hand}: {found.what}: theirs {found.theirs}, ours {found.ours}")
        print(f"{verdict.hands} hands, {len(verdict.disagreements)} disagreements")
    if verdict.disagreements:
        raise typer.Exit(FAILED)


@app.command()
def check(
    bot: Annotated[str, typer.Argument(help="Bot, like mine.py:bot; see `ginsim bots`.")],
    positions: Annotated[int, typer.Option(help="Positions to ask.")] = 4000,
    pairs: Annotated[int, typer.Option(help="Pairs to watch against simple.")] = 20,
    seed: Annotated[int, typer.Option(help="Names the positions.")] = 1,
    rules: Annotated[
        str | None, typer.Option("--rules", help="Only this preset; default: several.")
    ] = None,
    decision_limit: Annotated[float, typer.Option(help="Seconds a decision; 0: no limit.")] = 10.0,
    as_json: Json = False,
) -> None:
    """Ask a bot thousands of positions: legal, deterministic, same compiled, blind. Exit 1 if not.

    Also measures its time and how often it passes up gin.
    """
    announce_compiling()
    from ginsim.check import ALL_RULES, report_lines
    from ginsim.check import check as run_check
    from ginsim.rules import preset

    if positions < 1 or pairs < 1 or seed < 0 or decision_limit < 0:
        raise GinsimError(
            f"--positions {positions}, --pairs {pairs}, --seed {seed}, --decision-limit "
            f"{decision_limit:g}: must be 1, 1, 0 and 0 or more"
        )
    if rules is not None:
        preset(rules)
    names = ALL_RULES if rules is None else (rules,)
    report = run_check(bot, names, number=positions, seed=seed, pairs=pairs, limit=decision_limit)
    if as_json:
        print_json(report.to_json())
    else:
        print("\n".join(report_lines(report)))
    if not report.kept:
        raise typer.Exit(FAILED)


@app.command("new-bot")
def new_bot(
    name: Annotated[str, typer.Argument(help="Name of the bot, and of the file NAME.py.")],
    overwrite: Annotated[bool, typer.Option(help="Replace the file if there is one.")] = False,
    as_json: Json = False,
) -> None:
    """Write NAME.py, a commented bot to start from."""
    from ginsim.new_bot import new_bot as write_bot

    path = write_bot(name, overwrite=overwrite)
    if as_json:
        print_json({"file": str(path), "bot": f"{path}:bot"})
    else:
        print(f"{path} written; next: ginsim check {path}:bot, ginsim tournament {path}:bot simple")


@app.command()
def bots(as_json: Json = False) -> None:
    """List the built-in bots."""
    from ginsim.bots import built_in

    found = built_in()
    if as_json:
        print_json([{"name": b.name, "about": b.about, "parameters": b.parameters} for b in found])
        return
    from ginsim.tables import bots_table, print_tables

    print_tables(bots_table(found), "Any file.py:name that holds a ginsim Bot plays too.")


@app.command()
def rules(
    preset: Annotated[str | None, typer.Argument(help="One preset; default: all.")] = None,
    rule: Override = None,
    as_json: Json = False,
) -> None:
    """Print the rules: all presets side by side, or one in words."""
    from ginsim.rules import PRESETS, resolve, to_dict

    if preset is None and rule:
        raise GinsimError("--rule changes one preset: name it, like `ginsim rules classic`")
    names = list(PRESETS) if preset is None else [preset]
    chosen = {name: resolve(name, rule or []) for name in names}
    if as_json:
        print_json(
            {
                name: {"rules": to_dict(values), "ours": sorted(PRESETS[name].ours)}
                for name, values in chosen.items()
            }
        )
        return
    from ginsim.tables import presets_table, print_tables, rules_table

    if preset is None:
        print_tables(presets_table(), "The sentences: ginsim rules NAME")
    else:
        title = f"{preset}: {PRESETS[preset].about} (* = ginsim's choice)"
        print_tables(rules_table(chosen[preset], PRESETS[preset].ours, title))


@app.command()
def bench(
    bots: Annotated[list[str] | None, typer.Argument(help="Bots; default: the built-in.")] = None,
    rules: RulesName = "classic",
    seconds: Annotated[float, typer.Option(help="Seconds a measurement.")] = 1.0,
    jobs: Annotated[int, typer.Option(help="Compare with this many jobs; 1: only one.")] = 2,
    peers: Annotated[
        bool, typer.Option("--peers", help="Compare with OpenSpiel and RLCard instead.")
    ] = False,
    env: Annotated[
        int, typer.Option(metavar="TABLES", help="Measure ginsim.env with this many tables.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Measure rounds a second of each bot against itself, of other programs, or of ginsim.env."""
    announce_compiling()
    from ginsim.bench import bench as measure
    from ginsim.bench import env_speed
    from ginsim.rules import resolve
    from ginsim.tables import bench_table, env_table, peers_table, print_tables

    if seconds <= 0 or jobs < 1:
        raise GinsimError(f"--seconds {seconds}, --jobs {jobs}: must be above 0 and at least 1")
    if env < 0:
        raise GinsimError(f"--env {env}: must be 1 or more tables")
    if peers and (bots or env):
        raise GinsimError("--peers plays bots of its own: leave others and --env out")
    if peers:
        from ginsim.peers import compare

        found, show = compare(seconds), peers_table
    elif env:
        found, show = env_speed(env, seconds), env_table
    else:
        found, show = measure(bots or [], resolve(rules), seconds, jobs), bench_table
    if as_json:
        print_json(found)
    else:
        print_tables(show(found))


@app.command()
def sweep(
    parameters: Annotated[
        list[str] | None,
        typer.Argument(help="One or two parameters of the bot; knock_limit for a knock chart."),
    ] = None,
    bot: Annotated[str, typer.Option(help="The bot whose parameters are swept.")] = "normal",
    vs: Annotated[list[str] | None, typer.Option(help="Rivals, one or more.")] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(help="0:10, 0:60:10 or 0,2,5; once for each parameter."),
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(help="Mirrored pairs a value and rival (chart: a turn).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Names the deals, the same for all values.")] = 1,
    rules: RulesName = "classic",
    rule: Override = None,
    by: Annotated[
        str, typer.Option(help="The best has the most net_points or matches_won.")
    ] = "net_points",
    confirm: Annotated[bool, typer.Option(help="Play the best again on fresh deals.")] = True,
    score: Annotated[
        list[str] | None,
        typer.Option(metavar="OWN:RIVAL", help="Chart: also at this score, like 80:20."),
    ] = None,
    turns: Annotated[int, typer.Option(help="Chart: own turns.")] = 12,
    jobs: Jobs = 0,
    out: Annotated[
        str | None, typer.Option(help="Run folder or URL; default results/sweep-...")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the run that --out holds.")] = False,
    resume: Annotated[
        str | None, typer.Option(metavar="RUN", help="Go on with a sweep that was stopped.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play many values of a parameter on the same deals; or draw a knock chart."""
    announce_compiling()
    from ginsim.knock_chart import check_chart, check_chart_folder
    from ginsim.locks import held
    from ginsim.places import place
    from ginsim.records import read_json
    from ginsim.rules import resolve
    from ginsim.sweep import KNOCK_LIMIT, Sweep, parse_values, sweep_manifest, sweep_of
    from ginsim.tournament import (
        MANIFEST,
        check_folder,
        check_same,
        plan_of,
        prepare_folder,
        warm_up,
    )

    if resume is not None:
        if parameters or vs or values:
            raise GinsimError("--resume takes everything from the run: leave the rest out")
        run = place(resume)
        manifest = read_json(run / MANIFEST)
        asked = sweep_of(manifest, run / MANIFEST)
        check_same(manifest, plan_of(manifest, run / MANIFEST), run)
        with held(run, take_over=True):
            _sweep(asked, run, manifest, jobs_of(jobs), True, confirm, as_json)
        return
    if not parameters:
        raise GinsimError("name a parameter to sweep (see `ginsim bots`), or knock_limit")
    run = place(out or f"results/sweep-{'-'.join(parameters)}-{_now()}")
    chosen = resolve(rules, rule or [])
    if parameters == [KNOCK_LIMIT] and not values:
        check_chart(bot, vs or [], chosen, pairs or 20_000, turns, score or [])
        check_chart_folder(run, overwrite)
        with held(run, take_over=overwrite):
            _chart(bot, vs or [], chosen, seed, pairs or 20_000, turns, score or [], jobs_of(jobs),
                   run, as_json)  # fmt: skip
        return
    asked = Sweep(
        bot, tuple(parameters), tuple(parse_values(words) for words in values or []),
        tuple(vs or []), chosen, seed, pairs or 2000, by,
    )  # fmt: skip
    warm_up(asked.plan())
    check_folder(run, overwrite)
    with held(run, take_over=overwrite):
        prepare_folder(run, overwrite)
        _sweep(asked, run, sweep_manifest(asked, rules), jobs_of(jobs), False, confirm, as_json)


def _sweep(
    asked: Any,
    run: Any,
    manifest: dict[str, Any],
    jobs: int,
    resume: bool,
    confirm: bool,
    as_json: bool,
) -> None:
    """Run a sweep with a progress bar, then draw and show what came out."""
    from ginsim.charts import save_drawings, sweep_drawings
    from ginsim.progress import watching
    from ginsim.sweep import run_sweep

    with _stoppable(run, "sweep"), watching(asked.pairs) as watch:
        summary = run_sweep(
            asked, run, manifest, jobs=jobs, resume=resume, confirm=confirm, watch=watch
        )
    save_drawings(sweep_drawings(summary), run)
    if as_json:
        print_json({"run": str(run), "sweep": summary})
        return
    from ginsim.tables import print_tables, sweep_table, sweep_verdict

    rivals = [*summary["versus"]] if len(summary["parameters"]) == 1 else []
    over_all = [None] if len(rivals) != 1 else []
    print_tables(*(sweep_table(summary, rival) for rival in [*rivals, *over_all]))
    print("\n".join(sweep_verdict(summary)))
    print(f"run    {run}  (log, sweep.json, sweep.parquet, plots)")


def _chart(
    bot: str,
    rivals: list[str],
    rules: Any,
    seed: int,
    pairs: int,
    turns: int,
    scores: list[str],
    jobs: int,
    run: Any,
    as_json: bool,
) -> None:
    """Draw a knock chart with a progress bar, write and show it."""
    from ginsim.charts import chart_drawings, save_drawings
    from ginsim.knock_chart import knock_chart, save_chart
    from ginsim.progress import counting

    with counting("knock chart") as watch:
        chart = knock_chart(
            bot, rivals, rules, seed=seed, pairs=pairs, turns=turns, scores=scores, jobs=jobs,
            watch=watch,
        ).to_json()  # fmt: skip
    save_chart(chart, run)
    save_drawings(chart_drawings(chart), run)
    if as_json:
        print_json({"run": str(run), "chart": chart})
        return
    from ginsim.tables import CHART_NOTE, chart_table, print_tables

    print_tables(
        *(chart_table(chart, rival, at) for rival in chart["rivals"] for at in (None, *scores)),
        CHART_NOTE,
    )
    print(f"run    {run}  (knock_chart.json, knock_chart.parquet, plots)")


@app.command()
def calibrate(
    targets: Annotated[
        list[str] | None,
        typer.Option(help="LEVEL/LEVEL=RATE, one or more.", show_default="65 % a step"),
    ] = None,
    rules: RulesName = "classic",
    rule: Override = None,
    anchor: Annotated[str, typer.Option(help="The level that stays as it is.")] = "hard",
    knob: Annotated[
        list[str] | None,
        typer.Option(metavar="LEVEL=NAME:FROM:TO:STEP", help="Tune a level by this parameter."),
    ] = None,
    pairs: Annotated[int, typer.Option(help="Mirrored pairs a value of a knob.")] = 6_000,
    verify_pairs: Annotated[int, typer.Option(help="Fresh pairs that verify a value.")] = 60_000,
    within: Annotated[
        float, typer.Option(help="How far from its target a 95 % interval may reach.")
    ] = 0.01,
    seed: Annotated[int, typer.Option(help="Names the deals; fresh ones lie above.")] = 1,
    jobs: Jobs = 0,
    out: Annotated[
        str | None, typer.Option(help="Run folder or URL; default results/calibrate-<time>.")
    ] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace the run that --out holds.")] = False,
    resume: Annotated[
        str | None, typer.Option(metavar="RUN", help="Go on with one that was stopped.")
    ] = None,
    write: Annotated[bool, typer.Option(help="Write the values into levels.toml.")] = True,
    levels: Annotated[
        Path | None, typer.Option(help="Write into this copy of levels.toml.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only check that the levels still hold.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tune the levels until their match wins hit the targets; exit 1 if one is out of reach."""
    announce_compiling()
    from ginsim.calibrate import (
        begin,
        calibration_of,
        check_calibration_folder,
        check_levels,
        requested,
    )
    from ginsim.locks import held
    from ginsim.places import place
    from ginsim.records import read_json
    from ginsim.tournament import MANIFEST

    if check:
        _show_checks(check_levels(jobs=jobs_of(jobs)), as_json)
        return
    if resume is not None:
        run = place(resume)
        asked = calibration_of(read_json(run / MANIFEST).get("calibrate", {}), run / MANIFEST)
    else:
        run = place(out or f"results/calibrate-{_now()}")
        asked = requested(
            targets or [], rules, rule or [], anchor, knob or [], seed, pairs, verify_pairs, within
        )
        check_calibration_folder(run, overwrite)
    with held(run, take_over=overwrite or resume is not None):
        if resume is None:
            begin(asked, run, write=write, levels=levels)
        else:
            kept = read_json(run / MANIFEST)
            write = write and kept.get("write") is not False
            levels = levels or (Path(str(kept["levels"])) if kept.get("levels") else None)
        _calibrate(asked, run, jobs_of(jobs), resume is not None, write, levels, as_json)


def _calibrate(
    asked: Any, run: Any, jobs: int, resume: bool, write: bool, levels: Path | None, as_json: bool
) -> None:
    """Calibrate with a progress bar; draw, write and show what came out."""
    from ginsim.calibrate import LEVELS_FILE, OutOfReachError, finish, write_levels
    from ginsim.calibrate import calibrate as run_calibration
    from ginsim.charts import calibration_drawings, save_drawings
    from ginsim.progress import naming

    with _stoppable(run, "calibrate"), naming() as watch:
        try:
            found = run_calibration(asked, run, jobs=jobs, resume=resume, watch=watch)
        except OutOfReachError as error:
            say(f"ginsim: {error}")
            raise typer.Exit(FAILED) from None
    finish(run)
    save_drawings(calibration_drawings(found), run)
    file = levels or LEVELS_FILE
    if write and found["hit"]:
        write_levels(found, file)
    if as_json:
        print_json({"run": str(run), "calibration": found, "written": write and found["hit"]})
    else:
        from ginsim.tables import calibration_table, guard_table, print_tables

        print_tables(calibration_table(found), guard_table(found))
        if not found["hit"]:
            print("Not every target was hit, so nothing was written: play more with --pairs.")
        elif write:
            print(f"{file} written" + ("" if levels else "; write your baselines anew"))
        print(f"run    {run}  (logs, calibration.json, plots)")
    if not found["hit"]:
        raise typer.Exit(FAILED)


def _show_checks(checks: Any, as_json: bool) -> None:
    if as_json:
        print_json(
            [{"target": c.target, "same": c.same(), "digest": c.today, **c.won._asdict()}
             for c in checks]
        )  # fmt: skip
    for c in [] if as_json else checks:
        state = "as verified" if c.same() else "PLAYED DIFFERENTLY from when it was verified"
        print(f"{c.target}: {100 * c.won.value:.2f} ±{100 * c.won.half_width():.2f} %, {state}")
    if not all(c.same() for c in checks):
        say("ginsim: rules, engine or bots changed since: calibrate anew with ginsim calibrate")
        raise typer.Exit(FAILED)


baseline = typer.Typer(help="Pin what bots do, for `ginsim regress`.", rich_markup_mode=None)
app.add_typer(baseline, name="baseline")


@baseline.command("write")
def baseline_write(
    file: Annotated[Path, typer.Argument(help="JSON file to write.")],
    bots: Annotated[list[str], typer.Argument(help="Two or more bots.")],
    pairs: Annotated[int, typer.Option(help="Mirrored pairs a matchup.")] = 2000,
    seed: Annotated[int, typer.Option(help="Names the deals.")] = 1,
    rules: RulesName = "classic",
    rule: Override = None,
    jobs: Jobs = 0,
    as_json: Json = False,
) -> None:
    """Play all matchups and pin their outcomes and digests in FILE (replacing it)."""
    announce_compiling()
    from ginsim.baseline import write_baseline
    from ginsim.rules import resolve
    from ginsim.tournament import Plan

    if not file.parent.is_dir():
        raise GinsimError(f"{file}: there is no folder {file.parent}; make it first")
    plan = Plan(tuple(bots), resolve(rules, rule or []), seed, pairs)
    plan.bots()
    written = write_baseline(file, plan, jobs_of(jobs))
    digests = dict(zip(plan.matchup_names(), written.outcomes.digests, strict=True))
    if as_json:
        print_json({"file": str(file), "digests": digests})
    else:
        print("\n".join(f"{digest}  {name}" for name, digest in digests.items()))
        print(f"{file}: {pairs:,} pairs a matchup, seed {seed}")


@app.command()
def regress(
    file: Annotated[Path, typer.Argument(help="Baseline that `ginsim baseline write` wrote.")],
    candidate: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=BOT", help="Try BOT in the place of the recorded NAME."),
    ] = None,
    test: Annotated[
        str, typer.Option("--bounds", metavar="LOW:HIGH", help="Match win rates to tell apart.")
    ] = "0.46:0.50",
    alpha: Annotated[float, typer.Option(help="Chance to pass a regression.")] = 0.001,
    beta: Annotated[float, typer.Option(help="Chance to fail a bot of equal strength.")] = 0.001,
    pairs: Annotated[int, typer.Option(help="Most pairs against a recorded bot.")] = 10_000,
    jobs: Jobs = 0,
    markdown: Annotated[Path | None, typer.Option(help="Also write Markdown here.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML here.")] = None,
    as_json: Json = False,
) -> None:
    """Fail (exit 1) if a bot got weaker than its baseline; exit 3 if that is undecided."""
    announce_compiling()
    from dataclasses import replace

    from ginsim.baseline import Gate, read_baseline
    from ginsim.baseline import regress as run_gate
    from ginsim.bots import load_all
    from ginsim.gate_report import junit_report, markdown_report, text_report
    from ginsim.records import write_text
    from ginsim.sprt import REGRESSION, UNDECIDED, Sprt

    known = read_baseline(file)
    chosen = replace(Sprt.parse(test), alpha=alpha, beta=beta)
    specs = list(known.plan.specs)
    names = [bot.name for bot in known.plan.bots()]
    for change in candidate or []:
        name, _, spec = change.partition("=")
        if name not in names or not spec:
            raise GinsimError(f"--candidate {change}: write NAME=BOT, NAME of {', '.join(names)}")
        specs[names.index(name)] = spec
    load_all(specs)
    if pairs < 1:
        raise GinsimError(f"--pairs {pairs}: must be 1 or more")
    for path in (markdown, junit):
        if path is not None and not path.parent.is_dir():
            raise GinsimError(f"{path}: there is no folder {path.parent}; make it first")
    report = run_gate(Gate(known, file, tuple(specs), chosen, pairs, jobs_of(jobs)))
    if markdown is not None:
        write_text(markdown, markdown_report(report))
    if junit is not None:
        write_text(junit, junit_report(report))
    if as_json:
        print_json(report.to_json())
    else:
        print(text_report(report))
    code = {REGRESSION: FAILED, UNDECIDED: NOT_DECIDED}.get(report.verdict, FINE)
    raise typer.Exit(code)


@app.command()
def plot(
    run: RunFolder,
    recount: Annotated[
        bool, typer.Option(help="Count the log again first, however large, and check it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Draw the plots of a run again: of a tournament, sweep, knock chart or calibration."""
    from ginsim.charts import redraw
    from ginsim.places import place

    folder = place(run)
    if recount:
        from ginsim.compact import recounted
        from ginsim.records import write_json
        from ginsim.tournament import SUMMARY

        write_json(folder / SUMMARY, recounted(folder))
    paths = redraw(folder)
    if as_json:
        print_json([str(path) for path in paths])
    else:
        print("\n".join(str(path) for path in paths))


@app.command()
def compact(run: RunFolder, as_json: Json = False) -> None:
    """Merge a finished run's many files into a few larger ones; the digest stays."""
    from dataclasses import asdict

    from ginsim.compact import compact as merge
    from ginsim.locks import held
    from ginsim.places import is_file, place
    from ginsim.tournament import MANIFEST as NAME

    folder = place(run)
    if not is_file(folder / NAME):
        raise GinsimError(f"{run}: is no run folder (it has no {NAME})")
    with held(folder, take_over=True):
        done = merge(folder)
    if as_json:
        print_json(asdict(done))
    else:
        print(
            f"{done.files_before:,} files, {done.bytes_before:,} bytes -> {done.files:,} files, "
            f"{done.bytes:,} bytes\ndigest {done.digest} (unchanged)"
        )


@app.command()
def report(
    run: RunFolder,
    out: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Default: report.html in the folder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's tables, plots and settings as one HTML page: a run of any kind."""
    from ginsim.places import place
    from ginsim.report import write_report

    file, headline = write_report(place(run), place(out) if out else None)
    if as_json:
        print_json({"file": str(file), "headline": headline})
    else:
        print("\n".join([*headline, str(file)]))


def _lines(error: BaseException) -> Iterator[str]:
    """First line of *error*; what it quotes of a file may be far too long to read."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    yield line if len(line) <= MOST_LINE else f"{line[: MOST_LINE // 2]} ... {line[-300:]}"


#: Options that take all the words behind them, up to the next option.
_MANY = ("--vs", "--targets")


def spread_options(words: list[str]) -> list[str]:
    """Repeat an option of _MANY before each of its words, as the parser wants it.

    >>> spread_options(["sweep", "late_limit", "--vs", "easy", "hard", "--json"])
    ['sweep', 'late_limit', '--vs', 'easy', '--vs', 'hard', '--json']
    """
    spread: list[str] = []
    option = ""
    for word in words:
        if word.startswith("--"):
            option = word if word in _MANY else ""
            spread += [] if option else [word]
        else:
            spread += [option, word] if option else [word]
    return spread


def main() -> None:
    """Run the command; wrong use and bad input are one line and exit code 2."""
    try:
        code = app(spread_options(sys.argv[1:]), standalone_mode=False)
    except GinsimError as error:
        say(f"ginsim: {' '.join(_lines(error))}")
        code = WRONG_USE
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context and context.parent else "ginsim"
        say(f"ginsim: {error.format_message()} (see `{command} --help`)")
        code = WRONG_USE
    except (KeyboardInterrupt, typer.Abort):
        say("ginsim: stopped")
        code = INTERRUPTED
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            say(f"ginsim: {error.strerror or error}: {error.filename or 'standard output'}")
            sys.exit(WRONG_USE)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FINE
    sys.exit(code or FINE)
