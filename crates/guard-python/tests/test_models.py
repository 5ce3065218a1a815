"""Contracts as pydantic models: a model takes what its contract calls valid, and refuses what the contract refuses."""

import json

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from guardc import Guard
from guardc.integrations.pydantic import model

GUARD = Guard.compile(
    """
guard forms
enum Level { low, high }
record Part { label: string max 3, n: int in 1..=5 }
record Run { line: string matches /^[a-z]+$/ }
record Wait { time: duration }
union Step by kind { Run as "run", Wait as "wait" }
record Act {
  action: string
  target: string as "the-target"
  class_: string? as "class"
  model: bool? as "model_config"
  level: Level
  price: decimal in 0..=10
  extra: json?
  names: list<string> max 2
  counts: map<string, int>
  parts: list<Part>?
  step: Step?
}
contract Report {
  items acts: Act max 2
  total: int from string
  label: string?
}
contract Names { items whole: Part }
tool t()
"""
)

ACT = {
    "action": "a",
    "the-target": "b",
    "class": "c",
    "model_config": True,
    "level": "low",
    "price": 2.5,
    "extra": {"x": [1]},
    "names": ["n"],
    "counts": {"k": 1},
    "parts": [{"label": "l", "n": 5}],
    "step": {"kind": "run", "line": "ls"},
}


def changed(**members):
    return {"acts": [{**ACT, **members}], "total": 1}


def test_values_become_objects():
    contract = GUARD.contract("Report")
    report = contract.check(json.dumps(changed(step={"kind": "wait", "time": "5m"})))
    assert report.valid, report.lacks()
    typed = model(contract).model_validate(report.values)
    act = typed.acts[0]
    assert (act.the_target, act.class_, act.level, act.price, act.parts[0].n) == ("b", "c", "low", 2.5, 5)
    assert (act.step.kind, act.step.time, typed.label) == ("wait", "5m", None)
    assert typed.model_dump(by_alias=True, exclude_unset=True) == report.values


REFUSED = {
    "a number as text": changed(price="2"),
    "no member of the enum": changed(level="middle"),
    "out of bounds": changed(parts=[{"label": "l", "n": 6}]),
    "a long text": changed(parts=[{"label": "four", "n": 1}]),
    "a long list": changed(names=["a", "b", "c"]),
    "not the pattern": changed(step={"kind": "run", "line": "LS"}),
    "the members of another case": changed(step={"kind": "wait", "line": "ls"}),
    "no such case": changed(step={"kind": "stop"}),
    "an unknown member": changed(more=1),
    "too many items": {"acts": [ACT, ACT, ACT], "total": 1},
    "a member that is missing": {"acts": []},
    "a flag for a number": {"acts": [], "total": True},
}


@pytest.mark.parametrize("document", REFUSED.values(), ids=REFUSED)
def test_model_and_schema_refuse_alike(document):
    contract = GUARD.contract("Report")
    assert list(Draft202012Validator(contract.schema()).iter_errors(document))
    with pytest.raises(ValidationError):
        model(contract).model_validate(document)


def test_known_values_narrow():
    guard = Guard.compile(
        "guard g\nrecord A { name: string }\ncontract R {\n  items some_: A\n  reference some_.name in names\n}"
    )
    narrow = model(guard.contract("R"), known={"names": ["ann"]})
    assert narrow.model_validate({"some_": [{"name": "ann"}]}).some_[0].name == "ann"
    with pytest.raises(ValidationError):
        narrow.model_validate({"some_": [{"name": "bob"}]})
