"""Parts that all adapters share: comparing arguments, the order of calls, approvals, and the words of refusals."""

from __future__ import annotations

import asyncio
import inspect
import json
import warnings
import weakref
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from .. import ApprovalNeeded, ArgumentError, CallScope, Denied, PendingApproval, Served, Session, SessionError


class UnguardedToolWarning(UserWarning):
    """Tools that the guard does not know, or that run at the model's provider where no guard sees them."""


class Approval(NamedTuple):
    """A person's answer to a pending approval: who approves, and until when (as `Session.approve` takes it)."""

    by: str
    expires: Any = None


#: Asks the people of a role. The answer is `None` for no.
Approve = Callable[[PendingApproval, str], "Approval | None | Awaitable[Approval | None]"]


# Arguments and results


def jsonable_arguments(args: Any, tool: str) -> Any:
    """The arguments as the tool gets them, as JSON. Raises `ArgumentError` where they have no form in JSON."""
    try:
        return to_jsonable_python(args, inf_nan_mode="constants")
    except Exception as error:
        raise ArgumentError(f"the arguments of `{tool}` cannot be shown to the guard: {error}") from error


def jsonable_result(value: Any) -> Any:
    """A result as JSON where it has a form in JSON; otherwise as it is, which the guard records as unreadable."""
    try:
        return to_jsonable_python(value, inf_nan_mode="constants")
    except Exception:
        return value


def is_same(written: str, real: Any) -> bool:
    """Returns true if the text of the model says what the tool gets."""
    try:
        return json.dumps(json.loads(written), sort_keys=True) == json.dumps(real, sort_keys=True)
    except (ValueError, RecursionError):
        return False


def is_refused(session: Session, tool: str, written: Any) -> bool:
    """Returns true if the guard would deny the call as the model wrote it. Nothing is recorded."""
    try:
        return session.preview(tool, written).decision == "deny"
    except ArgumentError:
        return True


class BothForms(NamedTuple):
    """The arguments as the tool gets them, and as the model wrote them. Both must pass."""

    real: Any
    written: Any


def judged_arguments(written: str, real: Any) -> Any:
    """The arguments to judge: in both forms, unless validation has changed nothing."""
    return written if is_same(written, real) else BothForms(real, written)


def scope_of(session: Session, tool: str, given: Any, call: str | None, roles: tuple[str, ...] = ()) -> CallScope:
    """The scope of a call. `roles` have approved one of its forms."""
    if not isinstance(given, BothForms):
        return session.call(tool, given, call=call)
    scope = session.call(tool, given.real, call=call)
    scope.written, scope.roles = given.written, roles
    return scope


# Refusals


def verdict_text(verdict: Any) -> str:
    """What the model is told about a call that does not run."""
    return "\n\n".join(part for part in (verdict.message, verdict.rendered) if part)


def served_text(verdict: Any) -> str:
    """What the model is told about a call that the guard answers itself."""
    return "\n\n".join(part for part in (verdict.served_text, verdict.rendered) if part)


def duplicate_text(call: str | None) -> str:
    """What the model is told about a second call under an id that is in flight."""
    return f"two calls have the id `{call}`, and this one did not run"


def record_denial(session: Session, tool: str, written: str, call: str | None) -> str:
    """Puts a call on record that will not run, and returns the guard's words for the model, if it has any."""
    verdict = session.propose(tool, written, call=call)
    if verdict.allowed and not verdict.is_served:
        session.settle(verdict.call, outcome="failure")
    return verdict_text(verdict)


# Turns and people


def turn(session: Session) -> asyncio.Lock:
    """The lock under which the calls of a session are proposed, in the order in which the model wrote them."""
    turns = session.__dict__.setdefault("_turns", weakref.WeakKeyDictionary())
    return turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())


async def ask_people(session: Session, needed: ApprovalNeeded, approve: Approve | None) -> None:
    """Gets the approvals that a call needs, role after role, and records them. Raises `needed` without them."""
    answers = []
    if approve is None or not needed.pending.roles:
        raise needed
    for role in needed.pending.roles:
        answer = approve(needed.pending, role)
        answers.append(await answer if inspect.isawaitable(answer) else answer)
        if not isinstance(answers[-1], Approval):
            raise needed
    record_approvals(session, needed, answers)


def record_approvals(session: Session, needed: ApprovalNeeded, answers: list[Any]) -> None:
    """Records the approvals of a call, one for each role. Raises `needed` unless all are there."""
    if not all(isinstance(answer, Approval) for answer in answers):
        raise needed
    for role, answer in zip(needed.pending.roles, answers, strict=True):
        session.approve_pending(needed.pending, by=answer.by, role=role, expires=answer.expires)


async def admit(
    session: Session,
    tool: str,
    args: Callable[[], Any],
    call: str | None,
    ask: Callable[[ApprovalNeeded], Awaitable[None]],
) -> CallScope:
    """Proposes a call, asks people where the guard asks for them, and waits for its turn.

    The calls of an answer are proposed in the order in which the model wrote them, and people are asked about one after
    another. Returns the entered scope; raises as entering it does.
    """
    async with turn(session):
        given = args()
        scope = scope_of(session, tool, given, call)
        try:
            waiting = scope.begin()
        except ApprovalNeeded as needed:
            await ask(needed)
            scope = scope_of(session, tool, given, call, needed.pending.roles)
            waiting = scope.begin()
    try:
        return await scope.entered(waiting)
    except ApprovalNeeded as needed:
        await ask(needed)
        return await scope_of(session, tool, given, call, needed.pending.roles).__aenter__()


# Calls that pass through a framework's own validation


class ToolCall:
    """One call of a tool in a framework that validates arguments and turns exceptions into answers.

    `guard` runs inside the framework, around the function. The adapter reads `answer` and `error` outside of the framework,
    where no handler of errors can replace them.
    """

    def __init__(self, session: Session, tool: str, written: str, call: str | None, approve: Approve | None) -> None:
        self.session = session
        self.tool = tool
        #: The arguments as the model wrote them.
        self.written = written
        self.call = call
        self._approve = approve
        #: The guard was asked about the call.
        self.is_judged = False
        #: The guard's words for the model, in place of a result.
        self.answer: str | None = None
        #: The answer is a result that the guard serves.
        self.is_served = False
        #: The error of the guard itself. It must end the call without an answer.
        self.error: Exception | None = None

    async def guard(self, real: Any, execute: Callable[[], Awaitable[Any]], result_of: Any = jsonable_result) -> Any:
        """Runs the call if the guard lets it through, and raises what `execute` raises. `real` are the arguments as the
        tool gets them; `None` where it gets them as written. `result_of` makes JSON of a result.
        """
        self.is_judged = True

        def judged() -> Any:
            return self.written if real is None else judged_arguments(self.written, real)

        try:
            scope = await admit(
                self.session, self.tool, judged, self.call, lambda needed: ask_people(self.session, needed, self._approve)
            )
        except Exception as error:
            return self._refuse(error)
        failure = None
        try:
            with scope.running():
                try:
                    result = await execute()
                    scope.result = result_of(result)
                except Exception as error:
                    failure = error
                    raise
        except Exception as error:
            if error is failure:
                raise
            return self._refuse(error)
        return result

    async def judge_unread(self) -> None:
        """Puts the call to the guard if the framework answered it itself. Nothing of it has run."""
        if self.is_judged:
            return
        self.is_judged = True
        try:
            async with turn(self.session):
                self.answer = record_denial(self.session, self.tool, self.written, self.call) or None
        except Exception as error:
            self._refuse(error)

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, Denied):
            self.answer = str(error)
        elif isinstance(error, Served):
            self.answer, self.is_served = served_text(error.verdict), True
        elif isinstance(error, SessionError) and error.code == "call_in_flight":
            self.answer = duplicate_text(self.call)
        else:
            self.error = error


#: The call in which the current task works.
current_call: ContextVar[ToolCall | None] = ContextVar("guardc_current_call", default=None)


# Tools without a guard


def known_tools(session: Session) -> set[str]:
    """The names of the tools that the guard of a session declares."""
    tools = session.guard.tools
    return {tool["name"] for tool in tools} | {tool["guard_name"] for tool in tools}


def warn_unguarded(listed: set[str], problem: str, names: Iterable[str]) -> None:
    """Warns of tools that are not in `listed` yet, and adds them to it."""
    new = sorted(set(names) - listed)
    if new:
        listed.update(new)
        warnings.warn(f"tools that {problem}: {', '.join(new)}", UnguardedToolWarning, stacklevel=3)
