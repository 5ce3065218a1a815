"""The adapter for the OpenAI Agents SDK in the framework's own loop, with its scripted model."""

import asyncio
import dataclasses
import functools
import threading
import types
import warnings

import pytest

pytest.importorskip("agents")

from agents import Agent, FunctionTool, ModelBehaviorError, RunConfig, RunContextWrapper, RunHooks, WebSearchTool, function_tool, handoff, set_tracing_disabled
from agents.exceptions import MaxTurnsExceeded, ToolTimeoutError, UserError
from agents.run_config import ModelInputData
from agents.sandbox import SandboxAgent
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.tool import ApplyPatchTool, ComputerTool, CustomTool, LocalShellTool, ShellTool
from agents.tool_context import ToolContext
from agents.usage import Usage
from conftest import outcomes, proposed
from pydantic import BaseModel

from guardc import ArgumentError, Broken, Guard, GuardError
from guardc.integrations.openai_agents import Approval, Guarded, UnguardedToolWarning

set_tracing_disabled(True)

pytestmark = pytest.mark.filterwarnings("ignore::guardc.integrations.openai_agents.UnguardedToolWarning")


def call(tool, args=None, id="c1"):
    return function_call(tool, args if args is not None else {}, call_id=id)


def script(*turns):
    """A model that says its turns: text, or calls."""
    return ScriptedModel([[assistant_message(turn)] if isinstance(turn, str) else list(turn) for turn in turns])


def agent_of(model, *tools, **options):
    return Agent("agent", model=model, tools=list(tools), **options)


def play(guarded, model, *tools, **options):
    return asyncio.run(guarded.run(agent_of(model, *tools), "go", **options))


def answers(model):
    """The last answer to each call, as the model reads it."""
    return {item["call_id"]: item["output"] for item in model.last_call.input if item.get("type") == "function_call_output"}


@pytest.fixture
def pay():
    return Guard.compile("guard g\ntool pay(amount: int in 1..=10)\ntool ping()").session("s")


@pytest.fixture(params=["async", "sync"])
def form(request):
    """Makes a tool of a function, as an `async def` or as it is."""

    def make(guarded, function, **options):
        if request.param == "sync":
            return guarded.tool(function, name_override=function.__name__, **options)

        async def later(amount: int):
            await asyncio.sleep(0)
            return function(amount)

        return guarded.tool(later, name_override=function.__name__, **options)

    return make


def payer(ran):
    def pay(amount: int) -> str:
        ran.append(amount)
        return "paid"

    return pay


def ping_of(guarded, answer="pong", **options):
    async def ping() -> str:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return guarded.tool(ping, **options)


def test_denials_are_read_verbatim_and_nothing_runs(pay, form):
    guarded, ran = Guarded(pay), []
    model = script([call("pay", {"amount": 50})], [call("pay", {"amount": 5}, "c2")], "done")
    assert play(guarded, model, form(guarded, payer(ran))).final_output == "done"
    assert ran == [5] and answers(model) == {"c1": pay.preview("pay", {"amount": 50}).message, "c2": "paid"}
    assert outcomes(pay) == {"c2": True}


def test_unknown_tools_are_denied_by_the_guard(pay):
    guarded = Guarded(pay)
    model = script([call("rm", {"path": "/"}), call("ping", id="c2")], "done")
    play(guarded, model, ping_of(guarded))
    assert answers(model) == {"c1": "the guard declares no tool `rm`", "c2": "pong"}
    assert ({"path": "/"}, "deny") in proposed(pay)


def test_a_tool_that_only_the_guard_knows_does_not_run(pay):
    model = script([call("ping")], "done")
    play(Guarded(pay), model)
    assert "not found" in answers(model)["c1"] and outcomes(pay) == {"c1": False}


@pytest.mark.parametrize("text", ['{"amount": 5', '{"amount": 5, "amount": 6}', "[1]", '{"amount": "many"}', "{}", '{"amount": "5"}', '{"amount": 1e400}'])
def test_arguments_that_the_guard_does_not_take_never_run(pay, form, text):
    guarded, ran = Guarded(pay), []
    model = script([call("pay", text)], "done")
    play(guarded, model, form(guarded, payer(ran)))
    assert ran == [] and pay.in_flight == [] and [decision for _, decision in proposed(pay)] == ["deny"]
    assert "amount" in answers(model)["c1"] or "cannot be read" in answers(model)["c1"]


def test_arguments_that_only_the_framework_refuses_are_answered_by_it(pay):
    session = Guard.compile("guard g\ntool note(text: string)").session("s")
    guarded, ran = Guarded(session), []

    def note(text: int):
        ran.append(text)

    model = script([call("note", {"text": "many"})], "done")
    play(guarded, model, guarded.tool(note, failure_error_function=lambda ctx, error: "no number"))
    assert ran == [] and answers(model)["c1"] == "no number" and outcomes(session) == {"c1": False}


def test_defaults_are_judged_as_they_run():
    source = 'guard g\ntool pay(amount: int in 1..=10, times: int?) { deny when (times else 1) > 2 because "too often" }'
    session, ran = Guard.compile(source).session("s"), []
    guarded = Guarded(session)

    @guarded.tool(name_override="pay", strict_mode=False)
    def more(amount: int, times: int = 50):
        ran.append(times)

    model = script([call("pay", {"amount": 5}, "hidden")], [call("pay", {"amount": 5, "times": 2}, "plain")], "done")
    play(guarded, model, more)
    assert ran == [2] and "too often" in answers(model)["hidden"]


def test_a_tool_may_take_the_context(pay):
    guarded, seen = Guarded(pay), []

    @guarded.tool(name_override="pay")
    def first(ctx: RunContextWrapper[dict], amount: int):
        seen.append(ctx.context)

    @guarded.tool(name_override="ping")
    async def second(ctx: ToolContext):
        seen.append(ctx.tool_call_id)

    play(guarded, script([call("pay", {"amount": 5}), call("ping", id="c2")], "done"), first, second, context="mine")
    assert sorted(seen) == ["c2", "mine"]


@pytest.mark.parametrize("options, ends", [({}, None), ({"failure_error_function": None}, UserError)])
def test_a_tool_that_raises_is_settled_as_failed(pay, options, ends):
    guarded, model = Guarded(pay), script([call("ping")], "done")
    tool = ping_of(guarded, ValueError("broken"), **options)
    if ends:
        with pytest.raises(ends):
            play(guarded, model, tool)
    else:
        play(guarded, model, tool)
    assert pay.in_flight == [] and outcomes(pay) == {"c1": False}


@pytest.mark.parametrize("behavior", ["error_as_result", "raise_exception"])
def test_a_tool_that_runs_out_of_its_time_is_settled_as_failed(pay, behavior):
    guarded, model = Guarded(pay), script([call("ping")], "done")

    @guarded.tool(timeout=0.001, timeout_behavior=behavior)
    async def ping():
        await asyncio.Event().wait()

    if behavior == "raise_exception":
        with pytest.raises(ToolTimeoutError):
            play(guarded, model, ping)
    else:
        play(guarded, model, ping)
    assert pay.in_flight == [] and outcomes(pay) == {"c1": False}


@pytest.mark.parametrize("streams", [True, False])
def test_a_cancelled_run_leaves_no_call_in_flight(pay, streams):
    guarded = Guarded(pay)

    async def main():
        started = asyncio.Event()

        @guarded.tool
        async def ping():
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                for _ in range(50):  # Tools may take their time to clean up.
                    await asyncio.sleep(0)

        async def whole():
            agent = agent_of(script([call("ping")], "done"), ping)
            if streams:
                async for _ in guarded.run_streamed(agent, "go").stream_events():
                    pass
            else:
                await guarded.run(agent, "go")

        run = asyncio.ensure_future(whole())
        await started.wait()
        assert pay.in_flight == ["c1"]
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert pay.in_flight == []
        # The session serves the next run.
        await guarded.run(agent_of(script("fine")), "go")

    asyncio.run(main())
    assert outcomes(pay) == {"c1": False}


def test_a_stream_that_nobody_reads_to_its_end_leaves_no_call_in_flight(pay):
    guarded = Guarded(pay)

    async def main():
        started = asyncio.Event()

        @guarded.tool
        async def ping():
            started.set()
            await asyncio.Event().wait()

        events = guarded.run_streamed(agent_of(script([call("ping")], "done"), ping), "go").stream_events()
        await anext(events)
        await started.wait()
        await events.aclose()
        assert pay.in_flight == []

    asyncio.run(main())


def test_parallel_calls_wait_for_one_another(shared):
    guarded, inside, most = Guarded(shared), 0, 0

    @guarded.tool
    async def write(n: int):
        nonlocal inside, most
        inside, most = inside + 1, max(most, inside + 1)
        await asyncio.sleep(0)
        inside -= 1
        return n

    model = script([call("write", {"n": n}, f"c{n}") for n in range(6)], "done")
    play(guarded, model, write)
    assert most == 1 and shared.state["state"]["total"] == 15
    assert [answers(model)[f"c{n}"] for n in range(6)] == [str(n) for n in range(6)]


def test_sync_tools_of_one_turn_run_side_by_side():
    session = Guard.compile("guard g\ntool meet(n: int)").session("s")
    guarded, both = Guarded(session), threading.Barrier(2, timeout=30)

    @guarded.tool
    def meet(n: int) -> str:
        both.wait()
        return "met"

    model = script([call("meet", {"n": 1}), call("meet", {"n": 2}, "c2")], "done")
    play(guarded, model, meet)
    assert answers(model) == {"c1": "met", "c2": "met"}


def test_duplicate_ids_do_not_let_a_call_through():
    session = Guard.compile("guard g\ntool ping() { limit 1 per session }").session("s")
    guarded, ran = Guarded(session), []

    @guarded.tool
    async def ping():
        ran.append(1)
        await asyncio.sleep(0)

    try:
        play(guarded, script([call("ping", id="same"), call("ping", id="same")], "done"), ping)
    except ModelBehaviorError:
        pass  # The framework may refuse such an answer.
    assert len(ran) <= 1 and session.in_flight == []


@pytest.mark.parametrize("streams", [True, False])
def test_an_engine_that_fails_ends_the_run_and_runs_nothing(pay, streams):
    guarded, ran = Guarded(pay), []

    @guarded.tool
    def ping():
        with pytest.raises(Broken):
            pay._panic()
        return "broken"

    agent = agent_of(script([call("ping")], [call("pay", {"amount": 1}, "c2")], "done"), ping, guarded.tool(payer(ran)))

    async def main():
        if streams:
            async for _ in guarded.run_streamed(agent, "go").stream_events():
                pass
        else:
            await guarded.run(agent, "go")

    with pytest.raises(Broken):
        asyncio.run(main())
    assert ran == []


def failing(session, name):
    def fail(*given, **named):
        raise GuardError("the guard does not answer")

    setattr(session, name, fail)


@pytest.mark.parametrize("name", ["propose", "preview", "settle", "usage", "prompt", "stop"])
@pytest.mark.parametrize("tool, args", [("pay", {"amount": 5}), ("pay", "{"), ("rm", {})])
def test_no_question_that_fails_lets_a_call_through(pay, name, tool, args):
    guarded, ran = Guarded(pay), []
    failing(pay, name)
    model = ScriptedModel([ModelStep(output=[call(tool, args)], usage=Usage(requests=1, total_tokens=5)), [assistant_message("done")]])
    asked = name in ("propose", "usage", "prompt", "stop") or (name == "settle" and args == {"amount": 5})
    if asked:
        with pytest.raises(GuardError, match="does not answer"):
            play(guarded, model, guarded.tool(payer(ran)))
    else:
        play(guarded, model, guarded.tool(payer(ran)))
    assert ran == [] or (name in ("settle", "stop", "preview") and ran == [5])


def test_feedback_stands_behind_the_results_of_its_turn():
    session = Guard.compile('guard g\ntool b()\nfeedback often every 1 calls {\n  info: "look around"\n}').session("s")
    guarded = Guarded(session)
    model = script([call("b"), call("b", id="c2")], [call("b", id="c3")], "done")

    @guarded.tool
    def b():
        return "ran"

    play(guarded, model, b)
    kinds = [item.get("type") or ("feedback" if "look around" in item["content"] else "prompt") for item in model.last_call.input]
    made, results = ["function_call"], ["function_call_output"]
    assert kinds == ["prompt", *made * 2, *results * 2, "feedback", *made, *results, "feedback"]


def test_an_agent_as_a_tool_is_judged_and_so_are_its_own_tools():
    session, ran = Guard.compile("guard g\ntool helper(input: string)\ntool pay(amount: int in 1..=10)").session("s"), []
    guarded = Guarded(session)
    inner = agent_of(script([call("pay", {"amount": 50}, "i1"), call("pay", {"amount": 5}, "i2")], "paid"), guarded.tool(payer(ran)))
    model = script([call("helper", {"input": "pay"})], "done")
    play(guarded, model, guarded.tool(inner.as_tool("helper", "helps")))
    assert ran == [5] and answers(model)["c1"] == "paid" and outcomes(session) == {"c1": True, "i2": True}


@pytest.mark.parametrize("streams", [True, False])
def test_a_blocked_stop_goes_on(streams):
    source = "guard g\nstate { n: int = 0 }\ntool ping() { effect n = n + 1 }\ncompletion { n >= 1 }"
    session = Guard.compile(source).session("s")
    guarded, model = Guarded(session), script("done", [call("ping")], "now")
    agent = agent_of(model, ping_of(guarded))

    async def main():
        if not streams:
            return await guarded.run(agent, "go")
        stream = guarded.run_streamed(agent, "go")
        async for _ in stream.stream_events():
            pass
        return stream

    assert asyncio.run(main()).final_output == "now" and guarded.stopped.allowed
    assert "n >= 1" in model.calls[1].input[-1]["content"]
    assert [item.get("content") for item in model.calls[1].input[:1]] == ["go"]


def asking():
    return Guard.compile("guard g\ntool pay(amount: int) { approval boss when amount > 10 }").session("s")


@pytest.mark.parametrize("answer, runs", [(Approval("ida"), [50]), (None, []), (True, []), ("ida", [])])
@pytest.mark.parametrize("later", [True, False])
def test_people_are_asked_for_exactly_this_call(answer, runs, later):
    session, asked, ran = asking(), [], []

    def approve(pending, role):
        asked.append((pending.args, role))
        return answer

    async def approve_later(pending, role):
        return approve(pending, role)

    guarded = Guarded(session, approve=approve_later if later else approve)
    play(guarded, script([call("pay", {"amount": 50})], "done"), guarded.tool(payer(ran)))
    assert asked == [({"amount": 50}, "boss")] and ran == runs


def test_people_are_asked_about_a_call_that_had_to_wait():
    source = """guard g
state { total: int = 0 }
tool write(n: int) { effect total = total + n }
tool pay(amount: int) { approval boss when total > 0 }
"""
    session, ran = Guard.compile(source).session("s"), []
    guarded = Guarded(session, approve=lambda pending, role: Approval("ida"))

    @guarded.tool
    async def write(n: int):
        await asyncio.sleep(0)
        ran.append("write")

    @guarded.tool
    async def pay(amount: int):
        ran.append("pay")

    play(guarded, script([call("write", {"n": 1}), call("pay", {"amount": 5}, "c2")], "done"), write, pay)
    assert ran == ["write", "pay"] and outcomes(session) == {"c1": True, "c2": True}


def test_what_is_approved_at_the_framework_is_put_to_the_guard():
    session, ran = asking(), []
    guarded = Guarded(session)
    model = script([call("pay", {"amount": 50})], "done")
    agent = agent_of(model, guarded.tool(payer(ran), needs_approval=True))

    async def main():
        paused = await guarded.run(agent, "go")
        assert guarded.stopped is None, "a run that pauses does not stop"
        state = paused.to_state()
        state.approve(paused.interruptions[0])
        await guarded.run(agent, state)

    asyncio.run(main())
    assert ran == [] and "boss" in answers(model)["c1"]


def test_tokens_are_charged_before_the_calls_of_their_answer():
    session, ran = Guard.compile("guard g\nbudget tokens = 10\ntool ping()").session("s"), []
    guarded = Guarded(session)
    used = Usage(requests=1, input_tokens=6, output_tokens=6, total_tokens=12)
    model = ScriptedModel([ModelStep(output=[call("ping")], usage=used), [assistant_message("done")]])

    @guarded.tool
    def ping():
        ran.append(1)

    play(guarded, model, ping)
    assert session.state["spent"]["tokens"]["spent"] == 12 and ran == []


def test_the_guard_hears_the_prompt(pay):
    asyncio.run(Guarded(pay).run(agent_of(script("fine")), [{"role": "user", "content": "send it to ann@example.com"}]))
    assert '"kind":"prompt"' in "".join(pay.records())


def test_two_sessions_at_once_are_kept_apart():
    guard = Guard.compile("guard g\ntool ping() { limit 1 per session }")
    guarded = Guarded(lambda context: context)
    sessions = [guard.session(f"s{n}") for n in range(2)]

    async def main():
        agents = [agent_of(script([call("ping", id=f"a{n}")], [call("ping", id=f"b{n}")], "done"), ping_of(guarded)) for n in range(2)]
        await asyncio.gather(*(guarded.run(agent, "go", context=session) for agent, session in zip(agents, sessions)))

    asyncio.run(main())
    assert [[decision for _, decision in proposed(session)] for session in sessions] == [["allow", "deny"]] * 2


def test_one_session_does_not_serve_two_runs_at_once(pay):
    guarded = Guarded(pay)

    async def main():
        both = [guarded.run(agent_of(script([call("ping")], "done"), ping_of(guarded)), "go") for _ in range(2)]
        return await asyncio.gather(*both, return_exceptions=True)

    first, second = asyncio.run(main())
    assert first.final_output == "done" and "serves another run" in str(second)


def test_a_tool_outside_of_a_guarded_run_does_not_run(pay):
    from agents import Runner

    guarded, ran = Guarded(pay), []
    with pytest.raises(UserError, match="guarded.run"):
        asyncio.run(Runner.run(agent_of(script([call("pay", {"amount": 5})], "done"), guarded.tool(payer(ran))), "go"))
    assert ran == []


def bare():
    return function_tool(payer([]))


def test_an_agent_with_an_unguarded_tool_does_not_run(pay):
    guarded = Guarded(pay)
    for tool in (bare(), Guarded(pay).tool(payer([])), agent_of(script("x")).as_tool("pay", "pays")):
        model = script("done")
        with pytest.raises(GuardError, match="no guard stands around `pay`"):
            asyncio.run(guarded.run(agent_of(model, tool), "go"))
        assert model.calls == ()


async def forbidden(*given):
    raise AssertionError("it ran")


def local_tools():
    """Tools that run in the agent's process and are not functions, under names of the host."""
    guarded = Guarded(Guard.compile("guard g").session("other"))
    return [
        CustomTool(name="pay", description="pays", on_invoke_tool=forbidden),
        CustomTool(name="pay", description="pays", on_invoke_tool=guarded.tool(payer([])).on_invoke_tool),
        ShellTool(executor=forbidden, name="pay"),
        ShellTool(name="pay", environment={"type": "container_auto"}),
        ApplyPatchTool(editor=None, name="pay"),
        LocalShellTool(executor=forbidden),
        ComputerTool(computer=None),
        types.SimpleNamespace(name="pay"),
    ]


@pytest.mark.parametrize("tool", local_tools(), ids=lambda tool: type(tool).__name__)
def test_a_tool_that_is_not_a_function_is_known_by_its_type(pay, tool):
    model = script("done")
    with pytest.raises(GuardError, match="no guard stands around"):
        asyncio.run(Guarded(pay).run(agent_of(model, tool), "go"))
    assert model.calls == ()


def test_an_agent_that_adds_tools_of_its_own_does_not_run(pay):
    model = script("done")
    with pytest.raises(GuardError, match="the tools that a `SandboxAgent` adds"):
        asyncio.run(Guarded(pay).run(SandboxAgent("agent", model=model), "go"))
    assert model.calls == ()


def test_an_agent_that_takes_over_with_an_unguarded_tool_does_not_run(pay):
    guarded = Guarded(pay)
    second = Agent("second", model=script([call("pay", {"amount": 5})], "done"), tools=[bare()])
    first = Agent("first", model=script([call("transfer_to_second")]), handoffs=[second])
    with pytest.raises(GuardError, match="no guard stands around `pay`"):
        asyncio.run(guarded.run(first, "go"))


class Amount(BaseModel):
    amount: int


async def handing_over(ctx, args):
    return await forbidden()


def handoffs_with_functions():
    target = Agent("second")
    bare = handoff(target)
    return [
        handoff(target, on_handoff=lambda ctx, given: forbidden(), input_type=Amount),
        handoff(target, on_handoff=lambda ctx: forbidden()),
        handoff(target, on_handoff=lambda ctx: forbidden(), tool_name_override="pay"),
        dataclasses.replace(bare, on_invoke_handoff=handing_over),
        dataclasses.replace(bare, on_invoke_handoff=functools.partial(handing_over, None)),
    ]


@pytest.mark.parametrize("made", handoffs_with_functions(), ids=range(5))
def test_a_handoff_with_a_function_of_the_host_does_not_run(pay, made):
    model = script([call(made.tool_name, {"amount": 5})], "done")
    with pytest.raises(GuardError, match="no guard stands around the function of the handoff"):
        asyncio.run(Guarded(pay).run(agent_of(model, handoffs=[made]), "go"))
    assert model.calls == ()


def test_a_handoff_does_not_take_the_name_of_a_tool(pay):
    for name in ("pay", "transfer_to_second"):
        session = Guard.compile("guard g\ntool transfer_to_second() { deny when true }\ntool pay()").session("s")
        first = Agent("first", model=script("done"), handoffs=[handoff(Agent("second"), tool_name_override=name)])
        with pytest.raises(GuardError, match="the name of a tool"):
            asyncio.run(Guarded(session).run(first, "go"))


def test_a_handoff_without_a_function_hands_over(pay):
    second = Agent("second", model=script("done"))
    for each in (second, handoff(second, input_filter=lambda data: data)):
        first = Agent("first", model=script([call("transfer_to_second")]), handoffs=[each])
        assert asyncio.run(Guarded(pay).run(first, "go")).final_output == "done"
        second.model = script("done")


def test_an_agent_with_mcp_servers_does_not_run(pay):
    model = script("done")
    with pytest.raises(GuardError, match="guardc mcp-proxy"):
        asyncio.run(Guarded(pay).run(agent_of(model, mcp_servers=[object()]), "go"))
    assert model.calls == ()


def test_an_inner_agent_does_not_run_unguarded_tools():
    session, ran = Guard.compile("guard g\ntool helper(input: string)\ntool pay(amount: int)").session("s2"), []
    guarded = Guarded(session)
    inner = agent_of(script([call("pay", {"amount": 5}, "i1")], "paid"), function_tool(payer(ran)))
    play(guarded, script([call("helper", {"input": "pay"})], "done"), guarded.tool(inner.as_tool("helper", "helps")))
    assert ran == []


def test_an_inner_agent_does_not_run_tools_of_another_guard(pay):
    session, ran = Guard.compile("guard g\ntool helper(input: string)\ntool pay(amount: int)").session("s2"), []
    guarded, other = Guarded(session), Guarded(pay)
    inner = agent_of(script([call("pay", {"amount": 5}, "i1")], "paid"), other.tool(payer(ran)))
    play(guarded, script([call("helper", {"input": "pay"})], "done"), guarded.tool(inner.as_tool("helper", "helps")))
    assert ran == [] and proposed(pay) == []


def test_refused_arguments_do_not_end_the_run_of_a_tool_without_a_handler(pay):
    guarded, model = Guarded(pay), script([call("pay", {"amount": "many"})], "done")
    play(guarded, model, guarded.tool(payer([]), failure_error_function=None))
    assert answers(model)["c1"] == pay.preview("pay", {"amount": "many"}).message


def test_the_guard_hears_that_the_last_answer_is_not_complete(pay):
    cut = assistant_message("do").model_copy(update={"status": "incomplete"})
    play(Guarded(pay), ScriptedModel([[cut]]))
    assert '"length"' in "".join(pay.records())


def test_a_tool_is_made_by_the_guard_or_refused(pay):
    guarded = Guarded(pay)
    with pytest.raises(ArgumentError, match="guarded.tool"):
        guarded.tool(bare())


def test_a_tool_with_an_invoker_of_its_own_gets_what_was_judged(pay):
    guarded, ran = Guarded(pay), []

    async def invoke(ctx, text):
        ran.append(text)
        return "paid"

    tool = guarded.tool(FunctionTool("pay", "pays", {"type": "object", "properties": {}}, invoke))
    model = script([call("pay", {"amount": 50}), call("pay", {"amount": 5}, "c2"), call("pay", "{", "c3")], "done")
    play(guarded, model, tool)
    assert ran == ['{"amount":5}'] and outcomes(pay) == {"c2": True}


def test_hooks_and_the_filter_of_the_user_are_kept(pay):
    guarded, heard = Guarded(pay), []

    class Hooks(RunHooks):
        async def on_llm_end(self, context, agent, response):
            heard.append("llm")

        async def on_tool_start(self, context, agent, tool):
            heard.append(tool.name)

    async def shorter(asked):
        heard.append("filter")
        return ModelInputData(input=asked.model_data.input[-1:], instructions="short")

    model = script([call("ping")], "done")
    play(guarded, model, ping_of(guarded), hooks=Hooks(), run_config=RunConfig(call_model_input_filter=shorter))
    assert heard == ["filter", "llm", "ping", "filter", "llm"]
    assert model.last_call.system_instructions == "short" and len(model.last_call.input) == 1


def test_the_frameworks_limit_settles_everything(pay):
    guarded = Guarded(pay)
    with pytest.raises(MaxTurnsExceeded):
        play(guarded, script(*[[call("ping", id=f"c{n}")] for n in range(9)]), ping_of(guarded), max_turns=3)
    assert pay.in_flight == []


def test_large_results_arrive_whole(pay):
    guarded, model = Guarded(pay), script([call("ping")], "done")
    play(guarded, model, ping_of(guarded, "x" * 65536))
    assert answers(model)["c1"] == "x" * 65536


@pytest.mark.filterwarnings("default")
def test_unguarded_tools_are_listed_at_the_start(pay):
    guarded = Guarded(pay)
    shell = guarded.tool(FunctionTool("shell", "", {"type": "object", "properties": {}}, None))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(guarded, script("fine"), shell, WebSearchTool())
    texts = [str(warning.message) for warning in caught if warning.category is UnguardedToolWarning]
    assert texts == [
        "tools that run at the provider, where no guard sees them: web_search",
        "tools that the guard does not know, so that it denies them: shell",
    ]
