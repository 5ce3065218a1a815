"""The part of an adapter that knows no framework: the kit's protocol, sessions by the kit's id, snapshots
and replays. An adapter gives `main` its name and its loop.

Standard output belongs to the protocol: print to standard error.
"""
import asyncio, inspect, json, sys, threading, traceback
from contextvars import ContextVar

from guardc import Guard, GuardError, SessionError
from guardc.integrations._shared import Approval

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback outages concurrent_runs effects invariants budgets limits
parallel_calls feedback feedback_triggers deadline task_completion lifecycles attestation contracts approvals deferred_approvals native_tools
trace restore replay"""


#: The session whose run asks: several runs may go on at once.
asking = ContextVar("asking", default=None)


class Kit:
    """Questions to the kit. A thread reads its answers, so that any task or thread may ask."""

    def __init__(self):
        self.lock, self.asked, self.waiting = threading.Lock(), 0, {}

    def say(self, message):
        with self.lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def send(self, method, answered, params):
        with self.lock:
            self.asked += 1
            call = f"a{self.asked}"
            self.waiting[call] = answered
        self.say({"id": call, "method": method, "params": {**params, "session": asking.get()}})

    def hear(self, message):
        self.waiting.pop(message["id"])(message)

    def ask(self, method, **params):
        """Asks, and blocks until the answer is there: for what the kit answers at once."""
        box, there = [], threading.Event()
        self.send(method, lambda message: (box.append(message), there.set()), params)
        there.wait()
        return result(box[0])

    async def wait_for(self, method, **params):
        """The same, while other tasks go on."""
        loop, answer = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
        self.send(method, lambda message: loop.call_soon_threadsafe(answer.set_result, message), params)
        return result(await answer)


def result(message):
    if "error" in message:
        raise RuntimeError(message["error"]["message"])
    return message["result"]


kit = Kit()
sessions = {}  # by the kit's id


def now():
    return kit.ask("clock.now")["now"]


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


def written(call):
    """The arguments of a call as the text that the model wrote."""
    return call["args"] if isinstance(call["args"], str) else json.dumps(call["args"])


def pieces_of(turn):
    """The pieces of a streamed turn. A turn that is whole is streamed as one piece for its text and one for each call."""
    if "pieces" in turn:
        return turn["pieces"]
    text = turn.get("say") or turn.get("output")
    calls = [{"at": place, "call": call["call"], "tool": call["tool"], "args": written(call)} for place, call in enumerate(turn.get("calls", []))]
    return ([{"say": text}] if text else []) + calls


def told(result):
    """The result of a failed tool as text."""
    return result if isinstance(result, str) else json.dumps(result)


def tools_of(run):
    """The tools that are run here."""
    return [tool for tool in run["tools"] if "elsewhere" not in tool]


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


def serve(name, loop, more, request):
    asking.set(request["params"].get("session"))
    try:
        kit.say({"id": request["id"], "result": asyncio.run(answer(name, loop, more, request["method"], request["params"]))})
    except Exception as error:
        traceback.print_exc()
        kit.say({"id": request["id"], "error": {"message": f"{type(error).__name__}: {error}"}})


def main(name, loop, *more):
    """Serves the kit: `loop` takes the parameters of `run` and returns what `ended` says; `more` are further capabilities."""
    for line in sys.stdin:
        message = json.loads(line)
        if "method" in message:
            threading.Thread(target=serve, args=(name, loop, more, message), daemon=True).start()
        else:
            kit.hear(message)
