"""The interceptor for the `agent-hooks` standard, judged by the standard's own conformance vectors.

Each vector scripts what interceptors say. Where a guard can say the same, it takes the place of the script in the standard's
reference host, and the standard's own judge decides; the others stand in `NOT_APPLICABLE`, with the reason.
"""

import asyncio

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import (
    AgentContextBuilder,
    ApprovalOutcome,
    InterceptionBlocked,
    InterceptionEmitter,
)
from agent_hooks.ctk import RecordingInterceptor, load_vectors, run_vector
from agent_hooks.ctk.reference import ReferenceHarness

from conftest import outcomes

from guardc import Guard
from guardc.integrations.agent_hooks import Approval, GuardInterceptor

TRANSFORM = "a guard allows, denies or asks; it never rewrites what it judges"
FAULT = "the script is an interceptor that fails: the vector judges the host alone"
INPUT = "no guard stands before the user's words, the start of an agent or an answer in mid-stream"
HOST = "no interceptor, or a verdict that only the host makes: the vector judges the host alone"
WORDS = "the script's verdict says what no guard says: warnings, labels, evidence, or why it allows"

#: Vectors in which no script can be a guard, and why.
NOT_APPLICABLE = {
    **dict.fromkeys(("020", "021", "022", "060", "084", "085", "086", "093", "095"), TRANSFORM),
    **dict.fromkeys(("070", "071"), FAULT),
    **dict.fromkeys(("011", "074", "100", "110", "111", "112", "113"), INPUT),
    **dict.fromkeys(("061", "101"), HOST),
    **dict.fromkeys(("050", "092", "096", "097", "102", "104"), WORDS),
}


def is_declaration(vector):
    """Vectors of host declarations judge how a host reads its own file."""
    return "host_declaration" in vector["capabilities"]


def says(script):
    """What a script says, as clauses of a guard for the tool; `None` where no guard says it."""
    if script == []:
        return ""
    if len(script) != 1 or set(script[0]) - {"at", "match", "return"} or set(script[0].get("match", ())) - {"tool_call.name"}:
        return None
    at, verdict = script[0]["at"], script[0]["return"]
    if at == "output" and verdict["decision"] == "deny":
        return "completion"
    if at != "pre_tool_call" or set(verdict) - {"decision", "reason", "approval"}:
        return None
    if verdict["decision"] == "allow":
        return "" if "reason" not in verdict else None
    if verdict["decision"] == "deny":
        return "approval boss" if "approval" in verdict else 'deny when true because "no"'
    return None


def guard_of(script, scenario):
    """The guard that says what a script says, for the tools of a scenario."""
    clause = says(script)
    kinds = {str: "string", int: "int", bool: "bool"}
    calls = [call for response in scenario.model_script for call in response.tool_calls]
    lines = ["guard vector"]
    for name in scenario.tools:
        args = {arg: value for call in calls if call["name"] == name for arg, value in call["args"].items()}
        parameters = ", ".join(f"{arg}: {kinds[type(value)]}" for arg, value in args.items())
        lines.append(f"tool {name}({parameters})" + (f" {{ {clause} }}" if clause and clause != "completion" else ""))
    if clause == "completion":
        lines += ["state { done: bool = false }", "completion { done }"]
    return Guard.compile("\n".join(lines))


class Worded(GuardInterceptor):
    """The guard's verdicts under the reason that the vector expects to read."""

    words = None

    def reason_of(self, verdict):
        return self.words


class GuardHarness(ReferenceHarness):
    """The reference host, with guards in the place of the scripts that they can express."""

    name = "guardc"

    def setup(self, scenario, interceptors, resolver, *rest, **named):
        self.guards = []
        replaced = [self._replaced(each, scenario) for each in interceptors]
        super().setup(scenario, replaced, self._resolver(resolver), *rest, **named)

    def _replaced(self, interceptor, scenario):
        scripted = interceptor.inner if isinstance(interceptor, RecordingInterceptor) else interceptor
        if says(scripted.rules) is None:
            return interceptor
        guarded = Worded(guard_of(scripted.rules, scenario).session(f"s{len(self.guards)}"))
        guarded.words = scripted.rules[0]["return"].get("reason") if scripted.rules else None
        self.guards.append(guarded)
        if isinstance(interceptor, RecordingInterceptor):
            interceptor.inner = guarded
            return interceptor
        return guarded

    def _resolver(self, scripted):
        """The vector's resolver; what it approves is approved at the guards too, and their word is the last one."""
        if scripted is None:
            return None
        guards = self.guards

        class Both:
            def resolve(self, request):
                resolution = scripted.resolve(request)
                call = request.context["tool_call"]["id"]
                if resolution.outcome is ApprovalOutcome.APPROVE and resolution.verdict.decision.permits:
                    waiting = [guarded for guarded in guards if call in guarded._pending]
                    assert all(guarded.approved(call, [Approval("vector")]) for guarded in waiting)
                return resolution

        return Both()


VECTORS = [vector for vector in load_vectors(None) if not is_declaration(vector)]


def number(vector):
    return vector["id"].rpartition("-")[2]


def scripts(vector):
    return vector["interceptor_scripts"] if "interceptor_scripts" in vector else [vector["interceptor_script"]]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_vectors(vector):
    applies = any(says(script) is not None for script in scripts(vector) or ())
    assert applies == (number(vector) not in NOT_APPLICABLE)
    if not applies:
        pytest.skip(NOT_APPLICABLE[number(vector)])
    harness = GuardHarness()
    result = asyncio.run(run_vector(harness, vector))
    assert result.status == "pass", "\n".join(result.failures)


GUARD = """guard g
state { paid: int = 0 }
tool pay(amount: int in 1..=500) {
  approval boss when amount > 100
  effect paid = paid + amount
}
completion { paid > 0 }
"""


class Host:
    """A host that calls `pay`, as the standard asks."""

    def __init__(self, answer=None):
        self.session = Guard.compile(GUARD).session("s")
        self.guarded = GuardInterceptor(self.session)
        resolver = self.guarded.resolver(lambda pending, role: answer)
        self.emitter = InterceptionEmitter(resolver=resolver).register(self.guarded)
        self.builder = AgentContextBuilder(agent_id="a", framework="f", session_id="s")

    def emit(self, context):
        return asyncio.run(self.emitter.emit(context))

    def pay(self, amount, ran_with=None, allowed=True):
        if allowed:
            self.emit(self.builder.pre_tool_call(call_id="c1", name="pay", args={"amount": amount}))
        args = {"amount": ran_with or amount}
        self.emit(self.builder.post_tool_call(call_id="c1", name="pay", args=args, value="paid"))


def test_a_call_is_judged_and_settled():
    host = Host()
    host.pay(5)
    assert host.session.state["state"]["paid"] == 5 and outcomes(host.session) == {"c1": True}


def test_a_denied_call_has_the_guards_message():
    host = Host()
    with pytest.raises(InterceptionBlocked) as blocked:
        host.pay(501)
    assert blocked.value.result.verdict.reason.startswith("guard:")
    assert host.session.in_flight == [] and host.session.state["state"]["paid"] == 0


@pytest.mark.parametrize("answer, runs", [(Approval("ida"), True), (None, False), ("yes", False)])
def test_people_are_asked_for_this_call(answer, runs):
    host = Host(answer)
    if runs:
        host.pay(200)
    else:
        with pytest.raises(InterceptionBlocked):
            host.pay(200)
    assert host.session.state["state"]["paid"] == (200 if runs else 0)


def test_a_call_that_the_guard_serves_after_an_approval_does_not_run():
    session = Guard.compile('guard g\nstatement reason(why: string max 9) approval boss').session("s")
    guarded = GuardInterceptor(session)
    emitter = InterceptionEmitter(resolver=guarded.resolver(lambda pending, role: Approval("ida"))).register(guarded)
    builder = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    with pytest.raises(InterceptionBlocked) as blocked:
        asyncio.run(emitter.emit(builder.pre_tool_call(call_id="c1", name="reason", args={"why": "ill"})))
    assert "stated" in blocked.value.result.verdict.message
    assert guarded._judged == {} and session.in_flight == []


def test_a_call_that_ran_with_other_arguments_is_withheld_and_settled():
    host = Host()
    with pytest.raises(InterceptionBlocked):
        host.pay(5, ran_with=50)
    assert host.session.in_flight == []


def test_a_call_that_ran_without_the_guard_is_withheld():
    host = Host()
    with pytest.raises(InterceptionBlocked):
        host.pay(5, allowed=False)


def test_an_output_is_a_stop():
    host = Host()
    with pytest.raises(InterceptionBlocked) as blocked:
        host.emit(host.builder.output(content="done"))
    assert blocked.value.result.verdict.message == host.guarded.stopped.message
    host.pay(5)
    host.emit(host.builder.output(content="done"))


def test_an_engine_that_fails_denies():
    host = Host()
    with pytest.raises(Exception):
        host.session._panic()
    with pytest.raises(InterceptionBlocked) as blocked:
        host.pay(5)
    assert blocked.value.result.verdict.reason == "host_error:interceptor_failed"


def test_the_guard_hears_words_and_tokens():
    host = Host()
    host.emit(host.builder.input(content="pay ann"))
    host.emit(host.builder.post_model_call(model_id="m", content="", tool_calls=[], finish_reason="stop", usage={"input_tokens": 3, "output_tokens": 4}))
    assert any('"kind":"prompt"' in line and "pay ann" in line for line in host.session.records())
