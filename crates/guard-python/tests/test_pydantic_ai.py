"""The capability for pydantic-ai in the framework's own loop, with its scripted model."""

import asyncio
import warnings

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry, NativeOutput, PromptedOutput, TextOutput, Tool, ToolOutput
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved
from pydantic_ai.usage import RequestUsage, UsageLimits

from conftest import hanging, outcomes, proposed

from guardc import Broken, Guard, GuardError, Incomplete
from guardc.integrations.pydantic_ai import Approval, Guarded, UnguardedToolWarning

pytestmark = pytest.mark.filterwarnings("ignore::guardc.integrations.pydantic_ai.UnguardedToolWarning")


def call(tool, args=None, id="c1"):
    return ToolCallPart(tool, args if args is not None else {}, id)


class Script:
    """A model that says its turns, and remembers what it was shown."""

    def __init__(self, *turns):
        self.turns, self.shown = list(turns), []

    def __call__(self, messages, info):
        self.shown.append(messages)
        turn = self.turns.pop(0) if self.turns else "done"
        parts = [TextPart(turn)] if isinstance(turn, str) else list(turn)
        return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=3, output_tokens=4))

    def answers(self):
        """The last answer to each call, as the model reads it."""
        parts = [part for message in self.shown[-1] for part in message.parts]
        return {part.tool_call_id: part for part in parts if isinstance(part, ToolReturnPart)}


def agent_of(session, script, *tools, **options):
    guarded = {name: options.pop(name) for name in ("approve", "stops") if name in options}
    return Agent(FunctionModel(script), tools=list(tools), capabilities=[Guarded(session, **guarded)], **options)


@pytest.fixture
def pay():
    return Guard.compile("guard g\ntool pay(amount: int in 1..=10)\ntool ping()").session("s")


def test_a_denial_is_read_verbatim_with_the_outcome_denied(guard):
    source = 'guard g\ntool a()\ntool b() { requires a\n  deny when true because "say \\"no\\"" }'
    session = Guard.compile(source).session("s")
    script, ran = Script([call("b")]), []
    agent_of(session, script, Tool(lambda: ran.append("b"), name="b")).run_sync("go")
    answer = script.answers()["c1"]
    assert answer.outcome == "denied" and ran == []
    assert answer.model_response_str() == session.preview("b").message
    assert "\n" in answer.model_response_str() and '"no"' in answer.model_response_str()


def test_denials_cost_no_retries(pay):
    script = Script(*[[call("pay", {"amount": 50}, f"c{n}")] for n in range(20)])
    assert agent_of(pay, script, Tool(lambda amount: None, name="pay")).run_sync("go").output == "done"


class Payment(BaseModel):
    order: str
    amount: int = Field(default=0, exclude=True)


def test_people_are_asked_about_what_the_model_wrote_where_validation_hides_it():
    source = "guard g\nrecord P { order: string, amount: int? }\ntool pay(p: P, note: string?) { approval boss when (p.amount else 0) > 100 }"
    session, asked, ran = Guard.compile(source).session("s"), [], []

    def pay(p: Payment, note: str = "") -> str:
        ran.append(p.amount)
        return "paid"

    def approve(pending, role):
        asked.append(pending.args["p"]["amount"])
        return Approval("ida") if len(asked) > 1 else None

    turns = [[call("pay", {"p": {"order": "A", "amount": 5000}, "note": "x"}, f"c{n}")] for n in range(3)]
    agent_of(session, Script(*turns), Tool(pay), approve=approve).run_sync("go")
    assert asked == [5000] * 3 and ran == [5000] * 2


def refund(amount: int) -> str:
    raise AssertionError("it ran")


def publish(text: str) -> str:
    raise AssertionError("it ran")


class Note(BaseModel):
    text: str


@pytest.mark.parametrize(
    "output",
    [
        refund,
        [refund, Note],
        ToolOutput(refund, name="final"),
        NativeOutput(refund),
        PromptedOutput([refund, Note]),
        TextOutput(publish),
        [Note, TextOutput(publish)],
    ],
    ids=range(7),
)
@pytest.mark.parametrize("streams", [False, True])
def test_an_output_function_does_not_run(pay, output, streams):
    def answer(info):
        if info.output_tools and not info.allow_text_output:
            return info.output_tools[0].name, '{"amount": 5}'
        is_union = isinstance(output, PromptedOutput)
        return None, '{"result": {"kind": "refund", "data": {"amount": 5}}}' if is_union else '{"amount": 5}'

    def model(messages, info):
        name, text = answer(info)
        return ModelResponse(parts=[ToolCallPart(name, text, "c1") if name else TextPart(text)])

    async def stream(messages, info):
        name, text = answer(info)
        yield {0: DeltaToolCall(name, text, tool_call_id="c1")} if name else text

    profile = {"supports_json_schema_output": True}
    agent = Agent(FunctionModel(model, stream_function=stream, profile=profile), output_type=output, capabilities=[Guarded(pay)], retries=1)

    async def play():
        if not streams:
            return await agent.run("go")
        async with agent.run_stream("go") as result:
            return [partial async for partial in result.stream_output()]

    with pytest.raises(GuardError, match="no guard stands around"):
        asyncio.run(play())


def test_an_output_without_a_function_is_the_answer(pay):
    def model(messages, info):
        return ModelResponse(parts=[call(info.output_tools[0].name, {"text": "x"})])

    assert Agent(FunctionModel(model), output_type=Note, capabilities=[Guarded(pay)]).run_sync("go").output == Note(text="x")


def test_unknown_tools_are_denied_by_the_guard_as_often_as_they_are_called(pay):
    script = Script(*[[call("rm", {"path": "/"}, f"c{n}")] for n in range(5)], [call("ping", id="last")])
    agent_of(pay, script, Tool(lambda: "pong", name="ping")).run_sync("go")
    assert script.answers()["c4"].content == "the guard declares no tool `rm`"
    assert script.answers()["last"].content == "pong"
    assert [decision for _, decision in proposed(pay)] == ["deny"] * 5 + ["allow"]


def test_a_tool_that_only_the_guard_knows_does_not_run(pay):
    script = Script([call("ping")])
    agent_of(pay, script).run_sync("go")
    assert "there is no tool `ping`" in script.answers()["c1"].content
    assert outcomes(pay) == {"c1": False}


def test_malformed_arguments_are_denied_in_the_guards_words(pay):
    ran = []

    def pay_tool(amount: int):
        ran.append(amount)

    script = Script([call("pay", '{"amount": 5', "cut")], [call("pay", '{"amount": 5, "amount": 6}', "twice")],
                    [call("pay", "[1]", "list")], [call("pay", '{"amount": "many"}', "text")], [call("pay", {}, "none")])
    agent_of(pay, script, Tool(pay_tool, name="pay")).run_sync("go")
    assert ran == [] and pay.in_flight == []
    answers = script.answers()
    assert all(answers[id].outcome == "denied" for id in ("cut", "twice", "list", "text", "none"))


def test_coerced_arguments_are_judged_as_written(pay):
    ran = []

    def pay_tool(amount: int):
        ran.append(amount)

    script = Script([call("pay", '{"amount": "5"}')])
    agent_of(pay, script, Tool(pay_tool, name="pay")).run_sync("go")
    assert ran == [] and script.answers()["c1"].outcome == "denied"
    assert proposed(pay) == [({"amount": "5"}, "deny")]


def test_defaults_are_judged_as_they_run():
    session = Guard.compile("guard g\ntool pay(amount: int in 1..=10, times: int?) { deny when (times else 1) > 2 because \"too often\" }").session("s")
    ran = []

    def pay_tool(amount: int, times: int = 50):
        ran.append(times)

    script = Script([call("pay", {"amount": 5}, "hidden")], [call("pay", {"amount": 5, "times": 2}, "plain")])
    agent_of(session, script, Tool(pay_tool, name="pay")).run_sync("go")
    assert ran == [2]
    assert script.answers()["hidden"].outcome == "denied"


def test_a_hook_that_changes_arguments_is_judged_by_what_runs(pay):
    from pydantic_ai.capabilities import Hooks

    hooks, ran = Hooks(), []

    @hooks.on.before_tool_execute
    async def more(ctx, *, call, tool_def, args):
        return {"amount": 50}

    def pay_tool(amount: int):
        ran.append(amount)

    for capabilities in ([hooks, Guarded(pay)], [Guarded(pay), hooks]):
        script = Script([call("pay", {"amount": 5})])
        Agent(FunctionModel(script), tools=[Tool(pay_tool, name="pay")], capabilities=capabilities).run_sync("go")
        assert ran == [] and script.answers()["c1"].outcome == "denied"


def test_a_single_model_is_judged_without_the_frameworks_envelope(pay):
    class Payment(BaseModel):
        amount: int

    ran = []

    def pay_tool(payment: Payment):
        ran.append(payment.amount)

    script = Script([call("pay", {"amount": 5}, "good")], [call("pay", {"amount": 50}, "bad")])
    agent_of(pay, script, Tool(pay_tool, name="pay")).run_sync("go")
    assert ran == [5]
    assert proposed(pay) == [({"amount": 5}, "allow"), ({"amount": 50}, "deny")]


@pytest.mark.parametrize("ending", ["retry", "exception", "timeout"])
def test_every_ending_settles(pay, ending):
    async def ping():
        if ending == "retry":
            raise ModelRetry("again, please")
        if ending == "exception":
            raise ValueError("broken")
        await asyncio.Event().wait()

    tool = Tool(ping, name="ping", timeout=0.001 if ending == "timeout" else None)
    script = Script([call("ping")])
    agent = agent_of(pay, script, tool, retries=3)
    if ending == "exception":
        with pytest.raises(ValueError):
            agent.run_sync("go")
    else:
        agent.run_sync("go")
    assert pay.in_flight == [] and outcomes(pay) == {"c1": False}


def test_a_cancelled_run_leaves_no_call_in_flight(pay):
    ping, started = hanging()
    agent = agent_of(pay, Script([call("ping")]), Tool(ping, name="ping"))

    async def main():
        run = asyncio.ensure_future(agent.run("go"))
        await started.wait()
        assert pay.in_flight == ["c1"]
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        # The session serves the next run.
        await agent_of(pay, Script("fine")).run("go")

    asyncio.run(main())
    assert pay.in_flight == [] and outcomes(pay) == {"c1": False}


def test_parallel_calls_wait_for_one_another(shared):
    inside = most = 0

    async def write(n: int):
        nonlocal inside, most
        inside, most = inside + 1, max(most, inside + 1)
        await asyncio.sleep(0)
        inside -= 1
        return n

    script = Script([call("write", {"n": n}, f"c{n}") for n in range(6)])
    agent_of(shared, script, Tool(write, name="write")).run_sync("go")
    assert most == 1 and shared.state["state"]["total"] == 15
    assert [script.answers()[f"c{n}"].content for n in range(6)] == list(range(6))


def test_duplicate_ids_do_not_let_a_call_through():
    session = Guard.compile("guard g\ntool ping() { limit 1 per session }").session("s")
    ran = []

    async def ping():
        ran.append(1)
        await asyncio.sleep(0)

    script = Script([call("ping", id="same"), call("ping", id="same")])
    # The framework itself ends a run whose calls cannot be told apart.
    with pytest.raises(UnexpectedModelBehavior):
        agent_of(session, script, Tool(ping, name="ping")).run_sync("go")
    assert ran == [] and session.in_flight == []


def test_an_engine_that_fails_ends_the_run_and_runs_nothing(pay):
    ran = []

    def break_it():
        with pytest.raises(Broken):
            pay._panic()
        return "broken"

    script = Script([call("ping", id="first")], [call("pay", {"amount": 1}, "second")])
    agent = agent_of(pay, script, Tool(break_it, name="ping"), Tool(lambda amount: ran.append(amount), name="pay"))
    with pytest.raises(Broken):
        agent.run_sync("go")
    assert ran == []


def test_a_session_serves_one_run_at_a_time(pay):
    agent = agent_of(pay, Script("a", "b"))

    async def main():
        results = await asyncio.gather(agent.run("go"), agent.run("go"), return_exceptions=True)
        assert sorted(isinstance(result, GuardError) for result in results) == [False, True]

    asyncio.run(main())


def test_a_function_gives_each_run_its_session():
    guard = Guard.compile("guard g\ntool ping() { limit 1 per session }")
    ran = []
    agent = Agent(
        FunctionModel(lambda messages, info: Script([call("ping")])(messages, info) if len(messages) == 1 else Script()(messages, info)),
        tools=[Tool(lambda: ran.append(1), name="ping")],
        capabilities=[Guarded(lambda ctx: guard.session(ctx.run_id))],
    )

    async def main():
        await asyncio.gather(*(agent.run("go") for _ in range(5)))

    asyncio.run(main())
    assert len(ran) == 5


def test_a_blocked_stop_goes_on_without_retries():
    session = Guard.compile("guard g\nstate { n: int = 0 }\ntool ping() { effect n = n + 1 }\ncompletion { n >= 1 }").session("s")
    script = Script("done", "really", "yes", [call("ping")], "now")
    result = agent_of(session, script, Tool(lambda: "pong", name="ping")).run_sync("go")
    assert result.output == "now" and len(script.shown) == 5
    assert "n >= 1" in script.shown[1][-1].parts[-1].content


def test_streaming_is_guarded(pay):
    async def stream(messages, info):
        if len(messages) == 1:
            yield {0: DeltaToolCall(name="pay", json_args='{"amount": ', tool_call_id="c1")}
            yield {0: DeltaToolCall(json_args="50}")}
        else:
            yield "do"
            yield "ne"

    ran = []
    agent = Agent(FunctionModel(stream_function=stream), tools=[Tool(lambda amount: ran.append(amount), name="pay")],
                  capabilities=[Guarded(pay)])

    async def main():
        async def handle(ctx, events):
            async for _ in events:
                pass

        assert (await agent.run("go", event_stream_handler=handle)).output == "done"

    asyncio.run(main())
    assert ran == [] and proposed(pay) == [({"amount": 50}, "deny")]


def test_a_blocked_stop_of_run_stream_raises():
    session = Guard.compile("guard g\nstate { done: bool = false }\ncompletion { done }").session("s")

    async def stream(messages, info):
        yield "finished"

    agent = Agent(FunctionModel(stream_function=stream), capabilities=[Guarded(session)])

    async def main():
        async with agent.run_stream("go") as result:
            await result.get_output()

    with pytest.raises(Incomplete):
        asyncio.run(main())


def asking():
    return Guard.compile("guard g\ntool pay(amount: int) { approval boss when amount > 10 }").session("s")


@pytest.mark.parametrize("answer, ran", [(Approval("ida"), [50]), (None, []), (True, []), ("ida", [])])
def test_people_are_asked_for_exactly_this_call(answer, ran):
    session, asked, done = asking(), [], []

    async def approve(pending, role):
        asked.append((pending.tool, pending.args, role))
        return answer

    script = Script([call("pay", {"amount": 50})])
    agent_of(session, script, Tool(lambda amount: done.append(amount), name="pay"), approve=approve).run_sync("go")
    assert asked == [("pay", {"amount": 50}, "boss")] and done == ran


@pytest.mark.parametrize("metadata, ran", [({"by": "ida"}, [50]), ({}, []), (None, [])])
def test_an_approval_ends_the_run_and_resumes_in_another_process(metadata, ran):
    guard = Guard.compile("guard g\ntool pay(amount: int) { approval boss when amount > 10 }")
    session, done = guard.session("s"), []
    tool = Tool(lambda amount: done.append(amount), name="pay")
    first = agent_of(session, Script([call("pay", {"amount": 50})]), tool, approve="defer",
                     output_type=[str, DeferredToolRequests])
    paused = first.run_sync("go")
    assert isinstance(paused.output, DeferredToolRequests) and done == []
    assert "pay" in paused.output.metadata["c1"]["guard"]
    # What survives is the history and the session's memory.
    again = guard.session("s", snapshot=session.snapshot())
    second = agent_of(again, Script(), tool, approve="defer", output_type=[str, DeferredToolRequests])
    results = DeferredToolResults(approvals={"c1": ToolApproved()}, metadata={"c1": metadata} if metadata is not None else {})
    second.run_sync(message_history=paused.all_messages(), deferred_tool_results=results)
    assert done == ran


def test_tokens_are_charged_where_there_is_a_budget_and_ignored_elsewhere(pay):
    agent_of(pay, Script("fine")).run_sync("go")
    session = Guard.compile("guard g\nbudget tokens = 10\ntool ping()").session("s")
    ran = []
    script = Script("first")
    agent_of(session, script).run_sync("go")
    assert session.state["spent"]["tokens"]["spent"] == 7
    agent_of(session, Script([call("ping")]), Tool(lambda: ran.append(1), name="ping")).run_sync("go")
    assert ran == []


def test_the_guard_hears_the_prompt(pay):
    agent_of(pay, Script("fine")).run_sync("send it to ann@example.com")
    assert '"kind":"prompt"' in "".join(pay.records())


def test_large_results_and_long_runs_arrive_whole():
    session = Guard.compile("guard g\ntool read(n: int)").session("s")
    text = "x" * 65536
    script = Script(*[[call("read", {"n": n}, f"c{n}")] for n in range(60)])
    agent_of(session, script, Tool(lambda n: text, name="read")).run_sync("go", usage_limits=UsageLimits(request_limit=None))
    assert [answer.content for answer in script.answers().values()] == [text] * 60


def test_the_frameworks_limit_settles_everything(pay):
    script = Script(*[[call("ping", id=f"c{n}")] for n in range(9)])
    with pytest.raises(UsageLimitExceeded):
        agent_of(pay, script, Tool(lambda: "pong", name="ping")).run_sync("go", usage_limits=UsageLimits(request_limit=3))
    assert pay.in_flight == []


@pytest.mark.filterwarnings("default")
def test_unguarded_tools_are_listed_at_the_start(pay):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agent_of(pay, Script("fine"), Tool(lambda: None, name="shell"), Tool(lambda: None, name="ping")).run_sync("go")
    texts = [str(warning.message) for warning in caught if warning.category is UnguardedToolWarning]
    assert texts == ["tools that the guard does not know, so that it denies them: shell"]
