"""The gate's report as text, as Markdown for a CI summary, and as JUnit XML."""

from collections.abc import Iterator
from xml.etree import ElementTree

from ginsim.baseline import Candidate, Difference, Report
from ginsim.sprt import NO_REGRESSION


def _difference_lines(difference: Difference) -> Iterator[str]:
    where = f"first difference: {difference.matchup}, pair {difference.pair}"
    if difference.leg is not None:
        where += f", leg {difference.leg}, round {difference.round_}"
    yield where
    for name, row in (("recorded", difference.recorded), ("today", difference.today)):
        if row is not None:
            yield f"  {name}: " + " ".join(f"{key}={value}" for key, value in row.items())


def candidate_lines(candidate: Candidate) -> list[str]:
    """What was tested, on what ground, and where play first differs."""
    lower, upper = candidate.bounds
    counts = ", ".join(f"{score}: {n}" for score, n in candidate.counts.items())
    return [
        f"{candidate.bot}: {candidate.verdict} after {candidate.pairs:,} pairs",
        f"method: {candidate.method}",
        f"rule: {candidate.rule}",
        f"pair scores: {counts}",
        f"mean {candidate.rate:.4f}, 95 % {candidate.low:.4f} to {candidate.high:.4f} "
        "(biased at a stop)",
        f"LLR {candidate.llr:.2f}, bounds {lower:.2f} and {upper:.2f}",
        *_difference_lines(candidate.difference),
    ]


def text_report(report: Report) -> str:
    """Return the report for a terminal."""
    lines = [f"{report.verdict}"]
    if not report.different:
        lines.append(f"all {len(report.same)} digests equal the baseline's: nothing changed")
        return "\n".join(lines)
    lines.append(f"digests equal: {', '.join(report.same) or 'none'}")
    lines.append(f"digests differ: {', '.join(report.different)}")
    for candidate in report.candidates:
        lines += ["", *candidate_lines(candidate)]
    lines += ["", *(f"{name}: {command}" for name, command in report.commands.items())]
    return "\n".join(lines)


def markdown_report(report: Report) -> str:
    """Return the report as Markdown."""
    lines = [f"## Strength gate: {report.verdict}", ""]
    if not report.different:
        lines.append(f"All {len(report.same)} digests equal the baseline's.")
        return "\n".join(lines) + "\n"
    lines += ["| bot | verdict | pairs | mean pair score | LLR |", "|---|---|---|---|---|"]
    for c in report.candidates:
        lines.append(
            f"| {c.bot} | {c.verdict} | {c.pairs:,} "
            f"| {c.rate:.4f} ({c.low:.4f} to {c.high:.4f}) "
            f"| {c.llr:.2f} ({c.bounds[0]:.2f}, {c.bounds[1]:.2f}) |"
        )
    lines += ["", f"Digests differ: {', '.join(report.different)}.", ""]
    for c in report.candidates:
        lines += ["```", *candidate_lines(c), "```", ""]
    lines += [f"- {name}: `{command}`" for name, command in report.commands.items()]
    return "\n".join(lines) + "\n"


def junit_report(report: Report) -> str:
    """Return the report as JUnit XML: a case a matchup and a case a bot that plays otherwise.

    A digest that differs is no failure by itself; a bot fails if it regressed or the test
    could not decide.
    """
    failures = [c for c in report.candidates if c.verdict != NO_REGRESSION]
    suite = ElementTree.Element(
        "testsuite",
        name="ginsim regress",
        tests=str(len(report.same) + len(report.different) + len(report.candidates)),
        failures=str(len(failures)),
        errors="0",
    )
    for name in report.same + report.different:
        case = ElementTree.SubElement(suite, "testcase", classname="digest", name=name)
        if name in report.different:
            note = ElementTree.SubElement(case, "system-out")
            note.text = "digest differs from the baseline's; see the bots"
    for candidate in report.candidates:
        case = ElementTree.SubElement(suite, "testcase", classname="bot", name=candidate.bot)
        lines = candidate_lines(candidate)
        if candidate in failures:
            failed = ElementTree.SubElement(case, "failure", message=lines[0])
            failed.text = "\n".join(lines)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
