"""The plugin for Google ADK in the framework's own runner, with a scripted model."""

import asyncio

import pytest

pytest.importorskip("google.adk")

from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from conftest import crowded, hanging, outcomes, proposed

from guardc import Broken, Guard, GuardError, Incomplete
from guardc.integrations.google_adk import Approval, Guarded, UnguardedToolWarning


class Script(BaseLlm):
    turns: list
    shown: list = []

    async def generate_content_async(self, llm_request, stream=False):
        self.shown.append([part for content in llm_request.contents for part in content.parts])
        turn = self.turns.pop(0) if self.turns else "done"
        parts = [types.Part(text=turn)] if isinstance(turn, str) else turn
        used = types.GenerateContentResponseUsageMetadata(total_token_count=7)
        if stream:
            yield LlmResponse(content=types.ModelContent(parts), partial=True, usage_metadata=used)
        yield LlmResponse(content=types.ModelContent(parts), usage_metadata=used)

    def answers(self):
        return {part.function_response.id: part.function_response.response for part in self.shown[-1] if part.function_response}

    def words(self):
        return [part.text for part in self.shown[-1] if part.text]


def call(tool, args=None, id="c1"):
    return types.Part(function_call=types.FunctionCall(id=id, name=tool, args=args or {}))


def agent_of(turns, *tools, name="agent", **options):
    return LlmAgent(name=name, model=Script(model="script", turns=list(turns), shown=[]), tools=list(tools), **options)


async def run(agent, guarded, *plugins, driven=True, **config):
    """Runs an agent, and returns the texts of its final answers."""
    runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[guarded, *plugins]))
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    options = {"user_id": "u", "session_id": "s", "new_message": types.UserContent("go"), "run_config": RunConfig(**config)}
    events = guarded.run(runner, **options) if driven else runner.run_async(**options)
    finals = []
    async for event in events:
        if event.is_final_response() and event.content and event.content.parts[0].text:
            finals.append(event.content.parts[0].text)
    return finals


def play(session, turns, *tools, plugins=(), driven=True, config=None, agent=None, **options):
    agent = agent_of(turns, *tools, **(agent or {}))
    finals = asyncio.run(run(agent, Guarded(session, **options), *plugins, driven=driven, **(config or {})))
    return agent.model, finals


@pytest.fixture
def pay():
    return Guard.compile("guard g\ntool pay(amount: int in 1..=10)\ntool ping()").session("s")


def pay_tool(ran):
    def pay(amount: int) -> str:
        ran.append(amount)
        return "paid"

    return pay


def test_denials_are_read_verbatim_and_nothing_runs(pay):
    ran = []
    script, finals = play(pay, [[call("pay", {"amount": 50})], [call("pay", {"amount": 5}, "c2")]], pay_tool(ran))
    assert ran == [5] and finals == ["done"]
    assert script.answers() == {"c1": {"error": pay.preview("pay", {"amount": 50}).message}, "c2": {"result": "paid"}}


def test_unknown_tools_are_denied_by_the_guard(pay):
    script, _ = play(pay, [[call("rm", {"path": "/"})]], pay_tool([]))
    assert script.answers()["c1"] == {"error": "the guard declares no tool `rm`"}
    assert proposed(pay) == [({"path": "/"}, "deny")]


def test_a_tool_that_only_the_guard_knows_does_not_run(pay):
    script, _ = play(pay, [[call("ping")]], pay_tool([]))
    assert "no tool with that name" in script.answers()["c1"]["error"] and outcomes(pay) == {"c1": False}


def test_defaults_are_judged_as_they_run(pay):
    ran = []

    def pay_more(amount: int, times: int = 50) -> str:
        ran.append(times)

    pay_more.__name__ = "pay"
    script, _ = play(pay, [[call("pay", {"amount": 5})]], pay_more)
    assert ran == [] and "times" in script.answers()["c1"]["error"]


@pytest.mark.parametrize("decision, args", [("deny", {}), ("allow", {"amount": 5})])
def test_arguments_that_the_framework_refuses_do_not_run(decision, args):
    session = Guard.compile("guard g\ntool pay(amount: int)").session("s")

    def pay(amount: int, to: str) -> str:
        raise AssertionError("it ran")

    script, _ = play(session, [[call("pay", args)]], pay)
    assert proposed(session) == [(args, decision)] and session.in_flight == []
    expected = session.preview("pay", args).message if decision == "deny" else "mandatory input parameters"
    assert expected in script.answers()["c1"]["error"]


def test_arguments_that_a_callback_changes_are_judged_as_they_run(pay):
    ran = []

    def more(tool, args, tool_context):
        args["amount"] = 50

    play(pay, [[call("pay", {"amount": 5})]], pay_tool(ran), agent={"before_tool_callback": more})
    assert ran == [] and proposed(pay) == [({"amount": 50}, "deny")]


def test_arguments_that_a_callback_mends_are_judged_as_written(pay):
    ran = []

    def less(tool, args, tool_context):
        args["amount"] = 5

    play(pay, [[call("pay", {"amount": 50})]], pay_tool(ran), agent={"before_tool_callback": less})
    assert ran == [] and proposed(pay) == [({"amount": 50}, "deny")]


def test_a_tool_that_raises_is_settled_as_failed(pay):
    def ping() -> str:
        raise ValueError("broken")

    with pytest.raises(ValueError):
        play(pay, [[call("ping")]], ping)
    assert outcomes(pay) == {"c1": False} and pay.in_flight == []


def test_an_error_that_a_callback_answers_is_a_failure(pay):
    def ping() -> str:
        raise ValueError("broken")

    script, _ = play(pay, [[call("ping")]], ping, agent={"on_tool_error_callback": lambda **_: {"error": "no luck"}})
    assert script.answers()["c1"] == {"error": "no luck"} and outcomes(pay) == {"c1": False}


def test_parallel_calls_wait_for_one_another(shared):
    write, seen = crowded()

    play(shared, [[call("write", {"n": n}, f"c{n}") for n in range(6)]], write)
    assert set(seen) == {1} and shared.state["state"]["total"] == 15 and shared.in_flight == []


def test_a_cancelled_run_leaves_no_call_in_flight(pay):
    ping, started = hanging()

    async def main():
        task = asyncio.ensure_future(run(agent_of([[call("ping")]], ping), Guarded(pay)))
        await started.wait()
        assert pay.in_flight == ["c1"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert pay.in_flight == [] and outcomes(pay) == {"c1": False}


@pytest.mark.parametrize("swallowed", [False, True], ids=["bare", "behind a handler of errors"])
def test_an_engine_that_fails_ends_the_run(pay, swallowed):
    ran = []

    def ping() -> str:
        with pytest.raises(Broken):
            pay._panic()
        return "broken"

    handler = {"on_tool_error_callback": lambda **_: {"error": "never mind"}} if swallowed else {}
    with pytest.raises(Broken):
        play(pay, [[call("ping")], [call("pay", {"amount": 1}, "c2")]], ping, pay_tool(ran), agent=handler)
    assert ran == []


@pytest.mark.parametrize("driven", [True, False], ids=["guarded.run", "runner.run_async"])
def test_a_blocked_stop(driven):
    session = Guard.compile("guard g\nstate { n: int = 0 }\ntool ping() { effect n = n + 1 }\ncompletion { n >= 1 }").session("s")

    def ping() -> str:
        return "pong"

    if not driven:
        with pytest.raises(RuntimeError) as raised:
            play(session, ["done"], ping, driven=False)
        assert isinstance(raised.value.__cause__, Incomplete)
        return
    script, finals = play(session, ["done", [call("ping")], "now"], ping)
    assert finals == ["done", "now"] and "n >= 1" in script.words()[2]
    assert [line for line in session.records() if '"kind":"prompt"' in line and "n >= 1" in line] == []


@pytest.mark.parametrize("answer, runs", [(Approval("ida"), [50]), (None, []), (True, [])])
def test_people_are_asked_for_exactly_this_call(answer, runs):
    session, asked, ran = Guard.compile("guard g\ntool pay(amount: int) { approval boss when amount > 10 }").session("s"), [], []

    async def approve(pending, role):
        asked.append((pending.args, role))
        return answer

    play(session, [[call("pay", {"amount": 50})]], pay_tool(ran), approve=approve)
    assert asked == [({"amount": 50}, "boss")] and ran == runs


def test_feedback_stands_behind_the_results_of_its_turn():
    session = Guard.compile('guard g\ntool ping()\nfeedback often every 1 calls {\n  info: "take care"\n}').session("s")

    def ping() -> str:
        return "pong"

    script, _ = play(session, [[call("ping"), call("ping", id="c2")], [call("ping", id="c3")]], ping)
    kinds = ["call" if part.function_call else "result" if part.function_response else part.text for part in script.shown[-1]]
    first, second = [text for text in kinds if "take care" in text]
    assert kinds == ["go", "call", "call", "result", "result", first, "call", "result", second]


def test_tokens_are_charged_before_the_calls_of_their_answer():
    session = Guard.compile("guard g\nbudget tokens = 5\ntool ping()").session("s")

    def ping() -> str:
        raise AssertionError("it ran")

    play(session, [[call("ping")]], ping, config={"streaming_mode": StreamingMode.SSE})
    assert session.state["spent"]["tokens"]["spent"] == 14 and outcomes(session) == {}


def test_an_agent_as_a_tool_is_judged_and_so_are_its_own_tools():
    ran = []
    session = Guard.compile("guard g\ntool helper(request: string)\ntool pay(amount: int in 1..=10)").session("s")
    helper = agent_of([[call("pay", {"amount": 50})], [call("pay", {"amount": 5}, "c2")]], pay_tool(ran), name="helper")
    script, finals = play(session, [[call("helper", {"request": "pay"}, "h1")]], AgentTool(helper))
    assert ran == [5] and finals == ["done"] and outcomes(session) == {"c2": True, "h1": True}
    assert len([line for line in session.records() if '"kind":"stop"' in line]) == 1


def test_a_run_that_a_plugin_kept_from_the_guard_does_not_run_tools(pay):
    ran = []

    class First(BasePlugin):
        async def before_run_callback(self, *, invocation_context):
            return None

        async def before_model_callback(self, *, callback_context, llm_request):
            return None if self.asked else self.answer()

        def answer(self):
            self.asked = True
            return LlmResponse(content=types.ModelContent([call("pay", {"amount": 50})]))

    first = First("first")
    first.asked = False
    agent = agent_of([], pay_tool(ran))

    async def main():
        runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[first, Guarded(pay)]))
        await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
        return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=types.UserContent("go"))]

    asyncio.run(main())
    assert ran == [] and [decision for _, decision in proposed(pay)] == ["deny"]


def test_one_conversation_is_in_one_run(pay):
    async def main():
        guarded, agent = Guarded(pay), agent_of([])
        runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[guarded]))
        await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
        first = guarded.run(runner, user_id="u", session_id="s", new_message=types.UserContent("go"))
        await anext(first)
        with pytest.raises(GuardError, match="another run"):
            await anext(guarded.run(runner, user_id="u", session_id="s", new_message=types.UserContent("go")))
        await first.aclose()

    asyncio.run(main())


def test_a_runner_without_the_plugin_is_refused(pay):
    async def main():
        runner = InMemoryRunner(app=App(name="app", root_agent=agent_of([]), plugins=[]))
        await anext(Guarded(pay).run(runner, user_id="u", session_id="s", new_message=types.UserContent("go")))

    with pytest.raises(GuardError, match="not among the plugins"):
        asyncio.run(main())


def test_code_of_the_model_does_not_run(pay):
    from google.adk.code_executors.unsafe_local_code_executor import UnsafeLocalCodeExecutor

    with pytest.raises(GuardError, match="code executor"):
        play(pay, [], agent={"code_executor": UnsafeLocalCodeExecutor()})


def test_tools_that_the_guard_does_not_know_are_listed(pay):
    def other() -> str:
        return "other"

    with pytest.warns(UnguardedToolWarning, match="does not know.*: other"):
        play(pay, [], other)


def test_the_guard_hears_the_prompt(pay):
    play(pay, [])
    assert any('"kind":"prompt"' in line and '"go"' in line for line in pay.records())
