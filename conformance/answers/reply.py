"""A worker's reply, untrusted, to an answer that names every observed name."""

from __future__ import annotations

from typing import Any

from conformance.answers.answer import Answer, Observation
from conformance.answers.untrusted import duration, texts
from conformance.corpus.language.lowering import Lowered
from conformance.corpus.language.program import Step


def answer_from(reply: dict[str, Any], lowered: Lowered, mode: str) -> Answer:
    """The answer that a reply gives: every name observed, an error at its step, or why not."""
    try:
        observations, error, warnings, seconds = _parts(reply)
    except (KeyError, TypeError, ValueError) as problem:
        return Answer("adapter_error", detail=f"the worker's reply is malformed: {problem}")
    found = {
        name: _at_binding(name, observation)
        for name, observation in observations.items()
        if name in lowered.observed
    }
    if error is None:
        missing = [name for name in lowered.observed if name not in found]
        if missing:
            return Answer("adapter_error", detail=f"no observation of {', '.join(missing)}")
        return Answer("answered", found, None, warnings, "", seconds)
    line = error.get("line")
    step = lowered.step_at(line if isinstance(line, int) else None)
    error = _located(error, step)
    for name in lowered.observed:
        if name not in found:
            found[name] = _unobserved(name, error, step, lowered, mode)
    return Answer("answered", found, error, warnings, "", seconds)


def _parts(
    reply: dict[str, Any],
) -> tuple[dict[str, Observation], Observation | None, tuple[str, ...], float]:
    observations, error = reply["observations"], reply["error"]
    if not isinstance(observations, dict) or not isinstance(error, dict | None):
        raise TypeError("observations or error are of the wrong type")
    for name, observation in observations.items():
        if not isinstance(observation, dict) or not isinstance(observation.get("kind"), str):
            raise TypeError(f"the observation of {name} has no kind")
    if error is not None and error.get("kind") != "error":
        raise ValueError("the error is no error")
    return observations, error, texts(reply["warnings"]), duration(reply["seconds"])


def _at_binding(name: str, observation: Observation) -> Observation:
    """A guarded error arose where its name is bound."""
    return _located(observation, name) if observation["kind"] == "error" else observation


def _located(error: Observation, step: str | None) -> Observation:
    return {**{key: value for key, value in error.items() if key != "line"}, "step": step}


def _unobserved(
    name: str, error: Observation, step: str | None, lowered: Lowered, mode: str
) -> Observation:
    """What to say of a name that the program did not bind, or that the mode lost."""
    binding = _last(lowered.steps, lambda candidate: name in candidate.binds)
    raising = _last(lowered.steps, lambda candidate: candidate.label == step)
    if raising is not None and name in raising.binds:
        return error
    lost = mode in ("graph", "xla") and error.get("phase") in ("trace", "run")
    if lost and (error.get("phase") == "run" or _before(binding, raising)):
        return {"kind": "not_observed"}
    return {"kind": "not_reached"}


def _last(steps: tuple[Step, ...], matches: Any) -> Step | None:
    found = [step for step in steps if matches(step)]
    return found[-1] if found else None


def _before(one: Step | None, other: Step | None) -> bool:
    return one is not None and other is not None and one.line < other.line
