from ._engine import (
    ArgumentError as ArgumentError,
    Broken as Broken,
    Closed as Closed,
    ContractError as ContractError,
    Forked as Forked,
    GuardError as GuardError,
    SessionError as SessionError,
    SourceError as SourceError,
    Stopped,
    Verdict,
)
from ._pending import PendingApproval

class Denied(GuardError):
    """The guard does not allow a call. `verdict` has the reasons; the text is the message for the agent."""

    verdict: Verdict
    def __init__(self, verdict: Verdict) -> None: ...

class ApprovalNeeded(Denied):
    """Somebody must approve exactly this call first."""

    pending: PendingApproval
    def __init__(self, verdict: Verdict, pending: PendingApproval) -> None: ...

class WaitTimeout(Denied):
    """A call waited too long for another call in flight. It did not run."""

class Served(GuardError):
    """The guard serves the tool itself. `verdict.served` is the result."""

    verdict: Verdict
    def __init__(self, verdict: Verdict) -> None: ...

class Incomplete(GuardError):
    """The agent stopped although something is missing."""

    stopped: Stopped
    def __init__(self, stopped: Stopped) -> None: ...
