#!/usr/bin/env python3
"""LangChain behind Guard, for the conformance kit:

    guardc ack run -- python3 ack/adapters/langchain/adapter.py

The loop is the framework's own, with a scripted chat model; `guardc.integrations.langchain` is judged.
"""
import sys
from contextvars import ContextVar
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from kit import approval, ended, execute, kit, main, session_of, take, told

from guardc.integrations.langchain import Approval, GuardMiddleware
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool, ToolException

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
        tokens = take(self.session, turn, self.inner.words)
        calls = [{"name": call["tool"], "args": call["args"], "id": call["call"], "type": "tool_call"} for call in turn.get("calls", [])]
        message = AIMessage(turn.get("say") or turn.get("output") or "", tool_calls=calls,
                            response_metadata={"finish_reason": turn.get("finish_reason")},
                            usage_metadata={"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens} if tokens else None)
        return ChatResult(generations=[ChatGeneration(message=message)])


def tool_of(tool):
    async def run(**args):
        succeeded, result = await execute(current.get(), tool["name"], args)
        if not succeeded:
            raise ToolException(told(result))
        return result

    return StructuredTool.from_function(coroutine=run, name=tool["name"], description=tool["description"] or tool["name"],
                                        args_schema=tool["schema"], infer_schema=False, handle_tool_error=True)


async def approve(pending, role):
    answer = await approval(pending, role)
    return Approval(answer["by"], answer.get("expires")) if answer["granted"] else None


async def loop(run):
    session = session_of(run)
    inner, guarded = Inner(), GuardMiddleware(session, approve=approve)
    model = Scripted(session=session, inner=inner)
    agent = create_agent(model, tools=[tool_of(tool) for tool in run["tools"]], middleware=[guarded, inner])
    # The framework's own limit of steps is not the guard's.
    await agent.ainvoke({"messages": [HumanMessage(run["prompt"])]}, {"recursion_limit": 10_000})
    return ended(session, run, model.turns[-1], guarded.stopped)


main("langchain", loop)
