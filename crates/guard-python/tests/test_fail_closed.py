"""Attempts to get a call through a guard that is broken, closed, locked, cancelled or forked."""

import asyncio
import gc
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest

from conftest import REFUNDS, SHARED, outcomes
from guardc import (
    ApprovalNeeded,
    ArgumentError,
    Broken,
    Closed,
    Denied,
    Forked,
    Guard,
    GuardError,
    SessionError,
    Store,
    WaitTimeout,
)


def refuses_everything(session, error):
    """No door of the session lets anything through."""
    ran = []

    @session.tool
    def ping():
        ran.append("ping")

    @session.tool(name="ping", denied="message")
    def quiet():
        ran.append("quiet")

    with pytest.raises(error):
        session.propose("ping")
    with pytest.raises(error):
        ping()
    with pytest.raises(error):
        quiet()
    with pytest.raises(error), session.call("ping"):
        ran.append("scope")

    async def scope():
        async with session.call("ping"):
            ran.append("async scope")

    with pytest.raises(error):
        asyncio.run(scope())
    assert ran == []


def test_a_panic_of_the_engine_is_an_exception_and_breaks_the_session(session):
    with pytest.raises(Broken, match="on request"):
        session._panic()
    refuses_everything(session, Broken)


def test_a_panic_is_caught_by_handlers_of_ordinary_exceptions(session):
    try:
        session._panic()
    except Exception as error:
        assert isinstance(error, GuardError)


def test_a_closed_session_refuses(session):
    session.close()
    session.close()
    assert session.is_closed
    refuses_everything(session, Closed)


def test_an_exception_of_the_clock_reaches_the_caller(guard):
    times = [1.0]
    session = guard.session("s", clock=lambda: times.pop())
    refuses_everything(session, IndexError)


@pytest.mark.parametrize("answer", ["noon", None, float("nan"), float("inf"), [], "2026-01-05"])
def test_a_clock_that_tells_no_time_refuses(guard, answer):
    times = iter([1.0])
    session = guard.session("s", clock=lambda: next(times, answer))
    refuses_everything(session, ArgumentError)


@pytest.mark.parametrize("answer", [1, [], {"ready": {1, 2}}, {"ready": float("nan")}, {1: 2}])
def test_probes_that_answer_no_json_refuse(answer):
    session = Guard.compile("guard g\ntool ping()").session("s", probes=lambda: answer)
    refuses_everything(session, ArgumentError)


def test_probes_that_the_guard_does_not_declare_refuse(guard):
    refuses_everything(guard.session("s", probes=lambda: {"readyness": True}), SessionError)


def test_a_store_that_is_locked_refuses(guard, tmp_path):
    code = (
        "import sys; from guardc import Guard\n"
        f"session = Guard.compile({REFUNDS!r}).session('s', store={str(tmp_path / 'store')!r})\n"
        "print('open', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(SessionError) as raised:
            guard.session("s", store=tmp_path / "store")
        assert raised.value.code == "journal_locked"
    finally:
        holder.communicate()


def test_a_store_that_is_removed_in_mid_run_refuses(guard, tmp_path):
    store = tmp_path / "store"
    session = guard.session("s", store=store)
    assert session.propose("verify", {"code": "1"}, call="c")
    shutil.rmtree(store)
    store.write_text("not a folder")
    with pytest.raises(GuardError):
        session.settle("c")
    refuses_everything(session, GuardError)


def test_a_settlement_that_fails_is_not_hidden_by_a_result(guard, tmp_path):
    store = tmp_path / "store"
    session = guard.session("s", store=store)

    @session.tool
    def ping():
        shutil.rmtree(store)
        store.write_text("not a folder")
        return "done"

    with pytest.raises(GuardError):
        ping()
    refuses_everything(session, GuardError)


@pytest.mark.parametrize("fault", [RuntimeError("no time"), KeyboardInterrupt(), "noon"], ids=repr)
@pytest.mark.parametrize("ending", [None, ValueError("failed"), asyncio.CancelledError()], ids=repr)
def test_a_call_that_ran_is_settled_before_a_stop_whatever_the_clock_does(guard, fault, ending):
    faults = []

    def clock():
        if faults and isinstance(faults[0], BaseException):
            raise faults[0]
        return faults[0] if faults else 1.0

    session = guard.session("s", clock=clock)

    @session.tool
    def ping():
        faults.append(fault)
        if ending is not None:
            raise ending
        return "pong"

    with pytest.raises(BaseException):
        ping()
    raised = ArgumentError if fault == "noon" else type(fault)
    with pytest.raises(raised):
        session.stop()
    faults.clear()
    assert session.stop() and session.in_flight == []
    assert list(outcomes(session).values()) == [ending is None]


def test_a_clock_that_fails_once_does_not_make_a_result_unreadable():
    times = [1.0, 1.0, "noon", 1.0, 1.0, 1.0]
    session = Guard.compile("guard g\ntool ping() { returns string }").session("s", clock=lambda: times.pop(0))
    with pytest.raises(ArgumentError):
        session.tool(lambda: "pong", name="ping")()
    session.stop()
    settled = next(json.loads(line)["payload"] for line in session.records() if '"kind":"settle"' in line)
    assert settled["success"] and settled["result"] == "pong", settled


def test_a_cancellation_stays_a_cancellation_where_the_settlement_fails(session):
    async def run():
        async with session.call("ping"):
            session.close()
            await asyncio.Event().wait()

    async def main():
        task = asyncio.ensure_future(run())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    refuses_everything(session, Closed)


def in_child(work):
    """Runs `work` in a forked process; the child's exit code is 0 if it returns true."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def raises_forked(work):
    try:
        work()
    except Forked:
        return True
    return False


def test_a_session_is_not_for_a_forked_process(guard, tmp_path):
    store = Store(str(tmp_path / "store"))
    sessions = [guard.session("m"), guard.session("d", store=store)]
    for session in sessions:
        assert in_child(lambda: raises_forked(lambda: session.propose("ping"))) == 0
        assert in_child(lambda: raises_forked(session.close)) == 0
        assert in_child(lambda: raises_forked(lambda: session.settle("x"))) == 0
    assert in_child(lambda: raises_forked(lambda: store.requests())) == 0
    assert in_child(lambda: bool(guard.session("fresh").propose("ping"))) == 0
    # What the children dropped is still locked and sound here.
    assert all(session.propose("ping") for session in sessions)


def test_a_child_that_ends_leaves_the_parents_lock(guard, tmp_path):
    session = guard.session("s", store=tmp_path / "store")

    def drop():
        nonlocal session
        session = None
        gc.collect()
        return True

    assert in_child(drop) == 0
    code = f"from guardc import Guard; Guard.compile({REFUNDS!r}).session('s', store={str(tmp_path / 'store')!r})"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "SessionError" in other.stderr
    assert session.propose("ping")


def test_two_threads_get_no_more_than_the_limit(guard):
    session = guard.session("s")
    allowed, start = [], threading.Barrier(8)

    def many():
        start.wait()
        for _ in range(200):
            allowed.append(bool(session.propose("ping")))

    threads = [threading.Thread(target=many) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(allowed) == 1600 and sum(allowed) == 2


def test_a_call_that_is_dropped_without_being_settled_stays_in_flight(shared):
    assert shared.propose("write", {"n": 1}, call="lost")
    gc.collect()
    assert shared.in_flight == ["lost"]
    assert shared.propose("write", {"n": 1}).decision == "wait"


def test_a_verdict_is_false_unless_it_allows(session):
    assert not session.propose("refund", {"order": "A", "amount": 1})
    assert not session.propose("nothing")
    assert session.propose("ping")


@pytest.mark.parametrize("decision", ["deny", "ask"])
def test_tools_run_only_after_allow(session, decision):
    ran = []

    @session.tool
    def refund(order, amount):
        ran.append(order)

    if decision == "ask":
        session.settle(session.propose("verify", {"code": "1"}).call)
    with pytest.raises(ApprovalNeeded if decision == "ask" else Denied):
        refund("A1", 200)
    assert ran == []


def test_a_sync_tool_that_returns_an_awaitable_is_a_failure(session):
    async def later():
        raise AssertionError("it ran outside of the guard")

    @session.tool
    def ping():
        return later()

    with pytest.raises(ArgumentError, match="awaitable"):
        ping()
    assert session.in_flight == []


def test_a_generator_is_no_tool(session):
    with pytest.raises(ArgumentError, match="generator"):

        @session.tool
        def ping():
            yield 1


def test_a_nested_call_does_not_wait_for_itself(shared):
    with shared.call("write", {"n": 1}):
        with pytest.raises(WaitTimeout), shared.call("write", {"n": 2}):
            pass
    assert shared.in_flight == []


def test_the_interpreter_ends_with_open_sessions(tmp_path):
    code = (
        "import threading, asyncio; from guardc import Guard\n"
        f"guard = Guard.compile({SHARED!r})\n"
        f"session = guard.session('s', store={str(tmp_path / 'store')!r}, clock=lambda: 5.0)\n"
        "session.me = session\n"
        "session.propose('write', {'n': 1})\n"
        "memory = guard.session('m'); memory.propose('write', {'n': 1})\n"
        "def wait():\n"
        "    with memory.call('write', {'n': 2}): pass\n"
        "threading.Thread(target=wait, daemon=True).start()\n"
        "print('end')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")


def test_a_trace_that_says_something_else_names_its_record(guard):
    session = guard.session("s")
    session.settle(session.propose("verify", {"code": "1"}).call)
    trace = session.records()
    damaged = [line.replace('"success"', '"failure"') if seq == 2 else line for seq, line in enumerate(trace)]
    assert damaged != trace
    with pytest.raises(SessionError) as raised:
        guard.session("s", trace=damaged)
    assert raised.value.seq == 2
    with pytest.raises(SessionError) as raised:
        guard.session("s", trace=[])
    assert raised.value.seq is None


def test_a_session_in_a_cycle_is_collected(guard, tmp_path):
    path = tmp_path / "store"
    session = None
    session = guard.session("s", store=path, clock=lambda: 1.0 if session else 0.0)
    session.me = session
    del session
    gc.collect()
    assert guard.session("s", store=path).is_resumed


def test_a_plan_that_was_damaged_is_refused(guard):
    plan = bytearray(guard.plan_bytes())
    for at in range(0, len(plan), max(1, len(plan) // 60)):
        plan[at] ^= 0x55
        with pytest.raises(GuardError):
            Guard.from_plan(bytes(plan))
        plan[at] ^= 0x55
    assert Guard.from_plan(bytes(plan)).name == "refunds"


def test_a_guard_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(GuardError, match="no such file"):
        Guard.load(tmp_path / "none.guard")
    with pytest.raises(GuardError, match="directory"):
        Guard.load(tmp_path)
    (tmp_path / "binary.guard").write_bytes(b"\xff\xfe")
    with pytest.raises(GuardError, match="UTF-8"):
        Guard.load(pathlib.Path(tmp_path / "binary.guard"))
