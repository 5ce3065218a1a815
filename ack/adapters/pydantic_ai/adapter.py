#!/usr/bin/env python3
"""pydantic-ai behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/pydantic_ai/adapter.py

The loop is the framework's own, with its `FunctionModel` as the model; `guardc.integrations.pydantic_ai` is judged.
Standard output belongs to the protocol: print to standard error.
"""
import asyncio, json, sys, threading

from guardc import Guard, SessionError
from guardc.integrations.pydantic_ai import Approval, Guarded
from pydantic_ai import Agent, ModelRequestNode, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse, RetryPromptPart, SystemPromptPart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback effects invariants budgets limits parallel_calls
feedback feedback_triggers deadline task_completion lifecycles attestation contracts approvals native_tools trace restore replay"""


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
        self.say({"id": call, "method": method, "params": params})

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
    """What happened outside of the loop, told to the guard."""
    match event["event"]:
        case "prompt": session.prompt(event["text"])
        case "verify": session.verify_item(event["item"])
        case "move": session.move_item(event["item"], event["transition"], by=event["by"], reason=event.get("reason"))
        case "resume": session.resume(role=event["role"], by=event["by"])


class Later(AbstractCapability):
    """What the user says while the agent works is part of the conversation when the model is asked next."""

    def __init__(self):
        self.words = []

    def say(self, ctx):
        words, self.words[:] = list(self.words), []
        for text in words:
            ctx.enqueue(text)

    async def after_model_request(self, ctx, *, request_context, response):
        if any(isinstance(part, ToolCallPart) for part in response.parts):
            self.say(ctx)
        return response

    async def after_node_run(self, ctx, *, node, result):
        # What is enqueued at the end of a run begins another turn: words on a stop are said only if it was blocked.
        if isinstance(result, ModelRequestNode):
            self.say(ctx)
        return result


def shown(messages):
    """The conversation as the framework sends it."""
    said = []
    for message in messages:
        if isinstance(message, ModelResponse):
            text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
            calls = [{"call": part.tool_call_id, "tool": part.tool_name, "args": args_of(part)}
                     for part in message.parts if isinstance(part, ToolCallPart)]
            said.append({"role": "assistant", "text": text, **({"calls": calls} if calls else {})})
            continue
        for part in message.parts:
            if isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name:
                text = part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response()
                said.append({"role": "tool", "text": text, "call": part.tool_call_id})
            elif isinstance(part, SystemPromptPart):
                said.append({"role": "system", "text": part.content})
            else:
                content = part.content if isinstance(part.content, str) else "\n".join(map(str, part.content))
                said.append({"role": "user", "text": content})
    return said


def args_of(part):
    return part.args if isinstance(part.args, dict) else json.loads(part.args or "{}")


def tool_of(tool):
    async def run(ctx, **args):
        done = await kit.wait_for("tool.execute", call=ctx.tool_call_id, tool=tool["name"], args=args)
        if done["outcome"] != "success":
            raise ToolFailed(done["result"] if isinstance(done["result"], str) else json.dumps(done["result"]))
        return done["result"]

    return Tool.from_schema(run, tool["name"], tool["description"], tool["schema"], takes_ctx=True)


async def approve(pending, role):
    answer = await kit.wait_for("approval.request", call=pending.call, tool=pending.tool, args=pending.args, role=role)
    return Approval(answer["by"], answer.get("expires")) if answer["granted"] else None


async def loop(run):
    session = sessions.get(run["session"]) or open_session(run)
    later, turns = Later(), []

    async def model(messages, info):
        turn = await kit.wait_for("model.next", messages=shown(messages))
        turns.append(turn)
        for event in turn.get("host", []):
            happened(session, event)
            if event["event"] == "prompt":
                later.words.append(event["text"])
        used = turn.get("usage", {})
        tokens = int(used["tokens"]) if used.get("tokens", "").isdigit() else 0
        for unit, amount in used.items():
            if not (unit == "tokens" and tokens):
                session.usage(unit, amount)
        text = turn.get("say") or turn.get("output") or ""
        parts = [TextPart(text)] if text else []
        parts += [ToolCallPart(call["tool"], json.dumps(call["args"]), call["call"]) for call in turn.get("calls", [])]
        reason = turn.get("finish_reason")
        # `scripted` keeps the framework's test model from making up a usage of its own.
        return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=tokens, details={"scripted": 1}),
                             finish_reason="tool_call" if reason == "tool_calls" else reason)

    guarded = Guarded(session, approve=approve)
    agent = Agent(FunctionModel(model), output_type=str | None, tools=[tool_of(tool) for tool in run["tools"]], capabilities=[guarded, later], retries=100)
    # The framework's own limit of 50 requests is not the guard's.
    await agent.run(run["prompt"], usage_limits=UsageLimits(request_limit=None))
    return ended(session, run, turns[-1], guarded.stopped)


def ended(session, run, turn, stop):
    how = {None: "incomplete" if stop.incomplete else "stopped", "deadline": "deadline", "halted": "halted"}
    end = {"ended": how.get(stop.bypassed, "budget"), "output": turn.get("output")}
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
        return {"agrees": False, "at": int(str(error).split("record ")[1].split()[0].rstrip(":")) - 1}
    return {"agrees": True}


async def answer(method, params):
    if method == "hello":
        return {"name": "pydantic-ai", "version": "1", "capabilities": {name: True for name in CAPABILITIES.split()}}
    if method == "run":
        return await loop(params)
    if method == "snapshot":
        return {"snapshot": sessions[params["session"]].records()}
    if method in ("restore", "reset"):
        restore(params) if method == "restore" else forget(params["session"])
        return {}
    if method == "replay":
        return replay(params)
    raise RuntimeError(f"there is no method `{method}`")


def serve(request):
    try:
        kit.say({"id": request["id"], "result": asyncio.run(answer(request["method"], request["params"]))})
    except Exception as error:
        kit.say({"id": request["id"], "error": {"message": str(error)}})


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message:
        threading.Thread(target=serve, args=(message,), daemon=True).start()
    else:
        kit.hear(message)
