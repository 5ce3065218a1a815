"""pydantic-ai behind the ACK: the framework's own loop, its FunctionModel, and `guardc serve` as the guard.

Somebody wrote it from the documentation alone, without reading our adapters. `planted.py` plants faults in it; it is no example.
Everything between the kit and the guard goes through one capability, `Guarded`, on the framework's public hooks.
"""
import asyncio
import base64
import inspect
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import tempfile
from typing import Any

import pydantic
import pydantic_ai
from pydantic_ai import Agent, ModelRetry, Tool, ToolDenied, ToolFailed, UsageLimits
from pydantic_ai.agent import CallToolsNode, ModelRequestNode
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import SkipToolValidation, ToolFailedError, ToolRetryError
from pydantic_ai.messages import (ERROR_OUTCOMES, ModelMessagesTypeAdapter, ModelRequest, ModelResponse, SystemPromptPart,
                                  TextPart, ToolCallPart, ToolReturnPart, UserPromptPart)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_graph import End

PATIENCE = 4.0  # seconds that the guard has for one answer
MAX_LINE = 17 << 20
GUARDC = os.environ.get("GUARDC", "guardc")
CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback outages streaming concurrent_runs effects
    invariants budgets limits host_reports parallel_calls feedback feedback_triggers deadline task_completion lifecycles attestation
    contracts approvals deferred_approvals native_tools trace restore replay""".split()
# What the guard may answer to something that happened, without being ill.
BENIGN = {"session.usage": {"not_host_charged"}, "session.resume": {"not_halted"}, "call.settle": {"no_such_call"},
          "item.verify": {"no_such_item", "no_transition"}, "item.move": {"no_such_item", "no_transition"},
          "call.approve": {"unknown_tool", "invalid_arguments"}}


class GuardError(Exception):
    """The guard cannot be asked: nothing may run."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


class KitError(Exception):
    """The kit answered with an error."""


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# The guard --------------------------------------------------------------------------------------------------------------

class Sidecar:
    """One `guardc serve`. After it has failed to answer once it is dead, and stays so."""

    def __init__(self):
        self.process, self.waiting, self.number, self.dead = None, {}, 0, False

    async def start(self):
        self.process = await asyncio.create_subprocess_exec(
            GUARDC, "serve", "--durability", "off", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            limit=MAX_LINE, start_new_session=True)
        self.reader = asyncio.create_task(self.read())
        return self

    async def read(self):
        try:
            while line := await self.process.stdout.readline():
                answer = json.loads(line)
                if (future := self.waiting.pop(answer.get("id"), None)) and not future.done():
                    future.set_result(answer)
        finally:
            self.kill("the guard has ended")

    def kill(self, why="stopped"):
        self.dead = True
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for future in self.waiting.values():
            if not future.done():
                future.set_exception(GuardError(why))
        self.waiting.clear()

    async def ask(self, method, **params):
        if self.dead:
            raise GuardError("the guard has ended")
        self.number += 1
        number, future = self.number, asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        try:
            line = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            self.process.stdin.write(line.encode() + b"\n")
            await self.process.stdin.drain()
            answer = await asyncio.wait_for(future, PATIENCE)
        except (TimeoutError, ConnectionError) as e:
            self.kill("the guard does not answer")
            raise GuardError(f"the guard does not answer {method}") from e
        if error := answer.get("error"):
            raise GuardError(f"{method}: {error['message']}", (error.get("data") or {}).get("code"))
        return answer["result"]


class Session:
    """A session of the guard: its journal, and what has to be said to it."""

    def __init__(self, name):
        self.name = name
        self.journal = pathlib.Path(tempfile.mkdtemp(prefix="journal-"))
        self.sidecar = None  # the one that has it open
        self.probes = []
        self.unsaid = []  # reports the guard has not taken: (method, params), in order
        self.doubtful = False  # a question was not answered: a call may be in flight that never ran
        self.lock = asyncio.Lock()
        self.in_flight = set()
        self.ended = asyncio.Event()  # set, and replaced, when a call in flight has ended
        self.pending = []  # texts the model is to be shown when it is asked next

    @property
    def file(self):
        return self.journal / f"{self.name}.jsonl"

    def trace(self):
        return self.file.read_text().splitlines() if self.file.exists() else []

    async def open(self, adapter, run, now):
        sidecar = await adapter.guard()
        if self.sidecar is sidecar:
            return
        opened = await sidecar.ask("session.open", source=run["source"], session=self.name, now=now,
                                   workspace=run.get("workspace"), data=run.get("data"), journal=str(self.journal))
        self.sidecar, self.probes = sidecar, opened["probes"]

    async def ask(self, method, **params):
        try:
            return await self.sidecar.ask(method, session=self.name, **params)
        except GuardError as e:
            if e.code in BENIGN.get(method, ()):
                return None
            self.doubtful = True
            raise

    def note(self, method, **params):
        """Remembers what has happened; what the guard does not take from `say` is said again in the next run."""
        self.unsaid.append((method, params))

    async def say(self):
        answer = None
        while self.unsaid:
            method, params = self.unsaid[0]
            answer = await self.ask(method, **params)
            self.unsaid.pop(0)
        return answer

    async def recover(self, now):
        """After the guard failed: what it was not told, then calls of which it thinks that they run."""
        await self.say()
        if self.doubtful:
            for call in (await self.ask("session.state"))["in_flight"]:
                await self.ask("call.settle", call=call["call"], outcome="failure", result="it never ran", now=now)
            self.doubtful = False

    def settled(self, call):
        self.in_flight.discard(call)
        self.ended.set()
        self.ended = asyncio.Event()

    async def close(self):
        if self.sidecar and not self.sidecar.dead:
            try:
                await self.sidecar.ask("session.close", session=self.name)
            except GuardError:
                pass
        shutil.rmtree(self.journal, ignore_errors=True)

    def snapshot(self):
        files = {p.name: base64.b64encode(p.read_bytes()).decode() for p in self.journal.iterdir() if p.is_file()}
        return {"files": files, "unsaid": self.unsaid, "doubtful": self.doubtful}

    def restore(self, snapshot):
        for name, data in snapshot["files"].items():
            (self.journal / name).write_bytes(base64.b64decode(data))
        self.unsaid, self.doubtful = [tuple(u) for u in snapshot["unsaid"]], snapshot["doubtful"]


# The framework ------------------------------------------------------------------------------------------------------------

class Guarded(AbstractCapability):
    """Puts each call, each answer of the model and each stop to the guard."""

    def __init__(self, run):
        self.run = run
        self.refused = {}  # why the framework refuses a call, by its id
        self.missing = set()  # the tools that the agent does not have

    # What the model wrote

    async def after_model_request(self, ctx, *, request_context, response):
        run, turn = self.run, self.run.turn
        for unit, amount in (turn.get("usage") or {}).items():
            run.session.note("session.usage", unit=unit, amount=amount, now=await run.now())
        for event in turn.get("host") or []:
            await run.host(event)
        await run.session.say()
        # A tool that the agent does not have is put to the guard too: it gets a place among the tools, and never runs.
        tools = ctx.tool_manager.tools
        toolset = FunctionToolset()
        for part in response.parts:
            if isinstance(part, ToolCallPart) and part.tool_name not in tools:
                self.missing.add(part.tool_name)
                tools[part.tool_name] = await missing_tool(toolset, ctx, part.tool_name)
        return response

    async def wrap_tool_validate(self, ctx, *, call, tool_def, args, handler):
        try:
            return await handler(args)
        except (pydantic.ValidationError, ModelRetry) as e:
            self.refused[call.tool_call_id] = e  # the guard is asked first, when it is this call's turn
            raise SkipToolValidation({}) from e

    # What runs

    async def wrap_tool_execute(self, ctx, *, call, tool_def, args, handler):
        session, written = self.run.session, parse(call.args)
        refusal = self.refused.pop(call.tool_call_id, None)
        if tool_def.name in self.missing:
            refusal = ModelRetry(f"Unknown tool name: {tool_def.name!r}.")
        if not isinstance(written, dict):  # no arguments that a guard could judge
            raise refusal or ModelRetry("The arguments must be an object.")
        said = await self.permit(call, written)
        if said["verdict"] != "allow":
            return ToolDenied("\n".join(t for t in (said["message"], said["rendered"]) if t))
        if said.get("served"):
            session.pending.append(said["rendered"])
            return said["served"]["result"]
        outcome, result = "failure", "it did not come to its end"
        try:
            if refusal:
                result = str(refusal)
                raise refusal
            result = await handler(written)  # what was judged is what runs
            outcome = "success"
            return result
        except (ToolFailedError, ToolRetryError, ModelRetry, pydantic.ValidationError, KitError):
            raise  # the framework shows these to the model, in forms of its own
        except Exception as e:  # an exception of the tool's own does not end the run
            raise ToolFailed(f"{type(e).__name__}: {e}") from e
        finally:
            if outcome == "failure" and (e := sys.exc_info()[1]) is not None and not refusal:
                result = str(e) or type(e).__name__
            shown = await self.settle(call.tool_call_id, outcome, result)
            if outcome == "success" and shown is not None:
                return shown  # all that the model may read of the result

    async def permit(self, call, args):
        """Asks the guard, and people, until it is clear whether this call runs."""
        session, asked = self.run.session, set()
        while True:
            async with session.lock:
                ended = session.ended
                said = await session.ask("call.propose", call=call.tool_call_id, tool=call.tool_name, args=args,
                                         probes=await self.run.probes(), now=await self.run.now())
                if said["verdict"] == "allow" and not said.get("served"):
                    session.in_flight.add(call.tool_call_id)
            if said["verdict"] == "wait":
                if not session.in_flight and ended is session.ended:
                    raise GuardError("a call has to wait, and nothing is in flight")
                await ended.wait()
            elif said["verdict"] == "ask":
                roles = [r for reason in said["reasons"] if reason["decision"] == "ask" for r in reason["needs"]]
                new = [r for r in dict.fromkeys(roles) if r not in asked]
                asked.update(new)
                granted = [await self.approved(call, args, role) for role in new]
                if not new or not all(granted):
                    return {**said, "message": said["message"] + "\nIt was not approved."}
            else:
                return said

    async def approved(self, call, args, role):
        answer = await self.run.kit("approval.request", call=call.tool_call_id, tool=call.tool_name, args=args, role=role)
        if not answer["granted"] or answer.get("later"):
            return False
        await self.run.session.ask("call.approve", tool=call.tool_name, args=args, role=role, by=answer["by"],
                                   expires=answer.get("expires"), now=await self.run.now())
        return True

    async def settle(self, call, outcome, result):
        session = self.run.session
        try:
            async with session.lock:
                session.note("call.settle", call=call, outcome=outcome, result=result,
                             probes=await self.run.probes(), now=await self.run.now())
                if said := await session.say():
                    session.pending.append(said["rendered"])
                    return said.get("shown")
        finally:
            session.settled(call)

    # What the model is shown, and when it may stop

    async def before_node_run(self, ctx, *, node):
        if isinstance(node, ModelRequestNode):
            texts, self.run.session.pending = self.run.session.pending, []
            node.request.parts = [*node.request.parts, *(UserPromptPart(t) for t in texts if t)]
        return node

    async def after_node_run(self, ctx, *, node, result):
        if not (isinstance(node, CallToolsNode) and isinstance(result, End)):
            return result
        run = self.run
        async with run.session.lock:
            said = await run.session.ask("session.stop", reason=run.turn.get("finish_reason") or "stop",
                                         probes=await run.probes(), now=await run.now())
        if said["decision"] == "block":
            return ModelRequestNode(ModelRequest(parts=[UserPromptPart(said["message"])]))
        bypassed = said["bypassed"]
        run.end = ("incomplete" if said["incomplete"] else "stopped" if not bypassed
                   else bypassed if bypassed in ("halted", "deadline") else "budget")
        return result


def parse(args):
    """The arguments as the model wrote them; None where that is no JSON."""
    if not isinstance(args, str):
        return args if args is not None else {}
    try:
        return json.loads(args) if args else {}
    except ValueError:
        return None


async def missing_tool(toolset, ctx, name):
    async def never(**_: Any):
        raise AssertionError("a tool that is not there does not run")
    toolset.add_function(never, name=name)
    return (await toolset.get_tools(ctx))[name]


TYPES = {"integer": int, "string": str, "boolean": bool, "number": float, "array": list, "object": dict}


def type_of(schema, name="Arguments"):
    """The Python type that a user of the framework would have written for a JSON Schema."""
    if schema.get("properties"):
        required = schema.get("required", [])
        fields = {k: (type_of(s, k), ... if k in required else s.get("default")) for k, s in schema["properties"].items()}
        return pydantic.create_model(name, **fields)
    return TYPES.get(schema.get("type"), Any)


def tool_of(run, spec):
    """A tool with typed parameters; what it does is the kit's."""
    name, properties = spec["name"], spec["schema"].get("properties")
    required = spec["schema"].get("required", [])

    async def function(ctx: pydantic_ai.RunContext, **arguments: Any) -> Any:
        return await run.execute(ctx, name, arguments)

    if properties:
        parameters = [inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=pydantic_ai.RunContext)]
        for key, schema in properties.items():
            default = inspect.Parameter.empty if key in required else schema.get("default")
            parameters.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default,
                                                annotation=type_of(schema, key)))
        function.__signature__ = inspect.Signature(parameters)
        function.__annotations__ = {p.name: p.annotation for p in parameters}
    return Tool(function, takes_ctx=True, name=name, description=spec.get("description") or None)


class Run:
    """One run of the loop: an agent, its session, and the kit as its model, tools, clock and people."""

    def __init__(self, adapter, params):
        self.adapter, self.params, self.turn, self.end = adapter, params, {}, "error"
        self.session = adapter.session(params["session"])
        self.cancelled = False

    async def kit(self, method, **params):
        return await self.adapter.ask(method, session=self.session.name, **params)

    async def now(self):
        return (await self.kit("clock.now"))["now"]

    async def probes(self):
        answers = {name: (await self.kit("probe.read", name=name)).get("answer") for name in self.session.probes}
        return {name: answer for name, answer in answers.items() if answer is not None}

    async def host(self, event):
        session, now = self.session, await self.now()
        match event:
            case {"event": "prompt", "text": text}:
                session.pending.append(text)
                session.note("session.prompt", text=text, now=now)
            case {"event": "verify", "item": item}:
                session.note("item.verify", item=item, probes=await self.probes(), now=now)
            case {"event": "move", **rest}:
                session.note("item.move", **{k: rest.get(k) for k in ("item", "transition", "by", "reason")}, now=now)
            case {"event": "approve", **rest}:
                session.note("call.approve", **{k: rest[k] for k in ("tool", "args", "role", "by")}, now=now)
            case {"event": "resume", "role": role, "by": by}:
                session.note("session.resume", role=role, by=by, now=now)

    async def execute(self, ctx, name, arguments):
        done = await self.kit("tool.execute", call=ctx.tool_call_id, tool=name, args=arguments)
        if done["outcome"] == "success":
            return done["result"]
        error = text_of(done["result"])
        match done.get("failure"):
            case "exception":
                raise RuntimeError(error)
            case "retry":
                raise ModelRetry(error)
            case "timeout":  # what the framework's own toolset raises when a tool takes too long
                raise ModelRetry(f"Timed out: {error}")
            case "cancelled":
                self.cancelled = True
                self.task.cancel()
                await asyncio.sleep(3600)
        raise ToolFailed(error)

    # The model

    async def respond(self, messages, _info):
        turn = self.turn = await self.kit("model.next", messages=shown(messages))
        parts = [TextPart(turn[k]) for k in ("say", "output") if turn.get(k)]
        for call in turn.get("calls") or []:
            written = call["args"] if isinstance(call["args"], str) else json.dumps(call["args"])
            part = ToolCallPart(call["tool"], written)
            part.tool_call_id = call["call"] or part.tool_call_id
            parts.append(part)
        return ModelResponse(parts=parts)

    async def stream(self, messages, _info):
        turn = self.turn = await self.kit("model.next", messages=shown(messages))
        yield ""
        for piece in turn.get("pieces") or []:
            if "at" in piece:
                yield {piece["at"]: DeltaToolCall(piece.get("tool"), piece.get("args"), tool_call_id=piece.get("call") or None)}
            elif piece.get("say"):
                yield piece["say"]
        if turn.get("output"):
            yield turn["output"]

    # The loop

    async def play(self):
        params, session, output, why = self.params, self.session, None, None
        tools = [t for t in params["tools"] if not t.get("elsewhere")]
        agent = Agent(
            FunctionModel(self.respond, stream_function=self.stream), output_type=[str, type(None)],
            tools=[tool_of(self, t) for t in tools if not t.get("native")],
            toolsets=[FunctionToolset([tool_of(self, t) for t in tools if t.get("native")])],
            retries=1_000_000, capabilities=[Guarded(self)])
        try:
            now = await self.now()
            await session.open(self.adapter, params, now)
            await session.recover(now)
            session.note("session.prompt", text=params["prompt"], now=now)
            await session.say()
            session.pending.clear()
            self.task = asyncio.create_task(agent.run(
                params["prompt"], usage_limits=UsageLimits(request_limit=None),
                event_stream_handler=drain if params.get("streamed") else None))
            output = (await self.task).output or ""
        except asyncio.CancelledError:
            self.end = "cancelled" if self.cancelled else "error"
        except Exception as e:
            self.end, why = "error", f"{type(e).__name__}: {e}"
            print(f"run of {session.name} ends: {why}", file=sys.stderr)
        answer = {"ended": self.end, "output": output, "trace": session.trace(), "why": why,
                  "unguarded": [t["name"] for t in params["tools"] if t.get("elsewhere")]}
        if params.get("contract") and output is not None:
            answer["report"] = await session.ask("contract.check", contract=params["contract"], text=output,
                                                 finish_reason=self.turn.get("finish_reason"))
        return answer


async def drain(_ctx, events):
    async for _ in events:
        pass


def shown(messages):
    """The conversation as the model sees it."""
    out = []
    for message in messages:
        if isinstance(message, ModelResponse):
            calls = [{"call": p.tool_call_id, "tool": p.tool_name, "args": p.args if (v := parse(p.args)) is None else v}
                     for p in message.parts if isinstance(p, ToolCallPart)]
            text = "".join(p.content for p in message.parts if isinstance(p, TextPart))
            out.append({"role": "assistant", "text": text, "calls": calls})
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                out.append({"role": "tool", "call": part.tool_call_id, "text": part.model_response_str(wrap_if_error=False),
                            "failed": part.outcome in ERROR_OUTCOMES})
            elif isinstance(part, SystemPromptPart):
                out.append({"role": "system", "text": part.content})
            elif isinstance(part, UserPromptPart):
                out.append({"role": "user", "text": part.content})
            else:
                out.append({"role": "user", "text": part.model_response()})
    return out


# The kit ------------------------------------------------------------------------------------------------------------------

class Adapter:
    def __init__(self):
        self.sessions, self.sidecar, self.waiting, self.number = {}, None, {}, 0

    def session(self, name):
        if name not in self.sessions:
            self.sessions[name] = Session(name)
        return self.sessions[name]

    async def guard(self):
        if self.sidecar is None or self.sidecar.dead:
            self.sidecar = await Sidecar().start()
        return self.sidecar

    def send(self, message):
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()

    async def ask(self, method, **params):
        self.number += 1
        number, future = f"a{self.number}", asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        self.send({"id": number, "method": method, "params": params})
        answer = await future
        if "error" in answer:
            raise KitError(answer["error"]["message"])
        return answer["result"]

    async def answer(self, message):
        method = getattr(self, "do_" + message["method"], None)
        try:
            if method is None:
                raise KitError(f"unknown method {message['method']}")
            self.send({"id": message["id"], "result": await method(**message["params"])})
        except Exception as e:
            self.send({"id": message["id"], "error": {"message": f"{type(e).__name__}: {e}"}})

    async def do_hello(self, **_):
        return {"name": "pydantic-ai", "version": pydantic_ai.__version__, "reusable": True,
                "capabilities": dict.fromkeys(CAPABILITIES, True)}

    async def do_run(self, **params):
        return await Run(self, params).play()

    async def do_snapshot(self, session):
        return {"snapshot": self.session(session).snapshot()}

    async def do_restore(self, session, snapshot, **_):
        await self.do_reset(session)
        self.session(session).restore(snapshot)
        return {}

    async def do_reset(self, session=None):
        for name in [session] if session else list(self.sessions):
            if known := self.sessions.pop(name, None):
                await known.close()
        return {}

    async def do_replay(self, trace, source):
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            (at / "source.guard").write_text(source)
            (at / "trace.jsonl").write_text("".join(line + "\n" for line in trace))
            process = await asyncio.create_subprocess_exec(
                GUARDC, "replay", "trace.jsonl", "--plan", "source.guard", "--format", "json", cwd=folder,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
            out, err = await process.communicate()
        if process.returncode == 0:
            return {"agrees": True}
        print(out.decode(), err.decode(), file=sys.stderr)
        differences = json.loads(out).get("differences") if out else None
        if differences:
            return {"agrees": False, "at": differences[0]["seq"]}
        line = re.search(r"line (\d+)|:(\d+):", err.decode())
        return {"agrees": False, "at": int(line.group(1) or line.group(2)) - 1 if line else None}

    async def serve(self):
        reader = asyncio.StreamReader(limit=MAX_LINE)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        tasks = set()
        while line := await reader.readline():
            message = json.loads(line)
            if "method" in message:
                tasks.add(task := asyncio.create_task(self.answer(message)))
                task.add_done_callback(tasks.discard)
            else:
                self.waiting.pop(message["id"]).set_result(message)
        if self.sidecar:
            self.sidecar.kill()
        for session in self.sessions.values():
            shutil.rmtree(session.journal, ignore_errors=True)
        os._exit(0)  # nothing is left to do; the interpreter's own end takes longer than the kit waits


if __name__ == "__main__":
    asyncio.run(Adapter().serve())
