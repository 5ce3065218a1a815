"""LangChain agents behind a guard: one middleware, `GuardMiddleware`.

    agent = create_agent(model, tools=[refund], middleware=[GuardMiddleware(session)])

Put it last in the list, so that it stands directly around the tools. See `docs/guide/frameworks.md` for what the framework
keeps out of a guard's reach.
"""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command
from pydantic import BaseModel, ValidationError

from .. import ApprovalNeeded, CallScope, Denied, GuardError, Served, Session, SessionError
from ._shared import (
    Approval,
    Approve,
    BothForms,
    admit,
    ask_people,
    duplicate_text,
    jsonable_arguments,
    record_approvals,
    record_denial,
    scope_of,
    served_text,
)

__all__ = ["Approval", "GuardMiddleware"]


class GuardMiddleware(AgentMiddleware):
    """Puts the tools of an agent behind a guard.

    - `session`: the session, or a function from the framework's runtime to the session of the run, kept in
      `runtime.context` for example.
    - `approve`: called for each role that a call needs, with the pending call; returns an `Approval`, or `None`.
      Without it the model is told that an approval is needed.
    - `stops`: ask the guard before the agent ends. A blocked stop goes on with the guard's message.
    """

    def __init__(
        self,
        session: Session | Callable[[Any], Session],
        *,
        approve: Approve | None = None,
        stops: bool = True,
    ) -> None:
        super().__init__()
        self._source = session
        self._approve = approve
        self._stops = stops
        #: The outcome of the last stop.
        self.stopped: Any = None

    def _session(self, runtime: Any) -> Session:
        session = self._source if isinstance(self._source, Session) else self._source(runtime)
        if not isinstance(session, Session):
            raise GuardError("the middleware has no session for this run")
        return session

    # The run

    def before_agent(self, state: Any, runtime: Any) -> None:
        last = state["messages"][-1] if state["messages"] else None
        if isinstance(last, HumanMessage):
            self._session(runtime).prompt(last.text if isinstance(last.text, str) else last.text())

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        self.before_agent(state, runtime)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Shows the model the feedback on calls that have ended."""
        blocks = self._session(runtime).feedback()
        return {"messages": [HumanMessage("\n\n".join(blocks))]} if blocks else None

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self.before_model(state, runtime)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Reports what the model used, answers calls that nobody can read, and asks the guard before the agent ends."""
        session, message = self._session(runtime), state["messages"][-1]
        if not isinstance(message, AIMessage):
            return None
        tokens = (message.usage_metadata or {}).get("total_tokens", 0)
        if tokens:
            session.usage("tokens", tokens)
        if message.invalid_tool_calls:
            answers = [self._unreadable(session, call) for call in message.invalid_tool_calls]
            return {"messages": answers} if message.tool_calls else {"messages": answers, "jump_to": "model"}
        if message.tool_calls or not self._stops:
            return None
        self.stopped = session.stop(message.response_metadata.get("finish_reason"))
        if self.stopped.allowed:
            return None
        return {"messages": [HumanMessage(self.stopped.message)], "jump_to": "model"}

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self.after_model(state, runtime)

    def _unreadable(self, session: Session, call: Any) -> ToolMessage:
        """Arguments that are not JSON, which the framework keeps apart: the guard denies them in its own words."""
        denial = record_denial(session, call["name"] or "", call["args"] or "", call["id"])
        return _answer(call, denial or call["error"] or "the arguments are not JSON", "error")

    # Tools

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        session, call = self._session(request.runtime), request.tool_call
        if self._approve is not None and inspect.iscoroutinefunction(self._approve):
            raise GuardError("`approve` is asynchronous: run the agent with `ainvoke` or `astream`")
        try:
            # People approve these arguments: a default that is made anew would be others.
            given = _judged(request)
            with _turn(session):
                scope = scope_of(session, call["name"], given, call["id"])
                try:
                    waiting = scope.begin_sync()
                except ApprovalNeeded as needed:
                    self._ask_sync(session, needed)
                    scope = scope_of(session, call["name"], given, call["id"], needed.pending.roles)
                    waiting = scope.begin_sync()
            scope.entered_sync(waiting)
        except (Denied, Served, SessionError) as error:
            return _refused(call, error)
        try:
            with scope.running():
                result = handler(request)
                _expect_success(scope, result)
        except _ToolError as error:
            return error.result
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        session, call = self._session(request.runtime), request.tool_call
        try:
            scope = await admit(
                session,
                call["name"],
                lambda: _judged(request),
                call["id"],
                lambda needed: ask_people(session, needed, self._approve),
            )
        except (Denied, Served, SessionError) as error:
            return _refused(call, error)
        try:
            with scope.running():
                result = await handler(request)
                _expect_success(scope, result)
        except _ToolError as error:
            return error.result
        return result

    def _ask_sync(self, session: Session, needed: ApprovalNeeded) -> None:
        if self._approve is None or not needed.pending.roles:
            raise needed
        answers = [self._approve(needed.pending, role) for role in needed.pending.roles]
        record_approvals(session, needed, answers)


class _ToolError(Exception):
    """A tool's error that the framework has turned into an answer already."""

    def __init__(self, result: Any) -> None:
        super().__init__("the tool failed")
        self.result = result


# Calls of one turn are proposed in their order, and people are asked about one after another.


def _turn(session: Session) -> threading.Lock:
    return session.__dict__.setdefault("_turn", threading.Lock())


def _judged(request: Any) -> Any:
    """The arguments as the model wrote them; also as the tool gets them, where validation changes them."""
    written = request.tool_call["args"]
    schema = getattr(request.tool, "tool_call_schema", None)
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        return written
    try:
        validated = schema.model_validate(written)
    except ValidationError:
        return written  # The framework refuses them in its own words.
    real = jsonable_arguments(validated, request.tool.name)
    if json.dumps(written, sort_keys=True) == json.dumps(real, sort_keys=True):
        return written
    return BothForms(real, written)


def _expect_success(scope: CallScope, result: Any) -> None:
    """Notes the result of a tool. The framework answers for some errors of tools itself: those are failures."""
    messages = [result]
    if isinstance(result, Command):
        update = result.update if isinstance(result.update, dict) else {}
        messages = update.get("messages", [])
    elif isinstance(result, list):
        messages = result
    answers = [message for message in messages if isinstance(message, ToolMessage)]
    if any(answer.status == "error" for answer in answers):
        raise _ToolError(result)
    if answers:
        content = answers[0].content
        try:
            scope.result = json.loads(content) if isinstance(content, str) else content
        except ValueError:
            scope.result = content


def _refused(call: Any, error: Exception) -> ToolMessage:
    if isinstance(error, Served):
        return _answer(call, served_text(error.verdict), "success")
    if isinstance(error, Denied):
        return _answer(call, str(error), "error")
    if getattr(error, "code", "") == "call_in_flight":
        return _answer(call, duplicate_text(call["id"]), "error")
    raise error


def _answer(call: Any, text: str, status: str) -> ToolMessage:
    return ToolMessage(content=text, name=call["name"], tool_call_id=call["id"] or "", status=status)
