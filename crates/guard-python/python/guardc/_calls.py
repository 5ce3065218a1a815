"""Scopes around calls: proposed on entry, settled on exit, in turn where calls exclude each other."""

import functools
import threading
from contextvars import ContextVar

from ._errors import ApprovalNeeded, ArgumentError, Denied, GuardError, Served, WaitTimeout
from ._pending import PendingApproval

#: How many later calls may pass a call that waits. After that they queue behind it.
MAX_PASSED = 16

#: The first and the longest time between two looks at a session that other processes share, in seconds.
FIRST_POLL, LONGEST_POLL = 0.25, 4.0

#: The scopes in which the current task runs: pairs of a session and a tool.
_inside = ContextVar("guardc_calls", default=())


class Waiter:
    """A call that waits for its turn, and the answer that ends its wait."""

    def __init__(self, scope, wake):
        self.scope = scope
        self.wake = wake
        #: A call within a call never queues behind one that waits for the outer call.
        self.is_nested = False
        self.verdict = None
        self.error = None
        self.passed = 0
        self.done = False

    def try_again(self, session):
        """Proposes the call again. Returns true if the wait is over; the gate is held."""
        try:
            verdict = self.scope.propose()
        except BaseException as error:  # Whatever fails ends the wait without an answer that allows.
            self.error = error
        else:
            if verdict.decision == "wait":
                self.verdict = verdict
                return False
            self.verdict = verdict
        self.done = True
        try:
            self.wake()
        except Exception as error:  # The task's loop is gone: nobody will run the call.
            self.error = error
            self.release(session)
        return True

    def release(self, session):
        """Settles a call as failed that was allowed and will not run."""
        if self.done and self.verdict is not None and self.verdict and not self.verdict.is_served:
            verdict, self.verdict = self.verdict, None
            try:
                session.settle(verdict.call, outcome="failure")
            except BaseException:
                session._overdue.append((verdict.call, None, True))
                raise

    def is_served(self):
        return self.error is None and self.verdict is not None and self.verdict.is_served

    def answer(self):
        if self.error is not None:
            raise self.error
        return self.verdict


class CallScope:
    """One call: `with` or `async with` around the tool. `Session.call` makes it."""

    def __init__(self, session, tool, args, call):
        self.session = session
        self.tool = tool
        self.args = args
        self.call = call
        #: The arguments as the model wrote them, where the tool gets others. Both must pass.
        self.written = None
        #: The roles that have approved this call, in one of its forms.
        self.roles = ()
        self.verdict = None
        #: The result of the tool, to settle the call with.
        self.result = None
        #: The outcome of the settlement, once the scope is left.
        self.settled = None
        self._token = None

    def propose(self):
        self.session._settle_overdue()
        # A scope hands on what its tool returns.
        unshowable = self.session._unshowable(self.tool, self.call)
        if unshowable is not None:
            return unshowable
        args = self.args if self.written is None else strictest_form(self.session, self.tool, (self.args, self.written), self.roles)
        verdict = self.session.propose(self.tool, args, call=self.call)
        self.call = verdict.call
        return verdict

    # Entering

    def _admit(self, make_waiter):
        """Proposes the call. Returns its verdict, or the waiter that gets it later."""
        session = self.session
        own = [tool for of_session, tool in _inside.get() if of_session is session]
        with session._gate:
            session._admitting += 1
            try:
                blocked = not own and any(waiter.passed >= MAX_PASSED for waiter in session._waiting)
                verdict = None
                if not blocked:
                    verdict = self.propose()
                    if verdict.decision != "wait":
                        if verdict.allowed:
                            for waiter in session._waiting:
                                waiter.passed += 1
                        return verdict, None
                    self._expect_no_circle(verdict, own)
                waiter = make_waiter()
                waiter.verdict, waiter.is_nested = verdict, bool(own)
                session._waiting.append(waiter)
                return None, waiter
            finally:
                session._admitting -= 1

    def _expect_no_circle(self, verdict, own):
        """Refuses a call that would wait for the call inside which it is made."""
        for reason in verdict.reasons:
            if reason.decision == "wait" and any(tool in own for tool in reason.needs):
                raise WaitTimeout(verdict)

    def _give_up(self, waiter):
        """Ends a wait without an answer. Returns true if the answer came at the last moment."""
        with self.session._gate:
            if waiter.done:
                return True
            self.session._waiting.remove(waiter)
            return False

    def _poll(self, waiter):
        with self.session._gate:
            if not waiter.done:
                self.session._wake()

    def _accept(self, verdict):
        self.verdict = verdict
        if verdict.is_served:
            raise Served(verdict)
        if not verdict.allowed:
            if verdict.decision == "ask":
                raise ApprovalNeeded(verdict, PendingApproval.of_verdict(self.session.id, verdict))
            raise Denied(verdict)
        self._token = _inside.set((*_inside.get(), (self.session, self.tool)))
        return self

    def _timed_out(self, waiter):
        verdict = waiter.verdict
        if verdict is None:
            raise GuardError(f"`{self.tool}` waited {self.session.wait} s behind other calls, and did not run")
        raise WaitTimeout(verdict)

    def _wait_slices(self):
        """The times to wait between looks, in seconds, up to the session's `wait`."""
        left, poll = self.session.wait, FIRST_POLL if self.session._polls else float("inf")
        while left > 0:
            yield min(left, poll)
            left -= poll
            poll = min(poll * 2, LONGEST_POLL) if self.session._polls else poll

    def __enter__(self):
        return self.entered_sync(self.begin_sync())

    def begin_sync(self):
        """Proposes the call. Returns `None` if it may run now, else what `entered_sync` waits for."""
        self._expect_new()
        event = threading.Event()
        verdict, waiter = self._admit(lambda: Waiter(self, event.set))
        if waiter is None:
            self._accept(verdict)
            return None
        return waiter, event

    def entered_sync(self, waiting):
        """Waits for the call's turn, in this thread. Returns the scope; raises as entering it does."""
        if waiting is None:
            return self
        waiter, event = waiting
        try:
            for seconds in self._wait_slices():
                if event.wait(min(seconds, threading.TIMEOUT_MAX)):
                    break
                self._poll(waiter)
            if not self._give_up(waiter):
                self._timed_out(waiter)
        except BaseException:
            self._abandon(waiter)
            raise
        return self._accept(waiter.answer())

    async def __aenter__(self):
        return await self.entered(self.begin())

    def begin(self):
        """Proposes the call in a running event loop. Returns `None` if it may run now, else what `entered` awaits."""
        import asyncio

        self._expect_new()
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def wake():
            loop.call_soon_threadsafe(lambda: future.done() or future.set_result(None))

        verdict, waiter = self._admit(lambda: Waiter(self, wake))
        if waiter is None:
            self._accept(verdict)
            return None
        return waiter, future

    async def entered(self, waiting):
        """Waits for the call's turn. Returns the scope; raises as entering it does."""
        if waiting is None:
            return self
        import asyncio

        waiter, future = waiting
        try:
            for seconds in self._wait_slices():
                timeout = None if seconds == float("inf") else seconds
                await asyncio.wait([future], timeout=timeout)
                if future.done():
                    break
                self._poll(waiter)
            if not self._give_up(waiter):
                self._timed_out(waiter)
        except BaseException:
            self._abandon(waiter)
            raise
        return self._accept(waiter.answer())

    def running(self):
        """The context in which the tool of an entered scope runs; leaving it settles the call."""
        return _Entered(self)

    def _expect_new(self):
        if self.verdict is not None:
            raise ArgumentError("a scope is for one call: make another with `session.call`")

    def _abandon(self, waiter):
        """The wait ends by an exception or a cancellation: an answer that allowed the call is settled as failed."""
        with self.session._gate:
            if waiter in self.session._waiting:
                self.session._waiting.remove(waiter)
            waiter.release(self.session)

    # Leaving

    def __exit__(self, kind, error, traceback):
        self._leave()
        failed = kind is not None
        try:
            if failed:
                self.settled = self.session.settle(self.verdict.call, outcome="failure")
            else:
                self.settled = self.session._settle_leniently(self.verdict.call, self.result)
        except BaseException as unsettled:  # The host's clock may raise anything, and the call has run.
            self.session._overdue.append((self.verdict.call, self.result, failed))
            # A cancellation or an interrupt goes on as what it is.
            if not failed or issubclass(kind, Exception) or not isinstance(unsettled, Exception):
                raise
        if self.settled is not None and self.settled.feedback:
            with self.session._gate:
                self.session._blocks.extend(self.settled.feedback)
        return False

    async def __aexit__(self, kind, error, traceback):
        return self.__exit__(kind, error, traceback)

    def _leave(self):
        token, self._token = self._token, None
        try:
            if token is not None:
                _inside.reset(token)
        except ValueError:
            pass  # The scope was left in another context than it was entered in.


def strictest_form(session, tool, forms, roles=()):
    """The form of a call to propose, of those that must all pass. The first is the one that the tool gets.

    A form that needs approvals counts as approved if all its roles are in `roles`: they have approved another form of the
    call. Raises `ArgumentError` where no form needs the approvals of all the others.
    """
    verdicts = []
    for form in forms:
        try:
            verdicts.append(session.preview(tool, form))
        except ArgumentError:
            return form  # What is no JSON is refused when it is proposed.
        if verdicts[-1].decision == "deny":
            return form
    needs = [set(PendingApproval.of_verdict(session.id, verdict).roles) for verdict in verdicts]
    asking = [
        place for place, verdict in enumerate(verdicts)
        if verdict.decision == "ask" and not (needs[place] and needs[place] <= set(roles))
    ]
    asked = session.__dict__.setdefault("_asked_forms", set())
    if asking:
        place = _strictest_place(tool, asking, needs)
        asked.add((tool, verdicts[place].args_text))
        return forms[place]
    for form, verdict in zip(forms, verdicts, strict=True):
        if verdict.decision == "wait":
            return form
    allowed = [place for place, verdict in enumerate(verdicts) if verdict.decision == "allow"]
    # The form that people were asked about uses up their approval.
    granted = [place for place in allowed if (tool, verdicts[place].args_text) in asked]
    return forms[(granted or allowed or [0])[0]]


def _strictest_place(tool, asking, needs):
    for place in asking:
        if not needs[place] or all(needs[place] >= needs[other] and needs[other] for other in asking):
            return place
    raise ArgumentError(f"`{tool}` needs approvals of different people as the model wrote it and as the tool gets it")


def guarded_tool(session, function, name, denied, exclude):
    """The function behind the session's guard."""
    import inspect

    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(f"`{name}` is a generator: its body runs after the call, where nobody settles it")
    signature = inspect.signature(function)

    def arguments(given, named):
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        args = {}
        for key, value in bound.arguments.items():
            if key in exclude:
                continue
            if signature.parameters[key].kind is inspect.Parameter.VAR_KEYWORD:
                # A positional-only parameter leaves its name free: the guard would judge one value, and the function get both.
                twice = sorted((signature.parameters.keys() - {key}) & value.keys())
                if twice:
                    raise ArgumentError(f"`{name}` gets two arguments with the name `{twice[0]}`")
                args.update(value)
            elif signature.parameters[key].kind is inspect.Parameter.VAR_POSITIONAL:
                if value:
                    args[key] = list(value)
            else:
                args[key] = value
        return args

    def answered(error):
        if isinstance(error, Served):
            return error.verdict.served
        if denied == "message":
            return str(error)
        raise error

    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):

        @functools.wraps(function)
        async def guarded(*given, **named):
            scope = session.call(name, arguments(given, named))
            try:
                await scope.__aenter__()
            except (Denied, Served) as error:
                return answered(error)
            async with scope.running():
                scope.result = await function(*given, **named)
            return scope.result

    else:

        @functools.wraps(function)
        def guarded(*given, **named):
            scope = session.call(name, arguments(given, named))
            try:
                scope.__enter__()
            except (Denied, Served) as error:
                return answered(error)
            with scope.running():
                result = function(*given, **named)
                if inspect.isawaitable(result):
                    if inspect.iscoroutine(result):
                        result.close()
                    raise ArgumentError(f"`{name}` returned an awaitable: guard the `async def` itself")
                scope.result = result
            return scope.result

    return guarded


class _Entered:
    """A scope that was entered already."""

    def __init__(self, scope):
        self.scope = scope

    def __enter__(self):
        return self.scope

    def __exit__(self, *exception):
        return self.scope.__exit__(*exception)

    async def __aenter__(self):
        return self.scope

    async def __aexit__(self, *exception):
        return self.scope.__exit__(*exception)
