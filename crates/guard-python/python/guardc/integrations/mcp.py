"""A server of the MCP SDK behind a guard: one extension, `Guarded`.

    guarded = Guarded(session)
    server = MCPServer("orders", extensions=[guarded])

    @server.tool()
    @guarded.tool
    def refund(order: str, amount: float) -> str: ...

Every call goes through the extension, and each function is guarded once more inside the framework's validation, so what
was judged is what runs. See `docs/guide/frameworks.md` for what the protocol keeps out of a guard's reach.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolRequestParams, CallToolResult, InputRequiredResult, TextContent

from .. import ArgumentError, GuardError, Session
from ._shared import Approval, Approve, ToolCall, current_call, jsonable_arguments, jsonable_result

__all__ = ["Approval", "Guarded"]


class Guarded(Extension):
    """Puts the tools of a server behind a guard.

    - `session`: the session, or a function from the framework's request context to the session of the client.
    - `approve`: called for each role that a call needs, with the pending call; returns an `Approval`, or `None`.
      Without it the client is told that an approval is needed.
    - `others`: tools that are not made with `guarded.tool` do not run. With `"as_written"` they are judged by the
      arguments as the client wrote them: for handlers that get exactly those.
    - `call_id`: a function from the request context to the id of the call, where clients send one of their own. Otherwise
      the guard makes one: the numbers of requests are unique to a connection only.
    """

    identifier = "local.guardc/guard"

    def __init__(
        self,
        session: Session | Callable[[ServerRequestContext[Any, Any]], Session],
        *,
        approve: Approve | None = None,
        others: str = "deny",
        call_id: Callable[[ServerRequestContext[Any, Any]], str | None] = lambda ctx: None,
    ) -> None:
        if others not in ("deny", "as_written"):
            raise ArgumentError('`others` is "deny" or "as_written"')
        self._source = session
        self._approve = approve
        self._others = others
        self._call_id = call_id
        self._tools: set[str] = set()

    def tool(self, function: Any = None, *, name: str | None = None) -> Any:
        """Guards a function that is registered with `server.tool` afterwards, under the same name."""

        def guard(function: Callable[..., Any]) -> Callable[..., Any]:
            self._tools.add(name or function.__name__)
            return _inside(function)

        return guard if function is None else guard(function)

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: ServerRequestContext[Any, Any], call_next: Any
    ) -> Any:
        session = self._source if isinstance(self._source, Session) else self._source(ctx)
        if not isinstance(session, Session):
            raise GuardError("the guard has no session for this client")
        written = json.dumps(params.arguments or {})
        call = ToolCall(session, params.name, written, self._call_id(ctx), self._approve)
        result, failure = await self._result(call, params, lambda: call_next(ctx))
        await call.judge_unread()
        if call.error is not None:
            raise call.error
        if call.answer is not None:
            result = CallToolResult(content=[TextContent(text=call.answer)], is_error=not call.is_served)
        elif failure is not None:
            raise failure
        return _with_feedback(result, session.feedback())

    async def _result(
        self, call: ToolCall, params: CallToolRequestParams, run: Callable[[], Awaitable[Any]]
    ) -> tuple[Any, Exception | None]:
        """What the server answers, or fails with."""
        token = current_call.set(call)
        try:
            if params.name in self._tools:
                result = await run()
                if not call.is_judged and isinstance(result, CallToolResult) and not result.is_error:
                    call.error = GuardError(f"another function than the guarded one is registered as `{params.name}`")
                return result, None
            if self._others == "as_written":
                return await _settled(call, None, run), None
            text = f"no guard stands around `{params.name}`, so that it does not run"
            return CallToolResult(content=[TextContent(text=text)], is_error=True), None
        except Exception as error:
            return None, error
        finally:
            current_call.reset(token)


class _Unfinished(Exception):
    """A result that says that the tool has failed, or is not done yet."""

    def __init__(self, result: Any) -> None:
        super().__init__("the tool has no result")
        self.result = result


async def _settled(call: ToolCall, real: Any, run: Callable[[], Awaitable[Any]]) -> Any:
    """Runs a call behind the guard. Results that are none settle it as failed."""

    async def execute() -> Any:
        result = await run()
        if isinstance(result, InputRequiredResult) or (isinstance(result, CallToolResult) and result.is_error):
            raise _Unfinished(result)
        return result

    try:
        return await call.guard(real, execute, _value)
    except _Unfinished as unfinished:
        return unfinished.result


def _inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind the guard of the current call. What the framework injects is not part of the arguments."""
    is_async = inspect.iscoroutinefunction(function)
    made = Tool.from_function(function, name=getattr(function, "__name__", "tool"))
    injected = {made.context_kwarg, *made.resolved_params}

    @functools.wraps(function)
    async def guarded(**given: Any) -> Any:
        call = current_call.get()
        if call is None:
            raise GuardError("the function is guarded, and was called outside of its server")

        async def run() -> Any:
            if is_async:
                return await function(**given)
            return await anyio.to_thread.run_sync(functools.partial(function, **given))

        real = jsonable_arguments({name: value for name, value in given.items() if name not in injected}, call.tool)
        result = await _settled(call, real, run)
        if call.answer is not None or call.error is not None:
            raise ToolError("the guard answers")  # It does so around the framework.
        return result

    return guarded


def _value(result: Any) -> Any:
    """The result of a tool as JSON: the structured content, the JSON in the only text, or the text."""
    if not isinstance(result, CallToolResult):
        return jsonable_result(result)
    if result.structured_content is not None:
        return result.structured_content
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    try:
        return json.loads(texts[0]) if len(texts) == len(result.content) == 1 else "\n".join(texts)
    except ValueError:
        return texts[0]


def _with_feedback(result: Any, blocks: list[str]) -> Any:
    if not blocks or not isinstance(result, CallToolResult):
        return result
    return result.model_copy(update={"content": [*result.content, *(TextContent(text=block) for block in blocks)]})
