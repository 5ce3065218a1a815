"""The extension for servers of the MCP SDK, between the SDK's own client and server."""

import asyncio
import json
import threading
from contextvars import ContextVar

import pytest

pytest.importorskip("mcp")

from conftest import crowded, hanging, outcomes, proposed
from mcp import Client, MCPError
from mcp.server import MCPServer, Server
from mcp.server.extension import compose_tool_call_handler
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListToolsResult, TextContent
from pydantic import BaseModel

from guardc import ArgumentError, Broken, Guard, GuardError
from guardc.integrations.mcp import Approval, Guarded


def server_of(guarded, *functions, **options):
    server = MCPServer("orders", extensions=[guarded])
    for function in functions:
        server.tool(**options)(guarded.tool(function))
    return server


def play(server, *calls):
    """The texts of the answers to calls, made one after another, and whether they are errors; errors of the protocol raise.

    The client is played in both eras of the protocol: directly, and over streams of messages.
    """

    async def answer(client, tool, args):
        try:
            result = await client.call_tool(tool, args)
        except MCPError as error:
            return error
        return "".join(part.text for part in result.content), result.is_error

    async def main():
        async with Client(server, mode=MODE.get()) as client:
            return [await answer(client, tool, args) for tool, args in calls]

    answers = asyncio.run(main())
    for error in answers:
        if isinstance(error, MCPError):
            raise error
    return answers


#: How the client speaks to the server.
MODE = ContextVar("mode", default="auto")


@pytest.fixture(autouse=True, params=["auto", "legacy"])
def era(request):
    token = MODE.set(request.param)
    yield
    MODE.reset(token)


@pytest.fixture
def session():
    return Guard.compile("guard g\ntool pay(amount: int in 1..=10)\ntool ping()").session("s")


@pytest.fixture(params=["async", "sync"])
def payer(request):
    """Makes a function that pays, and notes what it was given."""

    def make(ran):
        def pay(amount: int) -> str:
            ran.append(amount)
            return "paid"

        async def later(amount: int) -> str:
            return pay(amount)

        later.__name__ = "pay"
        return pay if request.param == "sync" else later

    return make


def test_denials_are_errors_in_the_guards_words(session, payer):
    ran = []
    answers = play(server_of(Guarded(session), payer(ran)), ("pay", {"amount": 50}), ("pay", {"amount": 5}))
    assert answers == [(session.preview("pay", {"amount": 50}).message, True), ("paid", False)]
    assert ran == [5] and list(outcomes(session).values()) == [True]


@pytest.mark.parametrize("args", [{"amount": "5"}, {"amount": 5.0e300}, {"amount": None}, {}, {"amount": [5]}, {"amount": 5, "more": 1}, {"amount": "[5]"}])
def test_what_the_framework_would_convert_or_refuse_is_judged_as_written(session, payer, args):
    ran = []
    ((text, failed),) = play(server_of(Guarded(session), payer(ran)), ("pay", args))
    assert ran == [] and failed and text == session.preview("pay", args).message
    assert proposed(session) == [(args, "deny")] and session.in_flight == []


def test_defaults_are_judged_as_they_run():
    source = 'guard g\ntool pay(amount: int in 1..=10, times: int?) { deny when (times else 1) > 2 because "too often" }'
    session, ran = Guard.compile(source).session("s"), []

    def pay(amount: int, times: int = 50) -> str:
        ran.append(times)
        return "paid"

    answers = play(server_of(Guarded(session), pay), ("pay", {"amount": 5}), ("pay", {"amount": 5, "times": 2}))
    assert "too often" in answers[0][0] and answers[1] == ("paid", False) and ran == [2]


def test_text_that_the_framework_reads_as_json_is_judged_as_it_runs():
    session = Guard.compile("guard g\ntool tag(names: list<string>)").session("s")
    ran = []

    def tag(names: list[str]) -> str:
        ran.append(names)
        return "tagged"

    ((text, failed),) = play(server_of(Guarded(session), tag), ("tag", {"names": '["root"]'}))
    assert ran == [] and failed and "names" in text


def test_what_the_framework_injects_is_no_argument(session):
    def pay(amount: int, ctx: Context) -> str:
        return str(ctx.request_id)

    play(server_of(Guarded(session), pay), ("pay", {"amount": 5}))
    assert proposed(session) == [({"amount": 5}, "allow")]


def test_unknown_tools_are_denied_by_the_guard(session, payer):
    ((text, failed),) = play(server_of(Guarded(session), payer([])), ("rm", {"path": "/"}))
    assert (text, failed) == ("the guard declares no tool `rm`", True)


def test_an_unguarded_tool_does_not_run(session):
    ran = []
    server = MCPServer("orders", extensions=[Guarded(session)])
    server.add_tool(lambda: ran.append(1), name="ping")
    ((text, failed),) = play(server, ("ping", {}))
    assert failed and "no guard stands around `ping`" in text and ran == []
    assert list(outcomes(session).values()) == [False]


def test_another_function_under_the_guarded_name_is_an_error(session):
    guarded = Guarded(session)
    server = MCPServer("orders", extensions=[guarded])

    @guarded.tool
    def ping() -> str:
        return "guarded"

    server.add_tool(lambda: "bare", name="ping")
    with pytest.raises(MCPError):
        play(server, ("ping", {}))


@pytest.mark.parametrize("error", [ValueError("broken"), ToolError("no luck")])
def test_a_tool_that_raises_is_settled_as_failed(session, error):
    def ping() -> str:
        raise error

    ((text, failed),) = play(server_of(Guarded(session), ping), ("ping", {}))
    assert failed and "Error executing tool ping" in text and list(outcomes(session).values()) == [False]


def test_a_result_that_says_that_it_failed_is_a_failure(session):
    def ping() -> CallToolResult:
        return CallToolResult(content=[TextContent(text="no luck")], is_error=True)

    assert play(server_of(Guarded(session), ping), ("ping", {})) == [("no luck", True)]
    assert list(outcomes(session).values()) == [False]


def test_feedback_is_a_further_text_of_the_result():
    session = Guard.compile('guard g\ntool ping()\nfeedback often every 1 calls {\n  info: "look around"\n}').session("s")

    def ping() -> str:
        return "pong"

    ((text, failed),) = play(server_of(Guarded(session), ping), ("ping", {}))
    assert text.startswith("pong") and "look around" in text and not failed


def test_a_result_that_asks_the_client_for_input_is_no_success(session):
    from mcp_types import InputRequiredResult

    def ping() -> InputRequiredResult:
        return InputRequiredResult(request_state="again")

    try:
        play(server_of(Guarded(session), ping), ("ping", {}))
    except Exception:
        pass  # The client gives up, each in its own way.
    assert outcomes(session) and not any(outcomes(session).values())


def test_results_are_settled_as_the_tool_made_them():
    class Found(BaseModel):
        name: str

    session = Guard.compile("guard g\ntool find()").session("s")

    def find() -> Found:
        return Found(name="ann")

    play(server_of(Guarded(session), find), ("find", {}))
    settled = [json.loads(line)["payload"] for line in session.records() if '"kind":"settle"' in line]
    assert settled[0]["success"] and settled[0].get("result") == {"name": "ann"}


def test_a_cancelled_call_is_settled_as_failed(session):
    async def main():
        ping, started = hanging()

        async with Client(server_of(Guarded(session), ping), mode=MODE.get()) as client:
            call = asyncio.ensure_future(client.call_tool("ping"))
            await started.wait()
            assert len(session.in_flight) == 1
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            # The next call finds the session free.
            while session.in_flight:
                await asyncio.sleep(0)

    asyncio.run(main())
    assert list(outcomes(session).values()) == [False]


def test_parallel_calls_wait_for_one_another(shared):
    write, seen = crowded()

    async def main():
        async with Client(server_of(Guarded(shared), write), mode=MODE.get()) as client:
            await asyncio.gather(*(client.call_tool("write", {"n": n}) for n in range(6)))

    asyncio.run(main())
    assert set(seen) == {1} and shared.state["state"]["total"] == 15 and shared.in_flight == []


def test_sync_tools_run_side_by_side():
    session, both = Guard.compile("guard g\ntool meet(n: int)").session("s"), threading.Barrier(2, timeout=30)

    def meet(n: int) -> str:
        both.wait()
        return "met"

    async def main():
        async with Client(server_of(Guarded(session), meet), mode=MODE.get()) as client:
            await asyncio.gather(client.call_tool("meet", {"n": 1}), client.call_tool("meet", {"n": 2}))

    asyncio.run(main())


@pytest.mark.parametrize("name", ["propose", "preview", "settle"])
def test_an_engine_that_fails_lets_nothing_through(session, payer, name):
    def fail(*given, **named):
        raise GuardError("the guard does not answer")

    setattr(session, name, fail)
    ran = []
    server = server_of(Guarded(session), payer(ran))
    for args in ({"amount": 5}, {"amount": "5"}):
        try:
            play(server, ("pay", args))
        except MCPError:
            continue
        assert name == "preview" or args["amount"] == "5"
    assert ran == [] or (name != "propose" and ran == [5])


def test_an_engine_that_has_died_answers_with_an_error(session, payer):
    with pytest.raises(Broken):
        session._panic()
    ran = []
    with pytest.raises(MCPError):
        play(server_of(Guarded(session), payer(ran)), ("pay", {"amount": 5}))
    assert ran == []


@pytest.mark.parametrize("answer, runs", [(Approval("ida"), [50]), (None, []), (True, [])])
def test_people_are_asked_for_exactly_this_call(answer, runs, payer):
    session, asked, ran = Guard.compile("guard g\ntool pay(amount: int) { approval boss when amount > 10 }").session("s"), [], []

    async def approve(pending, role):
        asked.append((pending.args, role))
        return answer

    play(server_of(Guarded(session, approve=approve), payer(ran)), ("pay", {"amount": 50}))
    assert asked == [({"amount": 50}, "boss")] and ran == runs


def test_each_client_may_have_a_session_of_its_own():
    guard = Guard.compile("guard g\ntool ping() { limit 1 per session }")
    sessions = {name: guard.session(name) for name in ("ann", "bob")}

    def ping() -> str:
        return "pong"

    server = server_of(Guarded(lambda ctx: sessions[ctx.meta["who"]]), ping)

    async def main():
        async with Client(server, mode=MODE.get()) as first, Client(server, mode=MODE.get()) as second:
            calls = [client.call_tool("ping", meta={"who": who}) for client, who in ((first, "ann"), (second, "bob")) for _ in range(2)]
            return [answer.is_error for answer in await asyncio.gather(*calls)]

    assert sorted(asyncio.run(main())) == [False, False, True, True]
    assert [[decision for _, decision in proposed(session)] for session in sessions.values()] == [["allow", "deny"]] * 2


def test_ids_of_clients_do_not_let_a_second_call_through(session):
    async def main():
        started, answered = asyncio.Event(), asyncio.Event()

        async def ping() -> str:
            started.set()
            await answered.wait()
            return "pong"

        server = server_of(Guarded(session, call_id=lambda ctx: "same"), ping)
        async with Client(server, mode=MODE.get()) as client:
            first = asyncio.ensure_future(client.call_tool("ping"))
            await started.wait()
            second = await client.call_tool("ping")
            answered.set()
            return [await first, second]

    answers = ["".join(part.text for part in answer.content) for answer in asyncio.run(main())]
    assert answers == ["pong", "two calls have the id `same`, and this one did not run"]


def test_a_handler_gets_what_was_judged(session):
    ran = []

    async def listed(ctx, params):
        return ListToolsResult(tools=[])

    async def called(ctx, params):
        ran.append(params.arguments)
        return CallToolResult(content=[TextContent(text="7")])

    server = Server("plain", on_list_tools=listed, on_call_tool=compose_tool_call_handler([Guarded(session, others="as_written")], called))
    answers = play(server, ("pay", {"amount": 50}), ("pay", {"amount": 5}), ("rm", {}))
    assert ran == [{"amount": 5}] and [failed for _, failed in answers] == [True, False, True]


def test_wrong_options_are_refused(session):
    with pytest.raises(ArgumentError):
        Guarded(session, others="allow")
    with pytest.raises(MCPError):
        play(MCPServer("orders", extensions=[Guarded(lambda ctx: None)]), ("ping", {}))
