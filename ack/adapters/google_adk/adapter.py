#!/usr/bin/env python3
"""Google ADK behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/google_adk/adapter.py

The loop is the framework's own (`Runner`), with a scripted `BaseLlm`; `guardc.integrations.google_adk` is judged. A run that
is streamed has `StreamingMode.SSE`: each piece is a partial response, and the whole turn comes last, as the framework asks
of models.
"""
import json, sys
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).parent.parent))
from kit import (approve, arguments, cancellable, cancelled, ended, execute, give_parameters, kit, main, pieces_of, session_of, take, tools_of)

from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from guardc.integrations.google_adk import Guarded

REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


class Host(BasePlugin):
    """What the user says while the agent works, where it was said. A tool that raises does not end the run."""

    def __init__(self):
        super().__init__("host")
        self.words, self.said = [], []

    async def before_model_callback(self, *, callback_context, llm_request):
        contents = llm_request.contents
        self.said += [(len(contents), types.UserContent(text)) for text in self.words]
        self.words.clear()
        for place, content in reversed(self.said):
            contents.insert(place, content)

    async def on_tool_error_callback(self, *, tool, tool_args, tool_context, error):
        return {"error": f"error: {error}"} if isinstance(error, Exception) else None


def text_of(response):
    """The text of a result as the framework packs it: as it is, or under `result` or `error`."""
    if set(response) in ({"result"}, {"error"}):
        ((_, response),) = response.items()
    return response if isinstance(response, str) else json.dumps(response)


def shown(request):
    """The conversation as the framework sends it."""
    said = []
    for content in request.contents:
        parts = content.parts or []
        if content.role == "model":
            calls = [{"call": part.function_call.id or "", "tool": part.function_call.name, "args": part.function_call.args or {}}
                     for part in parts if part.function_call]
            said.append({"role": "assistant", "text": "".join(part.text or "" for part in parts), "calls": calls})
            continue
        for part in parts:
            if part.function_response:
                answer = part.function_response
                said.append({"role": "tool", "text": text_of(answer.response), "call": answer.id or "", "failed": "error" in answer.response})
            else:
                said.append({"role": "user", "text": part.text})
    return said


def call_of(call):
    """A call as the framework knows it: its arguments are an object, whatever the model wrote."""
    args = arguments(call["args"]) if isinstance(call["args"], str) else call["args"]
    args = args if isinstance(args, dict) else {"not an object": args}
    return types.Part(function_call=types.FunctionCall(id=call["call"] or f"nameless-{uuid4().hex[:8]}", name=call["tool"], args=args))


class Scripted(BaseLlm):
    """The kit is the model."""

    session: object
    host: object
    turns: list = []

    async def generate_content_async(self, llm_request, stream=False):
        turn = await kit.wait_for("model.next", messages=shown(llm_request))
        self.turns.append(turn)
        tokens = take(self.session, turn, self.host.words)
        used = types.GenerateContentResponseUsageMetadata(total_token_count=tokens) if tokens else None
        calls = {place: dict(call) for place, call in enumerate(turn.get("calls", []))}
        said = [turn.get("say") or turn.get("output") or ""]
        if stream:
            said, calls = [], {}
            for piece in pieces_of(turn):
                if "say" in piece:
                    said.append(piece["say"])
                    yield LlmResponse(content=types.ModelContent(piece["say"]), partial=True, usage_metadata=used)
                if "at" in piece:
                    call = calls.setdefault(piece["at"], {"call": "", "tool": "", "args": ""})
                    call["call"], call["tool"] = piece.get("call") or call["call"], piece.get("tool") or call["tool"]
                    call["args"] += piece.get("args") or ""
                    yield LlmResponse(content=types.ModelContent([call_of(call)]), partial=True, usage_metadata=used)
        text, reason = "".join(said), REASONS.get(turn.get("finish_reason"))
        parts = [types.Part(text=text)] if text else []
        parts += [call_of(call) for call in calls.values()]
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=used,
                          finish_reason=types.FinishReason[reason] if reason and not calls else None)


class Plain(BaseTool):
    """A tool that gets its arguments as the model wrote them."""

    def __init__(self, tool, cancel):
        super().__init__(name=tool["name"], description=tool["description"] or tool["name"])
        self.cancel = cancel

    def _get_declaration(self):
        return types.FunctionDeclaration(name=self.name, description=self.description)

    async def run_async(self, *, args, tool_context):
        return await execute(tool_context.function_call_id, self.name, args, self.cancel)


def tool_of(tool, cancel):
    if "properties" not in tool["schema"]:
        return Plain(tool, cancel)

    async def run(ctx, **args):
        args = {name: value for name, value in args.items() if value is not None}
        return await execute(ctx.function_call_id, tool["name"], args, cancel)

    give_parameters(run, ToolContext, tool["schema"])
    run.__name__, run.__doc__ = tool["name"], tool["description"]
    return FunctionTool(run)


async def loop(run):
    session, host = session_of(run), Host()
    guarded, model = Guarded(session, approve=approve), Scripted(model="kit", session=session, host=host)

    async def work(cancel):
        agent = LlmAgent(name="agent", model=model, tools=[tool_of(tool, cancel) for tool in tools_of(run)])
        runner = InMemoryRunner(app=App(name="kit", root_agent=agent, plugins=[guarded, host]))
        await runner.session_service.create_session(app_name="kit", user_id="user", session_id="session")
        # The framework's own limit of 500 requests is not the guard's.
        config = RunConfig(max_llm_calls=0, streaming_mode=StreamingMode.SSE if run.get("streamed") else StreamingMode.NONE)
        async for _ in guarded.run(runner, user_id="user", session_id="session", new_message=types.UserContent(run["prompt"]),
                                   run_config=config):
            pass

    was_cancelled, _ = await cancellable(work)
    return cancelled(session) if was_cancelled else ended(session, run, model.turns[-1], guarded.stopped)


main("google-adk", loop, "streaming")
