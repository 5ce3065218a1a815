"""The middleware for LangChain in the framework's own loop, with a scripted chat model."""

import asyncio

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, ToolException

from conftest import hanging, outcomes, proposed

from guardc import Broken, Guard
from guardc.integrations.langchain import Approval, GuardMiddleware


class Script(BaseChatModel):
    turns: list
    shown: list = []

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        self.shown.append(list(messages))
        turn = self.turns.pop(0) if self.turns else "done"
        message = AIMessage(turn) if isinstance(turn, str) else turn if isinstance(turn, AIMessage) else AIMessage("", tool_calls=turn)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def answers(self):
        return {message.tool_call_id: message for message in self.shown[-1] if isinstance(message, ToolMessage)}


def call(tool, args=None, id="c1"):
    return {"name": tool, "args": args or {}, "id": id, "type": "tool_call"}


def tool(function, name):
    """A tool with a sync and an async form."""

    async def later(**args):
        await asyncio.sleep(0)
        return function(**args)

    schema = StructuredTool.from_function(function, name=name, description=name).args_schema
    return StructuredTool.from_function(function, later, name=name, description=name, args_schema=schema)


def play(asynchronous, session, turns, *tools, middleware=(), **options):
    script = Script(turns=list(turns), shown=[])
    agent = create_agent(script, tools=list(tools), middleware=[*middleware, GuardMiddleware(session, **options)])
    given = {"messages": [HumanMessage("go")]}
    result = asyncio.run(agent.ainvoke(given)) if asynchronous else agent.invoke(given)
    return script, result["messages"][-1].content


@pytest.fixture
def pay():
    return Guard.compile("guard g\ntool pay(amount: int in 1..=10)\ntool ping()").session("s")


@pytest.fixture(params=[True, False], ids=["async", "sync"])
def asynchronous(request):
    return request.param


def pay_tool(ran):
    def pay(amount: int) -> str:
        ran.append(amount)
        return "paid"

    return tool(pay, "pay")


def test_denials_are_read_verbatim_and_nothing_runs(asynchronous, pay):
    ran = []
    script, last = play(asynchronous, pay, [[call("pay", {"amount": 50})], [call("pay", {"amount": 5}, "c2")]], pay_tool(ran))
    assert ran == [5] and last == "done"
    assert script.answers()["c1"].content == pay.preview("pay", {"amount": 50}).message
    assert script.answers()["c1"].status == "error"


def test_unknown_tools_are_denied_by_the_guard(asynchronous, pay):
    script, _ = play(asynchronous, pay, [[call("rm", {"path": "/"})]], pay_tool([]))
    assert script.answers()["c1"].content == "the guard declares no tool `rm`"
    assert proposed(pay) == [({"path": "/"}, "deny")]


def test_coerced_arguments_are_judged_as_written(asynchronous, pay):
    ran = []
    script, _ = play(asynchronous, pay, [[call("pay", {"amount": "5"})]], pay_tool(ran))
    assert ran == [] and proposed(pay) == [({"amount": "5"}, "deny")]


def test_defaults_are_judged_as_they_run(asynchronous, pay):
    ran = []

    def pay_more(amount: int, times: int = 50) -> str:
        ran.append(times)
        return "paid"

    script, _ = play(asynchronous, pay, [[call("pay", {"amount": 5})]], tool(pay_more, "pay"))
    assert ran == [] and "times" in script.answers()["c1"].content


def test_unreadable_arguments_are_denied(asynchronous, pay):
    cut = {"name": "pay", "args": '{"amount": 5', "id": "cut", "error": "cut", "type": "invalid_tool_call"}
    script, last = play(asynchronous, pay, [AIMessage("", invalid_tool_calls=[cut])], pay_tool([]))
    assert last == "done" and script.answers()["cut"].status == "error"
    assert [decision for _, decision in proposed(pay)] == ["deny"]


def test_a_tool_that_raises_is_settled_as_failure(asynchronous, pay):
    def ping() -> str:
        raise ValueError("broken")

    with pytest.raises(ValueError):
        play(asynchronous, pay, [[call("ping")]], tool(ping, "ping"))
    assert outcomes(pay) == {"c1": False} and pay.in_flight == []


def test_an_error_that_the_framework_answers_is_a_failure(asynchronous, pay):
    def ping() -> str:
        raise ToolException("no luck")

    handled = tool(ping, "ping")
    handled.handle_tool_error = True
    script, _ = play(asynchronous, pay, [[call("ping")]], handled)
    assert script.answers()["c1"].content == "no luck"
    assert outcomes(pay) == {"c1": False}


def test_parallel_calls_wait_for_one_another(asynchronous, shared):
    inside = most = 0

    def write(n: int) -> int:
        nonlocal inside, most
        inside, most = inside + 1, max(most, inside + 1)
        inside -= 1
        return n

    script, _ = play(asynchronous, shared, [[call("write", {"n": n}, f"c{n}") for n in range(6)]], tool(write, "write"))
    assert most == 1 and shared.state["state"]["total"] == 15 and shared.in_flight == []


def test_a_cancelled_run_leaves_no_call_in_flight(pay):
    ping, started = hanging()
    endless = StructuredTool.from_function(coroutine=ping, name="ping", description="ping")

    async def main():
        script = Script(turns=[[call("ping")]], shown=[])
        agent = create_agent(script, tools=[endless], middleware=[GuardMiddleware(pay)])
        run = asyncio.ensure_future(agent.ainvoke({"messages": [HumanMessage("go")]}))
        await started.wait()
        assert pay.in_flight == ["c1"]
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(main())
    assert pay.in_flight == [] and outcomes(pay) == {"c1": False}


def test_an_engine_that_fails_ends_the_run(asynchronous, pay):
    ran = []

    def ping() -> str:
        with pytest.raises(Broken):
            pay._panic()
        return "broken"

    with pytest.raises(Broken):
        play(asynchronous, pay, [[call("ping")], [call("pay", {"amount": 1}, "c2")]], tool(ping, "ping"), pay_tool(ran))
    assert ran == []


def test_a_blocked_stop_goes_on(asynchronous):
    session = Guard.compile("guard g\nstate { n: int = 0 }\ntool ping() { effect n = n + 1 }\ncompletion { n >= 1 }").session("s")
    script, last = play(asynchronous, session, ["done", [call("ping")], "now"], tool(lambda: "pong", "ping"))
    assert last == "now" and "n >= 1" in script.shown[1][-1].content


@pytest.mark.parametrize("answer, runs", [(Approval("ida"), [50]), (None, []), (True, [])])
def test_people_are_asked_for_exactly_this_call(asynchronous, answer, runs):
    session, asked, ran = Guard.compile("guard g\ntool pay(amount: int) { approval boss when amount > 10 }").session("s"), [], []

    def approve(pending, role):
        asked.append((pending.args, role))
        return answer

    play(asynchronous, session, [[call("pay", {"amount": 50})]], pay_tool(ran), approve=approve)
    assert asked == [({"amount": 50}, "boss")] and ran == runs



def test_an_outer_middleware_that_changes_arguments_is_judged_by_what_runs(pay):
    ran = []

    class More(AgentMiddleware):
        async def awrap_tool_call(self, request, handler):
            return await handler(request.override(tool_call={**request.tool_call, "args": {"amount": 50}}))

    play(True, pay, [[call("pay", {"amount": 5})]], pay_tool(ran), middleware=[More()])
    assert ran == [] and proposed(pay) == [({"amount": 50}, "deny")]
