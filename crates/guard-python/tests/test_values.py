"""Values that are JSON, and values that are not: the latter raise before anything is decided."""

import datetime
import decimal
import enum
import json
import math

import pytest

from guardc import ArgumentError, Guard

@pytest.fixture
def loose():
    return Guard.compile("guard loose\ntool take(value: string)\ntool whole(value: int)\ntool pay(value: decimal)").session("s")


def cyclic_list():
    items = []
    items.append(items)
    return items


def cyclic_dict():
    members = {}
    members["self"] = {"again": members}
    return members


class Sneaky(dict):
    """A dict that shows the guard something else than the tool."""

    def __getitem__(self, key):
        return "something else"


NOT_JSON = {
    "nan": math.nan,
    "infinity": -math.inf,
    "a set": {1},
    "bytes": b"text",
    "a date": datetime.date(2026, 1, 5),
    "a decimal": decimal.Decimal("1.5"),
    "an object": object(),
    "a function": print,
    "a complex number": 1j,
    "a generator": (number for number in range(3)),
    "a cyclic list": cyclic_list(),
    "a cyclic dict": cyclic_dict(),
    "a huge integer": 10**10_000,
    "a lone surrogate": "\ud800",
    "a key with a lone surrogate": {"\udfff": 1},
    "a key that is a number": {1: 2},
    "a key that is None": {None: 2},
    "a dict of another class": Sneaky(value=1),
}


@pytest.mark.parametrize("where", ["top", "member", "deep"])
@pytest.mark.parametrize("value", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_is_not_json_raises_before_anything_is_decided(loose, value, where):
    args = {"top": value, "member": {"value": value}, "deep": {"value": [{"a": (value,)}]}}[where]
    ran = []

    @loose.tool(name="take")
    def take(value):
        ran.append(value)

    before = loose.head
    if not (where == "top" and isinstance(value, str)):
        with pytest.raises(ArgumentError):
            loose.propose("take", args)
    with pytest.raises(ArgumentError):
        take(value)
    with pytest.raises(ArgumentError), loose.call("take", {"value": value}):
        ran.append("scope")
    assert ran == [] and loose.head == before and loose.in_flight == []


def test_the_message_names_the_place(loose):
    with pytest.raises(ArgumentError, match=r'the value\["value"\]\[1\]\["when"\] is of type `date`'):
        loose.propose("take", {"value": [1, {"when": datetime.date(2026, 1, 5)}]})


class Colour(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    "tool, value, recorded",
    [
        ("take", "é😀", "é😀"),
        ("take", Colour.RED, "red"),
        ("whole", 2**63 - 1, 2**63 - 1),
        ("whole", Level.HIGH, 3),
        ("pay", 0.1, 0.1),
        ("pay", 1e16, None),
        ("pay", 5, 5),
        ("whole", True, None),
        ("whole", 1.5, None),
        ("whole", 2**70, None),
        ("take", None, None),
        ("take", ("a",), None),
    ],
)
def test_values_arrive_as_they_are(loose, tool, value, recorded):
    verdict = loose.propose(tool, {"value": value})
    assert verdict.allowed == (recorded is not None), verdict.message
    if recorded is not None:
        assert json.loads(verdict.record)["payload"]["args"] == {"value": recorded}


def test_text_is_judged_as_the_model_wrote_it(loose):
    assert loose.propose("take", '{"value": "a"}')
    twice = loose.propose("take", '{"value": "a", "value": "b"}')
    assert twice.decision == "deny" and twice.reasons[0].code == "invalid_arguments"
    assert loose.propose("take", '{"value": "a"').decision == "deny"
    assert loose.propose("take", "[1]").decision == "deny"
    assert loose.propose("take", [1]).decision == "deny"
    assert loose.propose("take", "").decision == "deny"


def test_a_result_that_is_not_json_is_not_settled_by_hand(loose):
    call = loose.propose("take", {"value": "a"}).call
    with pytest.raises(ArgumentError):
        loose.settle(call, {1, 2})
    assert loose.in_flight == [call]
    loose.settle(call, [1, 2])


def test_a_tools_result_may_be_anything(loose):
    @loose.tool
    def take(value):
        return NOT_JSON[value]

    for name in ("a set", "a lone surrogate", "a cyclic list", "nan"):
        assert take(name) is NOT_JSON[name]
    assert loose.in_flight == []
