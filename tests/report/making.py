"""Results made by the real pipeline: YAML texts loaded, hand-made answers judged."""

import base64
import struct
from dataclasses import replace

from conformance.answers.answer import Answer, NoneValue, NotReached, Raised
from conformance.answers.wire import value_of
from conformance.asking.events import Answered, Cell, TargetFailed, TargetReady
from conformance.corpus.language.case import ExpectedTensor, Place
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.lowering import lower
from conformance.report.of_run import report_of_run
from conformance.verdicts.changes import changes_between_versions
from conformance.verdicts.departures import Departure, Departures, Gate, target_name
from conformance.verdicts.findings import Findings, Reviewer

MODES = ("eager", "graph", "xla")
ABOUT = {"version": "2.21.0", "python": "3.11.7", "numpy": "2.4.6", "platform": "Linux x86_64"}
VERSIONS = {"reference": "0.1.0", "./tape.py": ""}
ENTRY = """
  {name}:
    title: {title}
    source: guide/autodiff
    inputs: {{x: [1.0, 3.0]}}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
      g = t.gradient(y, x)
    expect: {{g: {expect}}}
"""


def tensor(values):
    data = base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
    observation = {"kind": "tensor", "dtype": "float32", "shape": [len(values)], "data": data}
    return value_of(observation)


def answered(value, error=None):
    return Answer("answered", {"g": value}, error)


def raised(message, kind="LookupError"):
    return answered(NotReached(), Raised(kind, (kind, "Exception"), message, "run", "g"))


RIGHT = answered(tensor([2.0, 6.0]))
WRONG = answered(tensor([2.0, 6.5]))
LOST = answered(NoneValue())
CRASH = Answer("crash", detail="the worker died of SIGSEGV in cell 4")
TIMEOUT = Answer("timeout", detail="no answer in 60 seconds: killed")
LACKS = Answer("unsupported", detail="the target declares that it lacks GradientTape")
INAPPLICABLE = Answer("not_applicable", detail="the case says so")
BROKEN = Answer("adapter_error", detail="the adapter sent no JSON")
NOT_RUN = Answer("not_run", detail="the run was ended")
MALFORMED = Answer("adapter_error", detail="the answer is malformed: 1 bytes of data")
RAISED = raised("no gradient defined")


def cases_named(
    *names,
    title="The gradient of a square is twice its argument",
    topic="math/sq",
    expect="[2.0, 6.0]",
):
    body = "".join(ENTRY.format(name=name, title=title, expect=expect) for name in names)
    return load_text(f"introduction: Squares.\ncases:{body}", topic, f"cases/{topic}.yaml")


def deviation(case_id, *, answer=(2.0, 6.5), modes=MODES, target="tensorflow"):
    entry = Departure(
        name="squares",
        cases=(case_id,),
        modes=modes,
        since="2.0",
        until="3",
        answer={"g": ExpectedTensor(answer)},
        kind="bug",
        right="gradconf",
        reason="squares are rounded up",
        link="https://example.org/1",
        place=Place("deviations/tensorflow.yaml", 3, 1, "$.departures.squares"),
    )
    return Departures(target, (entry,))


def results_from(
    answers, *, oracle=RIGHT, modes=MODES, failed=(), deviations=(), expect="[2.0, 6.0]", **changes
):
    """Results of {target: {case name: {mode: answer}}}; a bare answer is given in every mode."""
    names = list(dict.fromkeys(name for by_case in answers.values() for name in by_case))
    made = cases_named(*names, expect=expect) if names else []
    cases = {case.id.rsplit("/", 1)[1]: case for case in made}
    asked = {target: modes_of(target, modes) for target in answers}
    results = Findings(asked, ("run",), **{"complete": True, **changes})
    reviewer = Reviewer(results, cases.values(), deviations)
    for event in events(answers, cases, oracle, modes, failed):
        reviewer.add(event)
    reviewer.finish()
    return results


def modes_of(target, modes):
    return ("eager",) if target == "reference" else modes


def events(answers, cases, oracle, modes, failed=()):
    """What the workers say: the oracle first, each case once, as in a run."""
    everyone = {"reference": dict.fromkeys(cases, oracle), **answers}
    for target, by_case in everyone.items():
        if target in failed:
            yield TargetFailed(target, "ImportError: no module named it")
        else:
            yield TargetReady(target, {**ABOUT, "version": VERSIONS.get(target, "2.21.0")})
        for name, given in by_case.items():
            case = cases[name]
            for mode in modes_of(target, modes):
                answer = given[mode] if isinstance(given, dict) else given
                yield Answered(Cell(case.id, target, mode), lower(case).hash, answer)


def all_verdicts():
    """A run of one target in which every verdict occurs."""
    answers = {
        "right": RIGHT,
        "wrong": WRONG,
        "lost": {"eager": LOST, "graph": LOST, "xla": WRONG},
        "raises": RAISED,
        "crashes": CRASH,
        "hangs": TIMEOUT,
        "lacks": LACKS,
        "inapplicable": INAPPLICABLE,
        "breaks": BROKEN,
        "left": NOT_RUN,
        "documented": WRONG,
        "repaired": RIGHT,
        "malformed": MALFORMED,
    }
    known = [deviation("math/sq/documented"), deviation("math/sq/repaired")]
    return results_from({"tensorflow": answers}, deviations=known, record="runs/one.jsonl.gz")


def report_from(answers, **options):
    """The Report of these results."""
    return report_of(results_from(answers, **options))


def report_of(results):
    """The Report of results, with what changed between the versions of a target."""
    return report_of_run(results, changes_between_versions(results))


def only(answer, **options):
    """The Report of a run of one case on one target."""
    return report_from({"tensorflow": {"one": answer}}, **options)


def gate_of(target, before, modes=MODES, **changes):
    """The gate of a baseline that an answer of a target gave."""
    empty = Gate(Departures(target_name(target)))
    asked = results_from({target: {"one": before}}, modes=modes, gate=empty)
    baseline = asked.as_baseline(cases_named("one"), "2026-01-31")
    return Gate(replace(baseline, file="known.yaml", **changes))


def held(answer, before, **changes):
    """The Report of an answer of `./tape.py` beside the baseline that another one gave."""
    gate = gate_of("./tape.py", before, ("eager",), **changes)
    return report_from({"./tape.py": {"one": answer}}, modes=("eager",), gate=gate)


def mended(*case_ids, reason="it is *mended*", link="https://example.org/1"):
    """Departures of TensorFlow that end with 2.8, so that a change from 2.8.4 is explained."""
    place = Place("deviations/tensorflow.yaml", 3, 1, "$.departures.mended")
    entry = Departure(
        *("mended", case_ids, MODES, "bug", place), until="2.8", reason=reason, link=link
    )
    return [Departures("tensorflow", (entry,))]


def sections(report):
    """The sections of a report by their kind; of several the last."""
    return {section.kind: section for section in report.sections}


def sections_of(report, kind):
    """The sections of a report of one kind, in order."""
    return [section for section in report.sections if section.kind == kind]
