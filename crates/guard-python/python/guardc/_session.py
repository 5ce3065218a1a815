"""Sessions as Python sees them: the engine's session, with scopes for calls and a decorator for tools."""

import os
import threading
from collections import deque

from ._engine import EngineSession, Store, _json_text
from ._calls import MAX_PASSED, CallScope, guarded_tool
from ._errors import ArgumentError
from ._pending import PendingApproval

_settle = EngineSession.settle

#: How long a call waits for another call in flight, in seconds.
WAIT = 60.0


def _why_unreadable(result):
    """Why a result is not JSON; `None` if it is."""
    try:
        _json_text(result)
    except Exception as error:
        return str(error)
    return None


class Session(EngineSession):
    """One agent's run under a guard. Threads and tasks may share it.

    Options of `guard.session(id, …)`:

    - `workspace`: the folder in which the agent works. Without one nobody answers questions about files.
    - `store`: where the session is kept, a path or a `Store`. A session that is there already goes on.
    - `clock`: a function that returns the time: seconds since 1970, a `datetime` with a zone, or RFC 3339 text.
    - `probes`: a function that returns the host's answers to its probes, a dict.
    - `data`: the data from which the guard learns at the start.
    - `actor`: on whose behalf the agent acts.
    - `snapshot`: bytes of `Session.snapshot`, or `trace`: lines of `Session.records`, to resume from.
    - `approvals`: keep requests for approval beside the store, where `guardc approvals` and `Store.grant` answer.
    - `wait`: how many seconds a call waits for another call in flight; 60 where it is left out.
    """

    def __new__(cls, guard, id, *, store=None, wait=WAIT, **options):
        if store is not None and not isinstance(store, Store):
            store = Store(os.fspath(store))
        return super().__new__(cls, guard, id, store=store, **options)

    def __init__(self, guard, id, *, store=None, wait=WAIT, **options):
        if not wait >= 0:
            raise ArgumentError("`wait` is a number of seconds, 0 or more")
        self.guard = guard
        self.wait = wait
        # Other processes may settle calls of a stored session without telling this one.
        self._polls = store is not None
        self._gate = threading.RLock()
        self._waiting = deque()
        #: The number of calls between their proposal and their place among those that wait.
        self._admitting = 0
        self._blocks = []
        #: The calls that have run and whose settlement failed: id, result, whether the call failed.
        self._overdue = []

    # A settlement may free calls that wait, so each wakes them before anything else is proposed.

    def settle(self, call, result=None, *, outcome="success"):
        """Says how an allowed call ended: `success`, with its result if it has one, or `failure`.

        Raises `ArgumentError` where the result is not JSON; nothing is settled then. Raises `SessionError` where no
        call with this id is in flight.
        """
        settled = _settle(self, call, result, outcome=outcome)
        # In this order: a call that is being admitted stands among those that wait before it stops being admitted.
        if self._admitting or self._waiting:
            with self._gate:
                self._wake()
        return settled

    def _settle_leniently(self, call, result):
        """Settles a call that has run, whatever its result is."""
        try:
            return self.settle(call, result)
        except Exception:
            why = _why_unreadable(result)
            if why is None:
                raise  # The engine failed, or the host's clock or its probes.
            try:
                text = repr(result)[:4000].encode("utf-8", "replace").decode()
            except Exception:
                text = f"a {type(result).__name__}"
            settled = EngineSession._settle_unreadable(self, call, text, why)
            with self._gate:
                if self._waiting:
                    self._wake()
            return settled

    def stop(self, reason=None):
        """Asks whether the agent may stop. A blocked stop says what is missing.

        Calls that have run and whose settlement failed are settled first. Raises where that fails again.
        """
        self._settle_overdue()
        return super().stop(reason)

    def _settle_overdue(self):
        """Settles the calls that have run and whose settlement failed. Raises where it fails again."""
        while self._overdue:
            call, result, failed = self._overdue[0]
            if call in self.in_flight:
                self.settle(call, outcome="failure") if failed else self._settle_leniently(call, result)
            self._overdue.pop(0)

    def _wake(self):
        """Proposes the calls that wait again, in the order in which they came. The caller holds the gate."""
        again = True
        while again:
            again = blocked = False
            for waiter in list(self._waiting):
                if waiter.done or (blocked and not waiter.is_nested):
                    continue
                if waiter.try_again(self):
                    self._passed(waiter)
                    again = again or waiter.is_served()
                else:
                    blocked = blocked or waiter.passed >= MAX_PASSED

    def _passed(self, waiter):
        """A wait is over: a call that was let through has passed those that came before it."""
        for earlier in list(self._waiting):
            if earlier is waiter:
                break
            if waiter.verdict is not None and waiter.verdict.allowed:
                earlier.passed += 1
        self._waiting.remove(waiter)

    def close(self):
        """Gives the session up. Every later event raises `Closed`, and so do the calls that wait."""
        EngineSession.close(self)
        with self._gate:
            self._wake()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    # Calls

    def call(self, tool, args=None, *, call=None):
        """A scope around one call, for `with` and `async with`. Inside it the tool may run.

        Entering proposes the call and waits its turn; it raises `Denied`, `ApprovalNeeded`, `WaitTimeout` or `Served`.
        Leaving settles the call: as a success with what stands in `scope.result`, as a failure after any exception,
        a cancellation included.
        """
        return CallScope(self, tool, args, call)

    def tool(self, function=None, *, name=None, denied="raise", exclude=()):
        """Guards a function, sync or async: each call is proposed first, and settled when the function ends.

        `name` is the tool's name, the function's where it is left out. A denied call raises `Denied`, or returns the
        message with `denied="message"`. Parameters in `exclude` are not part of the arguments.
        """
        if denied not in ("raise", "message"):
            raise ArgumentError('`denied` is "raise" or "message"')
        exclude = (exclude,) if isinstance(exclude, str) else tuple(exclude)

        def guard(function):
            return guarded_tool(self, function, name or function.__name__, denied, exclude)

        return guard if function is None else guard(function)

    def feedback(self):
        """The feedback of settled scopes and tools that nobody has read yet: texts, in order."""
        with self._gate:
            blocks, self._blocks = self._blocks, []
        return blocks

    # Approvals

    def pending(self, verdict):
        """The call of an `ask` verdict as a value that survives the process."""
        return PendingApproval.of_verdict(self.id, verdict)

    def propose_pending(self, pending):
        """Proposes a pending call again: the same tool and arguments under the same id."""
        if pending.session != self.id:
            raise ArgumentError(f"the call belongs to the session `{pending.session}`")
        return self.propose(pending.tool, pending.args_text, call=pending.call)

    def approve_pending(self, pending, *, by, role=None, expires=None):
        """Records that a person approves a pending call, in `role` or in each role that it needs."""
        if pending.session != self.id:
            raise ArgumentError(f"the call belongs to the session `{pending.session}`")
        for each in pending.roles if role is None else (role,):
            self.approve(pending.tool, pending.args_text, role=each, by=by, expires=expires)
