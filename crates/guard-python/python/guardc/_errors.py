"""The exceptions of Guard. All derive from `GuardError`."""

from ._engine import (
    ArgumentError,
    Broken,
    Closed,
    ContractError,
    Forked,
    GuardError,
    SessionError,
    SourceError,
)


class Denied(GuardError):
    """The guard does not allow a call. `verdict` has the reasons; the text is the message for the agent."""

    code = "denied"

    def __init__(self, verdict):
        text = "\n\n".join(part for part in (verdict.message, verdict.rendered) if part)
        super().__init__(text or verdict.decision)
        self.verdict = verdict


class ApprovalNeeded(Denied):
    """Somebody must approve exactly this call first. `pending` is the call as a value that survives the process."""

    code = "approval_needed"

    def __init__(self, verdict, pending):
        super().__init__(verdict)
        self.pending = pending


class WaitTimeout(Denied):
    """A call waited too long for another call in flight. It did not run."""

    code = "wait_timeout"


class Served(GuardError):
    """The guard serves the tool itself, so there is nothing to run. `verdict.served` is the result."""

    code = "served"

    def __init__(self, verdict):
        super().__init__(f"`{verdict.tool}` is served by the guard: `verdict.served` is its result")
        self.verdict = verdict


class Incomplete(GuardError):
    """The agent stopped although the guard says that something is missing. `stopped` says what."""

    code = "incomplete"

    def __init__(self, stopped):
        super().__init__(stopped.message)
        self.stopped = stopped
