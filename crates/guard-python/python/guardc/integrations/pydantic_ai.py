"""pydantic-ai behind a guard: one capability, `Guarded`.

    agent = Agent(model, tools=[refund], capabilities=[Guarded(session)])

Each call of a function tool is proposed to the guard directly around the tool, after every other hook, so what was
judged is what runs. A denied call is answered with the guard's message and costs no retry. See `docs/guide/frameworks.md`
for what the framework keeps out of a guard's reach.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

from pydantic_ai import ModelRequestNode, RunContext
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturn, UserPromptPart
from pydantic_ai.tools import DeferredToolRequests, ToolDefinition, ToolDenied
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema
from pydantic_graph import End

from .. import ApprovalNeeded, ArgumentError, Denied, GuardError, Incomplete, Served, Session, SessionError
from ._shared import (
    Approval,
    Approve,
    UnguardedToolWarning,
    admit,
    ask_people,
    duplicate_text,
    is_refused,
    jsonable_arguments,
    jsonable_result,
    judged_arguments,
    known_tools,
    record_denial,
    warn_unguarded,
)

__all__ = ["Approval", "Guarded", "UnguardedToolWarning"]

_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class Guarded(AbstractCapability[Any]):
    """Puts the tools of an agent behind a guard.

    - `session`: the session of the run, or a function from the run's context to it. A session serves one run at a time.
    - `approve`: called for each role that a call needs; returns an `Approval`, or `None`. With `"defer"` the run ends
      with the framework's `DeferredToolRequests`; resume it with the metadata `{"by": NAME}` for the approved call.
      Otherwise the model is told that an approval is needed.
    - `stops`: ask the guard before the run ends. A blocked stop goes on with the guard's message.
    """

    def __init__(
        self,
        session: Session | Callable[[RunContext[Any]], Session],
        *,
        approve: Approve | str | None = None,
        stops: bool = True,
    ) -> None:
        if isinstance(approve, str) and approve != "defer":
            raise ArgumentError('`approve` is a function or "defer"')
        self._source = session
        self._approve = approve
        self._stops = stops
        self.session: Session | None = None
        #: The outcome of the last stop of the run.
        self.stopped: Any = None
        self._absent: set[str] = set()
        self._denials: dict[str, str] = {}
        self._listed: set[str] = set()

    # The run

    async def for_run(self, ctx: RunContext[Any]) -> Guarded:
        run = copy.copy(self)
        run.session = self._source if isinstance(self._source, Session) else self._source(ctx)
        run._absent, run._denials, run._listed = set(), {}, set()
        run._template = self
        return run

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> Any:
        session = self._session()
        with session._gate:
            if getattr(session, "_in_run", False):
                raise GuardError(f"the session `{session.id}` serves another run: open one for each run")
            session._in_run = True
        try:
            return await handler()
        finally:
            session._in_run = False

    async def before_run(self, ctx: RunContext[Any]) -> None:
        words = [ctx.prompt] if isinstance(ctx.prompt, str) else ctx.prompt or ()
        text = "\n".join(part for part in words if isinstance(part, str))
        if text:
            self._session().prompt(text)

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        native = getattr(request_context.model_request_parameters, "native_tools", None) or ()
        warn_unguarded(self._listed, "run at the provider, where no guard sees them", [type(tool).__name__ for tool in native])
        return request_context

    async def after_model_request(self, ctx: RunContext[Any], *, request_context: Any, response: ModelResponse) -> Any:
        tokens = response.usage.input_tokens + response.usage.output_tokens
        if tokens:
            self._session().usage("tokens", tokens)
        self._admit_absent_tools(ctx, response)
        return response

    def _admit_absent_tools(self, ctx: RunContext[Any], response: ModelResponse) -> None:
        """Lets calls of tools that the agent does not have reach the guard, which denies them in its own words.

        The framework would answer them itself, and end the run when they are made again.
        """
        tools = getattr(ctx.tool_manager, "tools", None)
        if tools is None:
            return
        for part in response.parts:
            if isinstance(part, ToolCallPart) and part.tool_name not in tools:
                self._absent.add(part.tool_name)
                definition = ToolDefinition(name=part.tool_name, parameters_json_schema={"type": "object"})
                tools[part.tool_name] = ToolsetTool(
                    toolset=_Nothing(), tool_def=definition, max_retries=1, args_validator=_OBJECT
                )

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        """Asks the guard when the run is about to end."""
        ends = isinstance(result, End) and not isinstance(result.data.output, DeferredToolRequests)
        if not (self._stops and ends):
            return result
        stopped = self._stop(ctx)
        if stopped.allowed:
            return result
        if type(node).__name__ == "SetFinalResult":
            # `run_stream` has handed the answer out already, and takes no other way from here.
            raise Incomplete(stopped)
        return ModelRequestNode(request=ModelRequest(parts=[UserPromptPart(stopped.message)]))

    async def after_run(self, ctx: RunContext[Any], *, result: Any) -> Any:
        """Judges the stop of a run whose last node the framework hid: the output is out, so a blocked stop raises."""
        if self._stops and self.stopped is None and not isinstance(result.output, DeferredToolRequests):
            stopped = self._stop(ctx)
            if not stopped.allowed:
                raise Incomplete(stopped)
        return result

    def _stop(self, ctx: RunContext[Any]) -> Any:
        responses = (message for message in reversed(ctx.messages) if isinstance(message, ModelResponse))
        last = next(responses, None)
        stopped = self._session().stop(last.finish_reason if last else None)
        # A blocked stop leaves the run without one.
        self.stopped = self._template.stopped = stopped if stopped.allowed else None
        return stopped

    def _session(self) -> Session:
        if self.session is None:
            raise GuardError("the guard has no session: the run did not begin with `for_run`")
        return self.session

    # Tools

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _GuardedToolset(toolset, self)

    async def on_tool_validate_error(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, error: Any
    ) -> Any:
        """Arguments that the framework refuses. If the guard refuses them too, its message is the answer, and the call
        costs no retry; otherwise the framework goes on in its own words."""
        written = _written(call.args)
        if tool_def.kind != "function" or not is_refused(self._session(), call.tool_name, written):
            raise error
        self._denials[call.tool_call_id] = (
            record_denial(self._session(), call.tool_name, written, call.tool_call_id) or "the guard refused the call"
        )
        # The framework goes on to `wrap_tool_execute`, which answers with the denial.
        return {}

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: Any, handler: Any
    ) -> Any:
        if call.tool_call_id in self._denials:
            return ToolDenied(self._denials.pop(call.tool_call_id))
        if call.tool_name not in self._absent:
            return await handler(args)

        async def run() -> Any:
            raise ToolFailed(f"there is no tool `{call.tool_name}`")

        return await self._guard(ctx, call.tool_name, lambda: _written(call.args), run)

    async def wrap_output_process(self, ctx: RunContext[Any], *, output_context: Any, output: Any, handler: Any) -> Any:
        """Refuses an output function, which would run with the model's arguments and without a verdict."""
        if output_context.has_function:
            name = f"the output function `{output_context.function_name}`" if output_context.function_name else "output functions"
            raise GuardError(f"no guard stands around {name}: make a tool of it, and give `output_type` a type")
        return await handler(output)

    async def call_tool(self, ctx: RunContext[Any], tool: ToolDefinition, args: Any, run: Callable[[], Any]) -> Any:
        """Puts one call of a tool to the guard: as the model wrote it, and as the framework will run it."""
        written, real = _written_call(ctx, tool.name), _real(args, tool)

        def judged() -> Any:
            return real if written is None else judged_arguments(written, real)

        return await self._guard(ctx, tool.name, judged, run)

    async def _guard(self, ctx: RunContext[Any], tool: str, args: Callable[[], Any], run: Callable[[], Any]) -> Any:
        async def ask(needed: ApprovalNeeded) -> None:
            await self._ask(ctx, needed)

        try:
            scope = await admit(self._session(), tool, args, ctx.tool_call_id, ask)
            try:
                with scope.running():
                    result = await run()
                    scope.result = jsonable_result(result.return_value if isinstance(result, ToolReturn) else result)
                return result
            finally:
                # Beside the result or the error of this call, when the model is asked next.
                blocks = scope.session.feedback()
                if blocks:
                    ctx.enqueue("\n\n".join(blocks))
        except Served as served:
            return _with(served.verdict.served, served.verdict.rendered)
        except Denied as denied:
            return ToolDenied(str(denied))
        except SessionError as error:
            if error.code != "call_in_flight":
                raise
            return ToolDenied(duplicate_text(ctx.tool_call_id))

    async def _ask(self, ctx: RunContext[Any], needed: ApprovalNeeded) -> None:
        """Gets the approvals that a call needs, or raises."""
        pending, session = needed.pending, self._session()
        if self._approve == "defer":
            metadata = ctx.tool_call_metadata
            by = metadata.get("by") if isinstance(metadata, dict) else None
            if not ctx.tool_call_approved:
                raise ApprovalRequired(metadata={"guard": pending.to_json()})
            if not by:
                raise needed
            session.approve_pending(pending, by=by, role=metadata.get("role"))
            return
        await ask_people(session, needed, self._approve)

    def list_tools(self, tools: dict[str, ToolsetTool[Any]]) -> None:
        """Warns of the tools that the guard does not know, and of those that run outside of the agent."""
        absent = set(tools) - known_tools(self._session())
        warn_unguarded(self._listed, "the guard does not know, so that it denies them", absent)
        outside = [name for name, tool in tools.items() if tool.tool_def.kind == "external"]
        warn_unguarded(self._listed, "run outside of the agent, where no guard sees them", outside)


class _GuardedToolset(WrapperToolset[Any]):
    """The agent's tools, each call behind the guard."""

    def __init__(self, wrapped: AbstractToolset[Any], guarded: Guarded) -> None:
        super().__init__(wrapped)
        self._guarded = guarded

    async def for_run(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        return _GuardedToolset(await self.wrapped.for_run(ctx), self._guarded)

    async def for_run_step(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        return _GuardedToolset(await self.wrapped.for_run_step(ctx), self._guarded)

    def visit_and_replace(self, visitor: Any) -> AbstractToolset[Any]:
        return _GuardedToolset(self.wrapped.visit_and_replace(visitor), self._guarded)

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        tools = await super().get_tools(ctx)
        self._guarded.list_tools(tools)
        return tools

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        if ctx.tool_call_id in self._guarded._denials:
            return ToolDenied(self._guarded._denials.pop(ctx.tool_call_id))

        async def run() -> Any:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)

        return await self._guarded.call_tool(ctx, tool.tool_def, tool_args, run)


class _Nothing(AbstractToolset[Any]):
    """The toolset of tools that do not exist: it runs nothing."""

    @property
    def id(self) -> str | None:
        return None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {}

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        raise ToolFailed(f"there is no tool `{name}`")


def _written(args: str | dict[str, Any] | None) -> str:
    """The arguments as the model wrote them, as text."""
    if isinstance(args, dict):
        return json.dumps(args)
    return args or "{}"


def _written_call(ctx: RunContext[Any], tool: str) -> str | None:
    """The arguments of the current call in the model's own words; `None` if no model made the call."""
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and (part.tool_call_id, part.tool_name) == (ctx.tool_call_id, tool):
                    return _written(part.args)
    return None


def _real(args: dict[str, Any], tool: ToolDefinition) -> Any:
    """The arguments as the tool gets them, as JSON. The framework puts a single model-like argument into an envelope
    of its own, which is not part of the tool's schema."""
    real = jsonable_arguments(args, tool.name)
    # The arguments of a tool without a schema of its own may be anything that is JSON.
    if isinstance(real, dict) and len(real) == 1:
        ((name, value),) = real.items()
        if isinstance(value, dict) and name not in tool.parameters_json_schema.get("properties", {name: None}):
            return value
    return real


def _with(result: Any, feedback: str) -> Any:
    return ToolReturn(return_value=result, content=feedback) if feedback else result
