"""Google ADK behind a guard: one plugin, `Guarded`.

    guarded = Guarded(session)
    runner = InMemoryRunner(app=App(name="support", root_agent=agent, plugins=[guarded]))

    async for event in guarded.run(runner, user_id="ida", session_id="s1", new_message=message):
        ...

Put it first in the list of plugins. Each call is judged inside `run_async` of its tool, after all callbacks, so what was
judged is what runs. See `docs/guide/frameworks.md` for what the framework keeps out of a guard's reach.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.code_executors.built_in_code_executor import BuiltInCodeExecutor
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from .. import GuardError, Incomplete, Session
from ._shared import (
    Approval,
    Approve,
    ToolCall,
    UnguardedToolWarning,
    jsonable_arguments,
    known_tools,
    warn_unguarded,
)

__all__ = ["Approval", "Guarded", "UnguardedToolWarning"]

#: The framework's reasons why a model stopped, in the guard's words.
_REASONS = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}


class Guarded(BasePlugin):
    """Puts the tools of a runner's agents behind a guard.

    - `session`: the session, or a function from the framework's `InvocationContext` to the session of the run.
    - `approve`: called for each role that a call needs, with the pending call; returns an `Approval`, or `None`.
      Without it the model is told that an approval is needed.
    - `stops`: ask the guard before a run ends. A blocked stop goes on with the guard's message in `guarded.run`; in a
      run of the runner itself it raises `Incomplete`.
    """

    def __init__(
        self,
        session: Session | Callable[[InvocationContext], Session],
        *,
        approve: Approve | None = None,
        stops: bool = True,
        name: str = "guard",
    ) -> None:
        super().__init__(name)
        self._source = session
        self._approve = approve
        self._stops = stops
        #: The outcome of the last stop.
        self.stopped: Any = None
        #: The runs, by the id of their invocation.
        self._runs: dict[str, _Run] = {}
        #: The latest run of each conversation that `guarded.run` drives.
        self._driven: dict[tuple[str, str, str], _Run | None] = {}

    # Runs

    async def run(self, runner: Runner, *, user_id: str, session_id: str, **options: Any) -> AsyncIterator[Event]:
        """Runs an agent as `runner.run_async` does, over all the rounds that blocked stops make necessary.

        The answer of a round is out before the guard judges the stop.
        """
        if self not in runner.plugin_manager.plugins:
            raise GuardError("the guard is not among the plugins of the runner")
        conversation = (runner.app_name, user_id, session_id)
        if conversation in self._driven:
            raise GuardError(f"the conversation `{session_id}` is in another run")
        self._driven[conversation] = None
        try:
            while True:
                async with aclosing(runner.run_async(user_id=user_id, session_id=session_id, **options)) as events:
                    async for event in events:
                        yield event
                run = self._driven[conversation]
                if run is None or not run.is_blocked:
                    return
                message = types.UserContent(self.stopped.message)
                options = {"run_config": options.get("run_config"), "new_message": message}
        except RuntimeError as error:
            # The framework wraps what a plugin raises.
            raise error.__cause__ if isinstance(error.__cause__, GuardError) else error
        finally:
            del self._driven[conversation]

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        _expect_no_live_run(invocation_context)
        call = _current.get()
        outer = call if call is not None and call.is_running else None
        session = outer.session if outer else self._source
        session = session if isinstance(session, Session) else session(invocation_context)
        if not isinstance(session, Session):
            raise GuardError("the guard has no session for this run")
        run = _Run(session, is_nested=outer is not None)
        self._runs[invocation_context.invocation_id] = run
        weakref.finalize(invocation_context, self._runs.pop, invocation_context.invocation_id, None)
        conversation = _conversation(invocation_context)
        is_driven = conversation in self._driven and not run.is_nested
        # The message of a later round is the guard's.
        is_later = is_driven and self._driven[conversation] is not None
        if is_driven:
            self._driven[conversation] = run
        words = _words(invocation_context.user_content)
        if words and not is_later and not run.is_nested:
            session.prompt(words)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Asks the guard when the run has ended, unless it waits for a person or for a tool elsewhere."""
        run = self._run(invocation_context.invocation_id)
        run.expect_no_error()
        if not self._stops or run.is_nested or run.is_paused or invocation_context.is_aborted:
            return
        self.stopped = run.session.stop(run.reason)
        run.is_blocked = not self.stopped.allowed
        if run.is_blocked and _conversation(invocation_context) not in self._driven:
            raise Incomplete(self.stopped)

    def _run(self, invocation: str) -> _Run:
        if invocation not in self._runs:
            raise GuardError("the guard was not there when the run began: put it first in the list of plugins")
        return self._runs[invocation]

    # Around the model

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        """Refuses an agent that runs code of the model by other means than a tool."""
        executor, run = getattr(agent, "code_executor", None), self._run(callback_context.invocation_id)
        if isinstance(executor, BuiltInCodeExecutor):
            run.warn("run at the provider, where no guard sees them", ["code_execution"])
        elif executor is not None:
            raise GuardError(f"no guard stands around the code executor of `{agent.name}`: offer a tool instead")

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        run = self._run(callback_context.invocation_id)
        run.expect_no_error()
        run.warn("the guard does not know, so that it denies them", set(llm_request.tools_dict) - known_tools(run.session))
        declared = [tool for tool in llm_request.config.tools or () if isinstance(tool, types.Tool)]
        elsewhere = {name for tool in declared for name in tool.model_fields_set if getattr(tool, name) is not None}
        run.warn("run at the provider, where no guard sees them", elsewhere - {"function_declarations"})

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Reports the tokens of an answer before its calls are judged."""
        if llm_response.partial:
            return
        run, used = self._run(callback_context.invocation_id), llm_response.usage_metadata
        if llm_response.finish_reason is not None:
            name = llm_response.finish_reason.name
            run.reason = _REASONS.get(name, name.lower())
        if used is not None and used.total_token_count:
            run.session.usage("tokens", used.total_token_count)

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        """Puts feedback on calls behind their results."""
        run = self._run(invocation_context.invocation_id)
        if not event.partial:
            run.is_paused = bool(event.long_running_tool_ids)
        if event.content is not None and event.get_function_responses():
            blocks = run.session.feedback()
            if blocks:
                event.content.parts.append(types.Part(text="\n\n".join(blocks)))

    # Tools

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Sees to it that the tool's `run_async` asks the guard. Denies a tool that the agent does not have."""
        _expect_no_live_run(tool_context.get_invocation_context())
        run = self._run(tool_context.invocation_id)
        call = _Call(run, tool, _written(tool, tool_args, tool_context), tool_context, self._approve)
        _current.set(call)
        if type(tool) is BaseTool:  # What the framework puts in the place of a tool that is not there.
            await call.judge_unread()
            return call.answered(None)
        if not hasattr(tool.run_async, "is_guarded"):
            tool.run_async = _guarded(tool, tool.run_async)  # type: ignore[method-assign]
        return None


class _Run:
    """One run of the framework under the guard."""

    def __init__(self, session: Session, is_nested: bool) -> None:
        self.session = session
        #: A tool of another run runs this one: it is part of that run.
        self.is_nested = is_nested
        #: The run waits for a person or for a tool that runs elsewhere.
        self.is_paused = False
        #: The guard blocked the stop of the run.
        self.is_blocked = False
        #: Why the model stopped.
        self.reason: str | None = None
        #: The error of the guard that ends the run, whatever handles errors of tools.
        self.error: Exception | None = None
        self._listed: set[str] = set()

    def expect_no_error(self) -> None:
        if self.error is not None:
            raise self.error

    def warn(self, problem: str, names: Any) -> None:
        warn_unguarded(self._listed, problem, names)


class _Call(ToolCall):
    """One call of a tool, between the callback that announces it and the end of `run_async`."""

    def __init__(self, run: _Run, tool: BaseTool, written: str, context: ToolContext, approve: Approve | None) -> None:
        super().__init__(run.session, tool.name, written, context.function_call_id, approve)
        self.run = run
        self.context = context
        self.is_running = False

    def answered(self, result: Any) -> Any:
        """The answer to the call: the guard's, or else the result. Raises what ends the run."""
        if self.error is not None:
            self.run.error = self.error
            raise self.error
        if self.answer is None:
            return result
        return {"result" if self.is_served else "error": self.answer}


#: The call that the current task runs.
_current: ContextVar[_Call | None] = ContextVar("guardc_google_adk_call", default=None)


def _guarded(tool: BaseTool, original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The `run_async` of a tool behind the guard; the same in runs that no guard has announced."""

    async def run_async(*, args: dict[str, Any], tool_context: ToolContext) -> Any:
        call = _current.get()
        if call is None or call.context is not tool_context:
            return await original(args=args, tool_context=tool_context)
        call.is_running = True
        try:
            if _is_plain_function(tool, original):
                # The framework validates the arguments and fills in the context: the guard stands behind that.
                inside = copy.copy(tool)
                inside.func = _behind(call, tool.func)  # type: ignore[attr-defined]
                result = await FunctionTool.run_async(inside, args=args, tool_context=tool_context)  # type: ignore[arg-type]
                await call.judge_unread()
            else:
                real = jsonable_arguments(args, tool.name)
                result = await call.guard(real, lambda: original(args=args, tool_context=tool_context))
        except Exception:
            await call.judge_unread()
            if call.answer is None and call.error is None:
                raise
            result = None
        finally:
            call.is_running = False
        return call.answered(result)

    run_async.is_guarded = True  # type: ignore[attr-defined]
    return run_async


def _is_plain_function(tool: BaseTool, original: Any) -> bool:
    """Returns true if the tool runs its function once, as the framework runs functions."""
    if getattr(original, "__func__", None) is not FunctionTool.run_async:
        return False
    function = inspect.unwrap(tool.func)  # type: ignore[attr-defined]
    return not (inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function))


def _behind(call: _Call, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a tool behind the guard of this call."""

    @functools.wraps(function)
    async def guarded(**given: Any) -> Any:
        bound = inspect.signature(function).bind(**given)
        bound.apply_defaults()
        shown = {name: value for name, value in bound.arguments.items() if value is not call.context}

        async def execute() -> Any:
            config = call.context.get_invocation_context().run_config
            if getattr(config, "tool_thread_pool_config", None) is not None and not inspect.iscoroutinefunction(function):
                return await asyncio.to_thread(function, **given)
            result = function(**given)
            return await result if inspect.isawaitable(result) else result

        return await call.guard(jsonable_arguments(shown, call.tool), execute)

    return guarded


# The framework's values


def _written(tool: BaseTool, args: dict[str, Any], context: ToolContext) -> str:
    """The arguments as the model wrote them, which callbacks may have changed since."""
    for event in reversed(context.session.events):
        for call in event.get_function_calls():
            if (call.id, call.name) == (context.function_call_id, tool.name):
                args = call.args or {}
                return json.dumps(jsonable_arguments(args, tool.name))
    return json.dumps(jsonable_arguments(args, tool.name))


def _words(message: types.Content | None) -> str:
    """The words of the user with which a run begins; none where it resumes."""
    parts = message.parts or () if message is not None else ()
    return "\n".join(part.text for part in parts if part.text)


def _conversation(context: InvocationContext) -> tuple[str, str, str]:
    return context.app_name, context.user_id, context.session.id


def _expect_no_live_run(context: InvocationContext) -> None:
    if context.live_request_queue is not None:
        raise GuardError("no guard stands around a live run: use `guarded.run` or `runner.run_async`")
