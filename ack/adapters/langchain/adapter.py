#!/usr/bin/env python3
"""LangChain behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/langchain/adapter.py

The loop is the framework's own, with a scripted chat model; `guardc.integrations.langchain` is judged.
Standard output belongs to the protocol: print to standard error.
"""
import asyncio, json, sys, threading
from contextvars import ContextVar

from guardc import Guard, SessionError
from guardc.integrations.langchain import Approval, GuardMiddleware
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, ToolException

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


current = ContextVar("current")


class Inner(AgentMiddleware):
    """The id of the current call, for the tools, and what the user says while the agent works."""

    def __init__(self):
        super().__init__()
        self.words = []

    async def awrap_tool_call(self, request, handler):
        current.set(request.tool_call["id"])
        return await handler(request)

    async def abefore_model(self, state, runtime):
        words, self.words[:] = list(self.words), []
        return {"messages": [HumanMessage(text) for text in words]} if words else None


def shown(messages):
    """The conversation as the framework sends it."""
    said = []
    for message in messages:
        if isinstance(message, AIMessage):
            calls = [{"call": call["id"], "tool": call["name"], "args": call["args"]} for call in message.tool_calls]
            said.append({"role": "assistant", "text": message.content, **({"calls": calls} if calls else {})})
        elif isinstance(message, ToolMessage):
            said.append({"role": "tool", "text": message.content, "call": message.tool_call_id})
        else:
            said.append({"role": "system" if isinstance(message, SystemMessage) else "user", "text": message.content})
    return said


class Scripted(BaseChatModel):
    """The kit is the model."""

    session: object
    inner: object
    turns: list = []

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, *rest, **options):
        raise NotImplementedError("the kit is asked asynchronously")

    async def _agenerate(self, messages, stop=None, run_manager=None, **options):
        turn = await kit.wait_for("model.next", messages=shown(messages))
        self.turns.append(turn)
        for event in turn.get("host", []):
            happened(self.session, event)
            if event["event"] == "prompt":
                self.inner.words.append(event["text"])
        used = turn.get("usage", {})
        tokens = int(used["tokens"]) if used.get("tokens", "").isdigit() else 0
        for unit, amount in used.items():
            if not (unit == "tokens" and tokens):
                self.session.usage(unit, amount)
        calls = [{"name": call["tool"], "args": call["args"], "id": call["call"], "type": "tool_call"} for call in turn.get("calls", [])]
        message = AIMessage(turn.get("say") or turn.get("output") or "", tool_calls=calls,
                            response_metadata={"finish_reason": turn.get("finish_reason")},
                            usage_metadata={"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens} if tokens else None)
        return ChatResult(generations=[ChatGeneration(message=message)])


def tool_of(tool):
    async def run(**args):
        done = await kit.wait_for("tool.execute", call=current.get(), tool=tool["name"], args=args)
        if done["outcome"] != "success":
            raise ToolException(done["result"] if isinstance(done["result"], str) else json.dumps(done["result"]))
        return done["result"]

    return StructuredTool.from_function(coroutine=run, name=tool["name"], description=tool["description"] or tool["name"],
                                        args_schema=tool["schema"], infer_schema=False, handle_tool_error=True)


async def approve(pending, role):
    answer = await kit.wait_for("approval.request", call=pending.call, tool=pending.tool, args=pending.args, role=role)
    return Approval(answer["by"], answer.get("expires")) if answer["granted"] else None


async def loop(run):
    session = sessions.get(run["session"]) or open_session(run)
    inner, guarded = Inner(), GuardMiddleware(session, approve=approve)
    model = Scripted(session=session, inner=inner)
    agent = create_agent(model, tools=[tool_of(tool) for tool in run["tools"]], middleware=[guarded, inner])
    # The framework's own limit of steps is not the guard's.
    await agent.ainvoke({"messages": [HumanMessage(run["prompt"])]}, {"recursion_limit": 10_000})
    return ended(session, run, model.turns[-1], guarded.stopped)


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
        return {"name": "langchain", "version": "1", "capabilities": {name: True for name in CAPABILITIES.split()}}
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
