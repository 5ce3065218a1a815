"""The tools, handoffs, inputs and results of the OpenAI Agents SDK, as its adapter reads them."""

from __future__ import annotations

import inspect
from typing import Any

from agents import (
    Agent,
    CodeInterpreterTool,
    FileSearchTool,
    Handoff,
    HostedMCPTool,
    ImageGenerationTool,
    ToolSearchTool,
    WebSearchTool,
    handoff,
)
from agents.tool import ProgrammaticToolCallingTool

#: The tools that run at the provider. A tool of any other kind runs in the agent's process.
HOSTED = (
    CodeInterpreterTool,
    FileSearchTool,
    HostedMCPTool,
    ImageGenerationTool,
    ProgrammaticToolCallingTool,
    ToolSearchTool,
    WebSearchTool,
)

#: A handoff without a function of the host.
_PLAIN: Any = handoff(Agent("plain"))


def is_plain(made: Handoff[Any, Any]) -> bool:
    """Returns true if a handoff is the framework's own and has no `on_handoff`. What cannot be read has one."""
    try:
        (invoke,), (plain,) = made.on_invoke_handoff.args, _PLAIN.on_invoke_handoff.args
        is_own = made.on_invoke_handoff.func is _PLAIN.on_invoke_handoff.func and invoke.__code__ is plain.__code__
        return is_own and inspect.getclosurevars(invoke).nonlocals["on_handoff"] is None
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def last_words(input: Any) -> str:
    """The words of the user with which a run begins; none where it resumes."""
    if isinstance(input, str):
        return input
    last = input[-1] if isinstance(input, list) and input else None
    if not (isinstance(last, dict) and last.get("role") == "user"):
        return ""
    content = last.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def finish_reason(result: Any) -> str | None:
    """`length` where the provider says that the last answer is not complete; the framework keeps no other reason."""
    last = result.raw_responses[-1].output if result.raw_responses else ()
    return "length" if any(getattr(item, "status", None) == "incomplete" for item in last) else None
