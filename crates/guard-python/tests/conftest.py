"""What the tests share: guards, and files of the repository."""

import asyncio
import json
import pathlib

import pytest

from guardc import Guard

ROOT = pathlib.Path(__file__).resolve().parents[3]

REFUNDS = """guard refunds
tool verify(code: string)
tool refund(order: string, amount: decimal in 0.01..=500) {
  requires verify
  approval boss when amount > 100
}
tool ping() { limit 2 per session }
"""

#: `write` and `read` touch one variable: while one is in flight the other waits.
SHARED = """guard shared
state { total: int = 0 }
tool read() { deny when total < 0 because "there is nothing" }
tool write(n: int) { effect total = total + n }
tool other()
"""


@pytest.fixture
def guard():
    return Guard.compile(REFUNDS)


@pytest.fixture
def session(guard):
    return guard.session("s1")


@pytest.fixture
def shared():
    return Guard.compile(SHARED).session("s1")


def outcomes(session):
    """Whether each settled call succeeded, by its id."""
    records = [json.loads(line) for line in session.records()]
    return {record["call"]: record["payload"]["success"] for record in records if record["kind"] == "settle"}


def proposed(session):
    """The arguments and the decision of each proposal."""
    records = [json.loads(line)["payload"] for line in session.records() if '"kind":"propose"' in line]
    return [(payload["args"], payload["verdict"]["decision"]) for payload in records]


def hanging():
    """A tool `ping` that never ends, and the event that says it has begun."""
    started = asyncio.Event()

    async def ping() -> str:
        started.set()
        await asyncio.Event().wait()

    return ping, started


def crowded():
    """A tool `write`, and the list of how many of its calls ran at once, each time that one began."""
    inside, seen = 0, []

    async def write(n: int) -> int:
        nonlocal inside
        inside += 1
        seen.append(inside)
        await asyncio.sleep(0)
        inside -= 1
        return n

    return write, seen
