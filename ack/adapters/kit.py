"""The part of an adapter that knows no framework: sessions by the kit's id, snapshots and replays. An adapter gives
`main` its name and its loop.

Standard output belongs to the protocol: print to standard error.
"""
import asyncio, inspect, json
from functools import partial

from guardc import Guard, GuardError, SessionError
from guardc.integrations._shared import Approval
from line import kit, now, pieces_of, serve, told, tools_of, written

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback outages concurrent_runs effects invariants budgets limits host_reports
parallel_calls feedback feedback_triggers deadline task_completion lifecycles attestation contracts approvals deferred_approvals native_tools
trace restore replay"""


sessions = {}  # by the kit's id


def open_session(params, trace=None):
    guard = Guard.compile(params["source"])
    start = [params["now"]] if params.get("now") else []
    session = guard.session(
        params["session"], workspace=params.get("workspace"), data=params.get("data") if trace is None else None, trace=trace,
        clock=lambda: start.pop() if start else now(),
        probes=(lambda: {name: answer["answer"] for name in guard.probes if "answer" in (answer := kit.ask("probe.read", name=name))})
        if guard.probes else None)
    sessions[params["session"]] = session
    return session


def happened(session, event):
    """Tells the guard an event from outside of the loop."""
    match event["event"]:
        case "prompt": session.prompt(event["text"])
        case "verify": session.verify_item(event["item"])
        case "move": session.move_item(event["item"], event["transition"], by=event["by"], reason=event.get("reason"))
        case "approve": session.approve(event["tool"], event["args"], role=event["role"], by=event["by"])
        case "revoke": session.revoke(event["tool"], event["args"], role=event["role"], by=event["by"])
        case "resume": session.resume(role=event["role"], by=event["by"])


def take(session, turn, words):
    """Tells the guard what came with a turn of the model; keeps the user's words. Returns the tokens that the framework has to report."""
    for event in turn.get("host", []):
        happened(session, event)
        if event["event"] == "prompt":
            words.append(event["text"])
    used = turn.get("usage", {})
    tokens = int(used["tokens"]) if used.get("tokens", "").isdigit() else 0
    for unit, amount in used.items():
        if not (unit == "tokens" and tokens):
            session.usage(unit, amount)
    return tokens


class Failed(Exception):
    """A tool that failed, and the way in which it fails: `error`, `exception`, `retry` or `timeout`."""

    def __init__(self, text, way):
        super().__init__(text)
        self.way = way


async def execute(call, tool, args, cancel):
    """Runs a tool at the kit, and returns its result. Raises `Failed`; where the run is to be cancelled, calls `cancel`."""
    done = await kit.wait_for("tool.execute", call=call, tool=tool, args=args)
    if done["outcome"] == "success":
        return done["result"]
    way = done.get("failure", "error")
    if way == "cancelled":
        cancel()
        await asyncio.sleep(3600)  # The cancellation ends it at once.
    if way == "timeout":
        raise TimeoutError(told(done["result"]))
    if way == "exception":
        raise OSError(told(done["result"]))
    raise Failed(told(done["result"]), way)


async def cancellable(run):
    """Runs the coroutine `run(cancel)`. Returns whether it was cancelled, and its result."""
    task = asyncio.ensure_future(run(lambda: task.cancel()))
    try:
        return False, await task
    except asyncio.CancelledError:
        return True, None


TYPES = {"integer": int, "string": str, "boolean": bool}


def typed_parameters(schema):
    """The parameters of a typed tool as a user would write them: name, annotation and default."""
    for name, property in schema["properties"].items():
        kind = TYPES[property["type"]]
        if name in schema.get("required", ()):
            yield name, kind, inspect.Parameter.empty
        else:
            yield name, kind if "default" in property else kind | None, property.get("default")


def give_parameters(function, context, schema):
    """Gives a function `function(ctx, **args)` typed parameters, so that the framework validates and converts as it does for users."""
    parameters = [inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=context)]
    for name, annotation, default in typed_parameters(schema):
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default))
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


async def approve(pending, role):
    """Asks a person at the kit for a role's approval."""
    answer = await kit.wait_for("approval.request", call=pending.call, tool=pending.tool, args=pending.args, role=role)
    return Approval(answer["by"], answer.get("expires")) if answer["granted"] else None


def session_of(run):
    session = sessions.get(run["session"]) or open_session(run)
    for name in ANSWERED:
        vars(session).pop(name, None)  # An outage ends with its run.
    return failing(session, run["outage"]) if "outage" in run else session


#: What a guard that fails does not answer.
ANSWERED = ("propose", "preview", "settle", "stop", "usage", "prompt")


def failing(session, outage):
    """Makes the engine of a session fail from a question on, as the kit asks for."""
    asked, counted = 0, outage.get("on", "propose")

    def wrapped(name, method):
        def call(*args, **options):
            nonlocal asked
            asked += name == counted
            once = outage["how"] == "errs_once"
            if asked >= outage["at"] and not (once and (name != counted or asked > outage["at"])):
                raise GuardError("the guard does not answer")
            return method(*args, **options)
        return call

    for name in ANSWERED:
        setattr(session, name, wrapped(name, getattr(session, name)))
    return session


def arguments(text):
    """Arguments of a call as JSON, or the text of the model where that is no JSON."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def cancelled(session):
    return {"ended": "cancelled", "trace": session.records()}


def ended(session, run, turn, stop):
    how = {None: "incomplete" if stop.incomplete else "stopped", "deadline": "deadline", "halted": "halted"}
    end = {"ended": how.get(stop.bypassed, "budget"), "output": turn.get("output"),
           "unguarded": [tool["name"] for tool in run["tools"] if "elsewhere" in tool]}
    if run.get("contract") and turn.get("output") is not None:
        report = session.check(run["contract"], turn["output"], finish_reason=turn["finish_reason"])
        end["report"] = json.loads(report.to_json())
    return {**end, "trace": session.records()}


def restore(params):
    forget(params["session"])
    open_session({**params, "now": "1970-01-01T00:00:00Z"}, trace=params["snapshot"])


def forget(session):
    if session in sessions:
        sessions.pop(session).close()


def replay(params):
    """The trace is decided again: a session resumes from it only if each record comes out as it was."""
    first = json.loads(params["trace"][0])
    try:
        Guard.compile(params["source"]).session(first["payload"]["session"], trace=params["trace"]).close()
    except SessionError as error:
        return {"agrees": False, "at": error.seq}
    return {"agrees": True}


async def answer(name, loop, more, method, params):
    if method == "hello":
        declared = {capability: True for capability in (*CAPABILITIES.split(), *more)}
        return {"name": name, "version": "1", "reusable": True, "capabilities": declared}
    if method == "run":
        return await loop(params)
    if method == "snapshot":
        return {"snapshot": sessions[params["session"]].records()}
    if method == "restore":
        restore(params)
        return {}
    if method == "reset":
        for session in [params["session"]] if "session" in params else list(sessions):
            forget(session)
        return {}
    if method == "replay":
        return replay(params)
    raise RuntimeError(f"there is no method `{method}`")


def main(name, loop, *more):
    """Serves the kit: `loop` takes the parameters of `run` and returns what `ended` says; `more` are further capabilities."""
    serve(partial(answer, name, loop, more))
