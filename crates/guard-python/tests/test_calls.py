"""Scopes and guarded functions: what settles a call, and who waits for whom."""

import asyncio
import pickle
import threading

import pytest

import guardc._calls
from guardc import (
    ApprovalNeeded,
    ArgumentError,
    Closed,
    Denied,
    Guard,
    GuardError,
    PendingApproval,
    Served,
    WaitTimeout,
)


def outcomes(session):
    """The outcome of each settled call, by its id."""
    import json

    records = [json.loads(line) for line in session.records()]
    settled = [record for record in records if record["kind"] == "settle"]
    return {record["call"]: "success" if record["payload"]["success"] else "failure" for record in settled}


def test_a_scope_settles_success_and_failure(session):
    with session.call("ping", call="good") as scope:
        scope.result = {"a": 1}
    with pytest.raises(ZeroDivisionError), session.call("ping", call="bad"):
        1 / 0
    assert outcomes(session) == {"good": "success", "bad": "failure"}
    assert scope.settled is not None


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, BaseException])
def test_every_exception_settles_as_failure(session, error):
    with pytest.raises(error), session.call("ping", call="c"):
        raise error
    assert outcomes(session) == {"c": "failure"} and session.in_flight == []


def test_a_scope_is_for_one_call(session):
    with session.call("ping") as scope:
        pass
    with pytest.raises(ArgumentError), scope:
        raise AssertionError("it ran twice")


def test_cancellation_and_time_out_settle_as_failure(session):
    async def hang(call):
        async with session.call("ping", call=call):
            await asyncio.Event().wait()

    async def main():
        task = asyncio.ensure_future(hang("cancelled"))
        await asyncio.sleep(0)
        assert session.in_flight == ["cancelled"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(hang("late"), 0)

    asyncio.run(main())
    assert session.in_flight == []
    assert outcomes(session)["cancelled"] == "failure"


def test_a_wait_ends_when_the_call_is_settled(shared):
    order = []

    async def write(n, gate):
        async with shared.call("write", {"n": n}):
            order.append(n)
            await gate.wait()
        gate.set()

    async def main():
        gate = asyncio.Event()
        tasks = [asyncio.ensure_future(write(n, gate)) for n in range(20)]
        await asyncio.sleep(0)
        assert order == [0]
        gate.set()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert order == list(range(20))
    assert shared.state["state"]["total"] == sum(range(20))


def test_threads_wait_for_one_another(shared):
    inside, most, lock = 0, 0, threading.Lock()

    def write():
        nonlocal inside, most
        for _ in range(25):
            with shared.call("write", {"n": 1}):
                with lock:
                    inside, most = inside + 1, max(most, inside + 1)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=write) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert most == 1 and shared.in_flight == []
    assert shared.state["state"]["total"] == 200


def test_threads_and_tasks_wait_for_one_another(shared):
    async def main():
        async def write():
            async with shared.call("write", {"n": 1}):
                await asyncio.sleep(0)

        def block():
            with shared.call("write", {"n": 1}):
                pass

        loop = asyncio.get_running_loop()
        await asyncio.gather(*(write() for _ in range(20)), *(loop.run_in_executor(None, block) for _ in range(20)))

    asyncio.run(main())
    assert shared.state["state"]["total"] == 40


def test_a_settlement_by_hand_wakes(shared):
    held = shared.propose("write", {"n": 1}).call

    async def main():
        async def write():
            async with shared.call("write", {"n": 2}):
                pass

        task = asyncio.ensure_future(write())
        await asyncio.sleep(0)
        shared.settle(held, outcome="failure")
        await task

    asyncio.run(main())
    assert shared.state["state"]["total"] == 2


def test_a_cancelled_wait_leaves_nothing_behind(shared):
    held = shared.propose("write", {"n": 1}).call

    async def write(n):
        async with shared.call("write", {"n": n}):
            pass

    async def main():
        waits = asyncio.ensure_future(write(2))
        next_one = asyncio.ensure_future(write(3))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.sleep(0)
        shared.settle(held)
        await next_one
        # Woken and cancelled in the same moment: the call was allowed, and nobody runs it.
        again = shared.propose("write", {"n": 1}).call
        woken = asyncio.ensure_future(write(4))
        await asyncio.sleep(0)
        shared.settle(again)
        woken.cancel()
        with pytest.raises(asyncio.CancelledError):
            await woken

    asyncio.run(main())
    assert shared.in_flight == [] and len(shared._waiting) == 0
    assert shared.state["state"]["total"] == 5


def test_a_wait_has_an_end():
    session = Guard.compile("guard g\nstate { n: int = 0 }\ntool write() { effect n = n + 1 }").session("s", wait=0)
    session.propose("write")
    ran = []
    with pytest.raises(WaitTimeout), session.call("write"):
        ran.append("sync")

    async def main():
        async with session.call("write"):
            ran.append("async")

    with pytest.raises(WaitTimeout):
        asyncio.run(main())
    assert ran == [] and len(session._waiting) == 0


def test_a_closed_session_ends_the_waits(shared):
    shared.propose("write", {"n": 1})

    async def main():
        async def write():
            async with shared.call("write", {"n": 2}):
                raise AssertionError("it ran")

        task = asyncio.ensure_future(write())
        await asyncio.sleep(0)
        shared.close()
        with pytest.raises(Closed):
            await task

    asyncio.run(main())


def test_later_calls_do_not_pass_a_waiting_one_for_ever():
    """`left` and `right` overlap without end, and `both` must wait for either: only so many may pass it."""
    session = Guard.compile(
        "guard g\nstate { a: int = 0\n b: int = 0 }\ntool left() { effect a = a + 1 }\ntool right() { effect b = b + 1 }\n"
        "tool both() { effect a = a + 1\n effect b = b + 1 }"
    ).session("s")
    order = []

    async def run(tool, leave):
        async with session.call(tool):
            order.append(tool)
            await leave.wait()

    async def main():
        leave = [asyncio.Event() for _ in range(100)]
        tasks = [asyncio.ensure_future(run("left", leave[0]))]
        await asyncio.sleep(0)
        done = asyncio.Event()
        done.set()
        both = asyncio.ensure_future(run("both", done))
        await asyncio.sleep(0)
        for n in range(1, 100):
            tasks.append(asyncio.ensure_future(run(("left", "right")[n % 2], leave[n])))
            await asyncio.sleep(0)
            leave[n - 1].set()
            await asyncio.sleep(0)
        [event.set() for event in leave]
        await asyncio.gather(both, *tasks)

    asyncio.run(main())
    assert 1 < order.index("both") <= guardc._calls.MAX_PASSED + 2
    assert len(order) == 101


def test_calls_that_queue_do_not_pass_for_ever_either(shared):
    held, ended = shared.propose("write", {"n": 1}).call, []

    async def other():
        async with shared.call("other"):
            ended.append(1)

    async def main():
        async def write():
            async with shared.call("write", {"n": 1}):
                ended.append("write")

        tasks = [asyncio.ensure_future(write())]
        await asyncio.sleep(0)
        tasks += [asyncio.ensure_future(other()) for _ in range(40)]
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(ended) == guardc._calls.MAX_PASSED
        shared.settle(held)
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert len(ended) == 41


def test_functions_keep_their_name_and_signature(session):
    @session.tool
    def ping(a: int = 1) -> str:
        """Pings."""
        return "pong"

    assert (ping.__name__, ping.__doc__) == ("ping", "Pings.")
    import inspect

    assert str(inspect.signature(ping)) == "(a: int = 1) -> str"


def test_the_guard_judges_default_values_and_no_excluded_parameters():
    session = Guard.compile("guard g\ntool pay(amount: int?) { deny when (amount else 1) > 10 }").session("s")

    @session.tool(exclude="context")
    def pay(context, amount=50):
        return amount

    with pytest.raises(Denied):
        pay(object())
    assert pay(object(), amount=5) == 5


FORMS = """guard g
state { total: int = 0 }
tool write(n: int) { effect total = total + n }
tool pay(amount: int?, to: string?, note: string?) {
  deny when (amount else 0) > 1000 because "too much"
  deny when total > 5 and note is some because "no notes"
  approval boss when (amount else 0) > 100
  approval clerk when to is some
}
"""


@pytest.mark.parametrize(
    "real, written, expected",
    [
        ({"amount": 5}, {"amount": 6}, "real"),
        ({"amount": 5}, {"amount": 2000}, "written"),
        ({"amount": 2000}, {"amount": 200}, "real"),
        ({"amount": 5}, {"amount": 200}, "written"),
        ({"amount": 200}, {"amount": 5}, "real"),
        ({"amount": 200}, {"amount": 300}, "real"),
        ({"amount": 200}, {"amount": 300, "to": "ann"}, "written"),
        ({"amount": 200, "to": "ann"}, {"to": "ann"}, "real"),
        ({"amount": 200}, {"to": "ann"}, None),
        ({"amount": float("nan")}, {"amount": 5}, "real"),
        ({"amount": 5}, '{"amount": 5, "amount": 6}', "written"),
    ],
)
def test_the_stricter_form_of_a_call_is_proposed(real, written, expected):
    session = Guard.compile(FORMS).session("s")
    if expected is None:
        with pytest.raises(ArgumentError, match="approvals of different people"):
            guardc._calls.strictest_form(session, "pay", (real, written))
    else:
        assert guardc._calls.strictest_form(session, "pay", (real, written)) is {"real": real, "written": written}[expected]


def form_scope(session, real, written, roles=()):
    scope = session.call("pay", real)
    scope.written, scope.roles = written, roles
    return scope


def test_an_approval_of_a_form_is_for_one_call():
    cases = [({"amount": 5}, {"amount": 200}), ({"amount": 200}, {"amount": 5}), ({"amount": 200}, {"amount": 300}), ({"amount": 200}, {"amount": 300, "to": "ann"})]
    for real, written in cases:
        session = Guard.compile(FORMS).session("s")
        for _ in range(2):
            with pytest.raises(ApprovalNeeded) as needed, form_scope(session, real, written):
                raise AssertionError("it ran")
            session.approve_pending(needed.value.pending, by="ida")
            with form_scope(session, real, written, needed.value.pending.roles):
                pass


def test_a_form_that_is_denied_meanwhile_does_not_run():
    session = Guard.compile(FORMS).session("s")
    with pytest.raises(ApprovalNeeded) as needed, form_scope(session, {"amount": 200}, {"amount": 200, "note": "x"}):
        raise AssertionError("it ran")
    session.approve_pending(needed.value.pending, by="ida")
    with session.call("write", {"n": 9}):
        pass
    with pytest.raises(Denied, match="no notes"), form_scope(session, {"amount": 200}, {"amount": 200, "note": "x"}, ("boss",)):
        raise AssertionError("it ran")


def test_both_forms_of_a_call_that_waited_are_judged_again():
    session, ran = Guard.compile(FORMS).session("s"), []

    async def write():
        async with session.call("write", {"n": 9}):
            await asyncio.sleep(0)
            ran.append("write")

    async def pay():
        with pytest.raises(Denied, match="no notes"):
            async with form_scope(session, {"amount": 5}, {"amount": 5, "note": "x"}):
                ran.append("pay")

    async def both():
        await asyncio.gather(write(), pay())

    asyncio.run(both())
    assert ran == ["write"]


def test_a_name_that_two_arguments_have_is_refused():
    session, ran = Guard.compile('guard g\ntool rm(path: string, force: bool?) { deny unless path == "ok" }').session("s"), []

    def rm(path, /, **more):
        ran.append((path, more))

    def rest(*path, **more):
        ran.append((path, more))

    for function in (rm, rest):
        guarded = session.tool(function, name="rm")
        with pytest.raises(ArgumentError, match="two arguments with the name `path`"):
            guarded("SECRET", path="ok")
    session.tool(rm)("ok", force=True)
    assert ran == [("ok", {"force": True})]


def test_methods_and_callables_are_tools(session):
    class Service:
        async def __call__(self):
            return "pong"

    assert asyncio.run(session.tool(Service(), name="ping")()) == "pong"
    assert outcomes(session) != {}


def test_pending_approvals_survive(session, guard):
    session.settle(session.propose("verify", {"code": "1"}).call)
    with pytest.raises(ApprovalNeeded) as raised, session.call("refund", {"order": "A", "amount": 200}, call="c9"):
        raise AssertionError("it ran")
    pending = raised.value.pending
    assert pickle.loads(pickle.dumps(pending)) == pending == PendingApproval.from_json(pending.to_json())
    assert (pending.call, pending.args, pending.roles) == ("c9", {"order": "A", "amount": 200}, ("boss",))
    # Another process: the session goes on from its snapshot.
    other = guard.session("s1", snapshot=pickle.loads(pickle.dumps(session.snapshot())))
    assert other.propose_pending(pending).decision == "ask"
    other.approve_pending(pending, by="ida")
    verdict = other.propose_pending(pending)
    assert verdict and verdict.call == "c9"
    with pytest.raises(ArgumentError):
        guard.session("s2").propose_pending(pending)


def test_approvals_beside_a_store(guard, tmp_path):
    from guardc import Store

    store = Store(str(tmp_path / "store"))
    session = guard.session("s", store=store, approvals=True)
    session.settle(session.propose("verify", {"code": "1"}).call)
    asked = session.propose("refund", {"order": "A", "amount": 200})
    assert asked.decision == "ask" and asked.request
    assert [request["state"] for request in store.requests()] == ["open"]
    with pytest.raises(GuardError):
        store.grant(asked.request, by="")
    assert store.reject(asked.request, by="ida", reason="too much")["state"] == "refused"
    refused = session.propose("refund", {"order": "A", "amount": 200})
    assert not refused and refused.message.endswith("\nida refused exactly this call: too much")
    store.grant(asked.request, by="ida")
    assert session.propose("refund", {"order": "A", "amount": 200})
    assert not session.propose("refund", {"order": "A", "amount": 200}, call="again")


def test_usage_is_ignored_where_nothing_is_charged(session):
    assert session.usage("tokens", 512) is False
    charged = Guard.compile("guard g\nbudget tokens = 1000\ntool a()").session("s")
    assert charged.usage("tokens", "512.5") is True
    for amount in (-1, "many", None, float("nan")):
        with pytest.raises(ArgumentError):
            charged.usage("tokens", amount)


def test_served_tools_run_nothing():
    guard = Guard.load(str(__import__("conftest").ROOT / "specs/seeds/compymac.guard"))
    session = guard.session("s")
    name = next(tool["name"] for tool in guard.tools if tool["served"] and tool["name"].endswith("_list"))
    with pytest.raises(Served) as raised, session.call(name):
        raise AssertionError("it ran")
    assert raised.value.verdict.is_served and session.in_flight == []

    @session.tool(name=name)
    def listed():
        raise AssertionError("it ran")

    assert listed() == raised.value.verdict.served


def test_guards_pickle(guard):
    again = pickle.loads(pickle.dumps(guard))
    assert again.plan_hash == guard.plan_hash and type(again) is Guard


def test_errors_print_as_the_command_does(tmp_path):
    import os
    import shutil
    import subprocess

    from conftest import ROOT

    guardc = shutil.which("guardc") or str(ROOT / "target/debug/guardc")
    if not os.path.exists(guardc):
        pytest.skip("the command is not built")
    pages = sorted((ROOT / "docs/codes").glob("G0[1-3]*.md"))[:12]
    import re

    for page in pages:
        for text in re.findall(r"^```guard[^\n]*\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)[:1]:
            (tmp_path / "bad.guard").write_text(text)
            shown = subprocess.run([guardc, "check", "bad.guard"], cwd=tmp_path, capture_output=True, text=True)
            errors = [part for part in shown.stdout.split("\n\n") if part.startswith("error[")]
            if not errors:
                continue
            here = os.getcwd()
            os.chdir(tmp_path)
            try:
                with pytest.raises(GuardError) as raised:
                    Guard.load("bad.guard")
            finally:
                os.chdir(here)
            assert str(raised.value).split("\n\n") == [part.rstrip("\n") for part in errors]


TRANSFORMS = """guard t
tool search(limit: int in 1..=1000) { transform limit = min(limit, 50) }
record Row { name: string, card: string }
tool rows() { returns list<Row>  transform result.card = "…" }
"""


def test_transforms_are_for_who_can_carry_them_out():
    import json

    session = Guard.compile(TRANSFORMS).session("s")
    verdict = session.propose("search", {"limit": 900}, call="1")
    assert not verdict and json.loads(verdict.instead_text) == {"limit": 50}
    assert session.propose("search", verdict.instead_text, call="1")
    assert session.settle("1", []).shown_text is None
    assert session.propose("rows", {}, call="2")
    shown = session.settle("2", [{"name": "Ann", "card": "4111"}]).shown_text
    assert json.loads(shown) == [{"name": "Ann", "card": "…"}]
    # A scope hands the tool's result on as it is.
    with pytest.raises(Denied, match="changes what `rows` returns"), session.call("rows"):
        pytest.fail("the tool ran")
    assert session.in_flight == []
