"""The OpenAI Agents SDK behind a guard: `Guarded` makes tools and runs agents.

    guarded = Guarded(session)

    @guarded.tool
    def refund(order: str, amount: float) -> str: ...

    result = await guarded.run(Agent("support", tools=[refund]), "Please refund order A1.")

The guard stands directly around the function, inside the framework's validation, guardrails and time limits, so what was
judged is what runs. See `docs/guide/frameworks.md` for what the framework keeps out of a guard's reach.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, get_origin, get_type_hints

from agents import (
    Agent,
    FunctionTool,
    Handoff,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Runner,
    RunResult,
    RunResultStreaming,
    RunState,
    function_tool,
    handoff,
)
from agents.run_config import CallModelData, ModelInputData, ToolErrorFormatterArgs
from agents.tool_context import ToolContext

from .. import ArgumentError, GuardError, Incomplete, Session
from ._openai_items import HOSTED, finish_reason, is_plain, last_words
from ._shared import (
    Approval,
    Approve,
    ToolCall,
    UnguardedToolWarning,
    current_call,
    jsonable_arguments,
    known_tools,
    record_denial,
    turn,
    warn_unguarded,
)

__all__ = ["Approval", "Guarded", "GuardedStream", "UnguardedToolWarning"]


class Guarded:
    """Puts the tools of agents behind a guard.

    - `session`: the session, or a function from the context of a run to it. A session serves one run at a time.
    - `approve`: called for each role that a call needs, with the pending call; returns an `Approval`, or `None`.
      Without it the model is told that an approval is needed.
    - `stops`: ask the guard before a run ends. A blocked stop goes on with the guard's message.
    """

    def __init__(
        self,
        session: Session | Callable[[Any], Session],
        *,
        approve: Approve | None = None,
        stops: bool = True,
    ) -> None:
        self._source = session
        self._approve = approve
        self._stops = stops
        #: The outcome of the last stop.
        self.stopped: Any = None

    # Tools

    def tool(self, function: Any = None, **options: Any) -> Any:
        """A tool behind the guard: takes what the framework's `function_tool` takes, also as a decorator.

        A `FunctionTool` with an `on_invoke_tool` of its own is taken as well, and gets its arguments as the model wrote
        them. The only option beside it is `failure_error_function`; without one an exception ends the run.
        """
        if isinstance(function, FunctionTool):
            failure = options.pop("failure_error_function", None)
            if options:
                raise ArgumentError("a `FunctionTool` has its options already")
            if getattr(function, "__wrapped__", None) is not None:
                raise ArgumentError(f"make `{function.name}` with `guarded.tool` instead of `function_tool`")
            return replace(function, on_invoke_tool=_Invoker(self, function.on_invoke_tool, inside=False, failure=failure))

        def make(function: Callable[..., Any]) -> FunctionTool:
            made = function_tool(_inside(function), **options)
            made.on_invoke_tool = _Invoker(self, made.on_invoke_tool, inside=True)
            return made

        return make if function is None else make(function)

    # Runs

    async def run(self, agent: Agent[Any], input: Any, **options: Any) -> RunResult:
        """Runs an agent as `Runner.run` does. A blocked stop goes on with the guard's message."""
        with self._begin(input, options) as run:
            while True:
                run.expect_guarded(agent)
                token = _current.set(run)
                try:
                    result = await Runner.run(agent, input, **run.options)
                except Exception:
                    run.expect_no_error()  # The framework wraps what a tool raises.
                    raise
                finally:
                    _current.reset(token)
                    await run.settled()
                if run.is_over(result):
                    return result
                agent, input = run.next_round(result)

    def run_sync(self, agent: Agent[Any], input: Any, **options: Any) -> RunResult:
        """Runs an agent as `Runner.run_sync` does, where no event loop runs."""
        return asyncio.run(self.run(agent, input, **options))

    def run_streamed(self, agent: Agent[Any], input: Any, **options: Any) -> GuardedStream:
        """Runs an agent as `Runner.run_streamed` does, over all the rounds that blocked stops make necessary."""
        return GuardedStream(self, agent, input, options)

    def _begin(self, input: Any, options: dict[str, Any]) -> _Run:
        context = options.get("context")
        if context is None and isinstance(input, RunState):
            context = input._context.context if input._context is not None else None
        session = self._source if isinstance(self._source, Session) else self._source(context)
        if not isinstance(session, Session):
            raise GuardError("the guard has no session for this run")
        return _Run(self, session, input, options)


class GuardedStream:
    """A run that streams. Iterate over `stream_events()`; then `result` is the framework's result of the last round."""

    def __init__(self, guarded: Guarded, agent: Agent[Any], input: Any, options: dict[str, Any]) -> None:
        self._guarded = guarded
        self._given = (agent, input, options)
        #: The framework's result of the round that runs, or ran last.
        self.result: RunResultStreaming | None = None

    @property
    def final_output(self) -> Any:
        return self.result.final_output if self.result is not None else None

    async def stream_events(self) -> AsyncIterator[Any]:
        """The framework's events. The answer of a round is out before the guard judges the stop."""
        agent, input, options = self._given
        with self._guarded._begin(input, options) as run:
            while True:
                run.expect_guarded(agent)
                # The framework's task has a copy of the context; what iterates over the events keeps its own.
                token = _current.set(run)
                try:
                    self.result = Runner.run_streamed(agent, input, **run.options)
                finally:
                    _current.reset(token)
                try:
                    async for event in self.result.stream_events():
                        yield event
                except Exception:
                    run.expect_no_error()
                    raise
                finally:
                    if not self.result.is_complete:
                        self.result.cancel()
                    await run.settled()
                if run.is_over(self.result):
                    return
                agent, input = run.next_round(self.result)


#: The run in which the current task works.
_current: ContextVar[_Run | None] = ContextVar("guardc_openai_agents_run", default=None)


class _Run:
    """One run under the guard: the options for the framework, and the calls, feedback and errors of the run."""

    def __init__(self, guarded: Guarded, session: Session, input: Any, options: dict[str, Any]) -> None:
        self.guarded = guarded
        self.session = session
        self._input = input
        #: The calls of the last answer as the model wrote them, by id.
        self._written: dict[str, str] = {}
        #: The feedback on calls, by id, to be shown behind the results of their turn.
        self._feedback: dict[str, list[str]] = {}
        self._running: set[asyncio.Future[None]] = set()
        self._listed: set[str] = set()
        #: The error of the guard that ends the run.
        self.error: BaseException | None = None
        self._config = options.get("run_config") or RunConfig()
        if isinstance(self._config, dict):
            self._config = RunConfig(**self._config)
        config = replace(
            self._config,
            tool_not_found_behavior="return_error_to_model",
            tool_error_formatter=self._format_error,
            call_model_input_filter=self._filter,
        )
        self.options = {**options, "run_config": config, "hooks": _Hooks(self, options.get("hooks"))}

    def __enter__(self) -> _Run:
        with self.session._gate:
            if getattr(self.session, "_in_run", False):
                raise GuardError(f"the session `{self.session.id}` serves another run: open one for each run")
            self.session._in_run = True
        try:
            words = last_words(self._input)
            if words:
                self.session.prompt(words)
        except BaseException:
            self.session._in_run = False
            raise
        return self

    def __exit__(self, *exception: Any) -> None:
        self.session._in_run = False

    async def settled(self) -> None:
        """Waits until no tool of the run is running: the framework does not wait for those of a run that ends early."""
        while self._running:
            await asyncio.wait(list(self._running))

    # The end of a round

    def expect_no_error(self) -> None:
        """Raises what ended the run, as itself."""
        if self.error is not None:
            raise self.error

    def is_over(self, result: Any) -> bool:
        self.expect_no_error()
        if not self.guarded._stops or result.interruptions:
            return True
        self.guarded.stopped = self.session.stop(finish_reason(result))
        if self.guarded.stopped.allowed:
            return True
        if getattr(result, "_cancel_mode", "none") != "none":
            raise Incomplete(self.guarded.stopped)
        return False

    def next_round(self, result: Any) -> tuple[Agent[Any], Any]:
        """The agent and the input that go on after a blocked stop."""
        message = {"role": "user", "content": self.guarded.stopped.message}
        options = self.options
        if options.get("previous_response_id") or options.get("auto_previous_response_id"):
            options["previous_response_id"] = result.last_response_id
        # Only the message is new where the framework or the provider keeps the conversation.
        kept = ("session", "conversation_id", "previous_response_id")
        history = [] if any(options.get(name) for name in kept) else result.to_input_list()
        return result.last_agent, [*history, message]

    # Around the model

    def expect_guarded(self, agent: Agent[Any]) -> None:
        """Refuses an agent with unguarded tools. Warns of tools that run at the provider or that the guard does not know."""
        local = [tool for tool in agent.tools if not isinstance(tool, HOSTED)]
        bare = [tool.name for tool in local if not _is_guarded(tool, self.guarded)]
        if bare:
            names = ", ".join(f"`{name}`" for name in bare)
            raise GuardError(f"no guard stands around {names}: make tools with `guarded.tool`")
        if type(agent).get_all_tools is not Agent.get_all_tools:
            raise GuardError(f"no guard stands around the tools that a `{type(agent).__name__}` adds: use an `Agent`")
        if agent.mcp_servers:
            raise GuardError("no guard stands around the agent's MCP servers: start them behind `guardc mcp-proxy`")
        self._expect_plain_handoffs(agent)
        elsewhere = [tool.name for tool in agent.tools if isinstance(tool, HOSTED)]
        warn_unguarded(self._listed, "run at the provider, where no guard sees them", elsewhere)
        unknown = {tool.name for tool in local} - known_tools(self.session)
        warn_unguarded(self._listed, "the guard does not know, so that it denies them", unknown)

    def _expect_plain_handoffs(self, agent: Agent[Any]) -> None:
        """Refuses handoffs that run a function of the host, or that have the name of a tool: they get no verdict."""
        for each in agent.handoffs:
            made = each if isinstance(each, Handoff) else handoff(each)
            if not is_plain(made):
                raise GuardError(f"no guard stands around the function of the handoff `{made.tool_name}`: make it a tool")
            if made.tool_name in known_tools(self.session):
                raise GuardError(f"the handoff `{made.tool_name}` has the name of a tool of the guard, which does not judge handoffs")

    async def _filter(self, asked: CallModelData[Any]) -> ModelInputData:
        """Checks the agent that is about to ask the model, and puts feedback behind the results of its turn."""
        self.expect_no_error()
        self.expect_guarded(asked.agent)
        data = asked.model_data
        if self._config.call_model_input_filter is not None:
            data = self._config.call_model_input_filter(asked)
            data = await data if inspect.isawaitable(data) else data
        calls = [item["call_id"] for item in data.input if _is_result(item)]
        if calls:
            self.note_feedback(calls[-1])
        return ModelInputData(input=self._with_feedback(data.input), instructions=data.instructions)

    def note_feedback(self, call: str) -> None:
        """Keeps new feedback, to be shown behind the result of this call."""
        self._feedback.setdefault(call, []).extend(self.session.feedback())

    def _with_feedback(self, items: list[Any]) -> list[Any]:
        shown: list[Any] = []
        blocks: list[str] = []
        for place, item in enumerate(items):
            shown.append(item)
            if not _is_result(item):
                continue
            blocks += self._feedback.get(item["call_id"], ())
            if blocks and not (place + 1 < len(items) and _is_result(items[place + 1])):
                shown.append({"role": "user", "content": "\n\n".join(blocks)})
                blocks = []
        return shown

    def heard(self, response: Any) -> None:
        """Reports the tokens of an answer before its calls are judged, and keeps the arguments as the model wrote them."""
        if response.usage.total_tokens:
            self.session.usage("tokens", response.usage.total_tokens)
        calls = [item for item in response.output if getattr(item, "type", None) == "function_call"]
        self._written = {item.call_id: item.arguments for item in calls}

    async def _format_error(self, asked: ToolErrorFormatterArgs[Any]) -> str | None:
        """The guard's words for calls of tools that the agent does not have."""
        if asked.kind == "tool_not_found":
            try:
                async with turn(self.session):
                    written = self._written.get(asked.call_id, "")
                    denial = record_denial(self.session, asked.tool_name, written, asked.call_id)
            except Exception as error:
                self.error = error  # The framework would go on.
                raise
            if denial:
                return denial
        formatter = self._config.tool_error_formatter
        message = formatter(asked) if formatter is not None else None
        return await message if inspect.isawaitable(message) else message

    # Around a tool

    @contextmanager
    def tracking(self, call: str) -> Iterator[None]:
        """Marks a call as running, and keeps the feedback that it caused."""
        running = asyncio.get_running_loop().create_future()
        self._running.add(running)
        try:
            yield
        finally:
            self._running.discard(running)
            running.set_result(None)
            self.note_feedback(call)


class _Hooks(RunHooks[Any]):
    """The hooks of the user; the end of a model call is told to the run first."""

    def __init__(self, run: _Run, others: RunHooks[Any] | None) -> None:
        self._run, self._others = run, others or RunHooks()
        for name in ("on_llm_start", "on_agent_start", "on_agent_end", "on_handoff", "on_tool_start", "on_tool_end"):
            setattr(self, name, getattr(self._others, name))

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        self._run.heard(response)
        await self._others.on_llm_end(context, agent, response)


class _Invoker:
    """The `on_invoke_tool` of a guarded tool."""

    def __init__(
        self, guarded: Guarded, invoke: Callable[..., Awaitable[Any]], *, inside: bool, failure: Any = None
    ) -> None:
        self.guarded = guarded
        self._invoke = invoke
        self._failure = failure
        #: True if the guard stands around the function inside `invoke`, false if it stands around `invoke`.
        self._inside = inside

    async def __call__(self, ctx: ToolContext[Any], arguments: str) -> Any:
        run = _current.get()
        if run is None or run.guarded is not self.guarded:
            raise GuardError(f"`{ctx.tool_name}` is guarded: begin the run with `guarded.run` or `guarded.run_streamed`")
        call = ToolCall(run.session, ctx.tool_name, arguments, ctx.tool_call_id, self.guarded._approve)
        with run.tracking(ctx.tool_call_id):
            result = await self._result(call, ctx, arguments)
        if call.error is not None:
            run.error = call.error
            raise call.error
        return result if call.answer is None else call.answer

    async def _result(self, call: ToolCall, ctx: ToolContext[Any], arguments: str) -> Any:
        """The framework's answer to a call. The answer of the guard is in `call`, and takes precedence."""
        token = current_call.set(call)
        try:
            if self._inside:
                result = await self._invoke(ctx, arguments)
            else:
                result = await call.guard(None, lambda: self._invoke(ctx, arguments))
            await call.judge_unread()
            return result
        except Exception as error:
            await call.judge_unread()
            if call.answer is not None or call.error is not None:
                return None
            if self._failure is None:
                raise
            result = self._failure(ctx, error)
            return await result if inspect.isawaitable(result) else result
        finally:
            current_call.reset(token)


def _inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind the guard of the current call, for `function_tool`: its parameters, and the context before them."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    hints = get_type_hints(function, include_extras=True)
    first = hints.get(parameters[0].name) if parameters else None
    takes_context = (get_origin(first) or first) in (RunContextWrapper, ToolContext)
    shown = signature.replace(parameters=parameters[1:] if takes_context else parameters)

    @functools.wraps(function)
    async def guarded(guard_context: ToolContext[Any], *args: Any, **kwargs: Any) -> Any:
        call = current_call.get()
        if call is None:
            raise GuardError(f"`{guard_context.tool_name}` is guarded, and was called outside of a run")
        bound = shown.bind(*args, **kwargs)
        real = jsonable_arguments(bound.arguments, guard_context.tool_name)

        async def execute() -> Any:
            given = (guard_context, *args) if takes_context else args
            if inspect.iscoroutinefunction(function):
                return await function(*given, **kwargs)
            return await asyncio.to_thread(function, *given, **kwargs)

        return await call.guard(real, execute)

    context = inspect.Parameter(
        "guard_context", inspect.Parameter.POSITIONAL_ONLY if _has_positional(shown) else inspect.Parameter.POSITIONAL_OR_KEYWORD,
        annotation=ToolContext,
    )
    guarded.__signature__ = shown.replace(parameters=[context, *shown.parameters.values()])  # type: ignore[attr-defined]
    guarded.__annotations__ = {"guard_context": ToolContext, **hints}
    return guarded


def _has_positional(signature: inspect.Signature) -> bool:
    return any(each.kind is inspect.Parameter.POSITIONAL_ONLY for each in signature.parameters.values())


def _is_guarded(tool: Any, guarded: Guarded) -> bool:
    invoker = tool.on_invoke_tool if isinstance(tool, FunctionTool) else None
    return isinstance(invoker, _Invoker) and invoker.guarded is guarded


def _is_result(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "function_call_output"
