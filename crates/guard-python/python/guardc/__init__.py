"""Guard for Python: decide every tool call of an agent before it runs.

>>> from guardc import Guard
>>> guard = Guard.compile("guard demo\\ntool ping() { limit 1 per session }")
>>> session = guard.session("s1")
>>> with session.call("ping") as call:
...     call.result = "pong"
>>> session.propose("ping").decision
'deny'
"""

import os as _os

from ._calls import CallScope
from ._engine import Contract, Feed, Reason, Report, Settled, Stopped, Store, Verdict, __version__, _forked
from ._errors import (
    ApprovalNeeded,
    ArgumentError,
    Broken,
    Closed,
    ContractError,
    Denied,
    Forked,
    GuardError,
    Incomplete,
    Served,
    SessionError,
    SourceError,
    WaitTimeout,
)
from ._guard import Guard
from ._pending import PendingApproval
from ._session import Session

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_forked)

__all__ = [
    "ApprovalNeeded",
    "ArgumentError",
    "Broken",
    "CallScope",
    "Closed",
    "Contract",
    "ContractError",
    "Denied",
    "Feed",
    "Forked",
    "Guard",
    "GuardError",
    "Incomplete",
    "PendingApproval",
    "Reason",
    "Report",
    "Served",
    "Session",
    "SessionError",
    "Settled",
    "SourceError",
    "Stopped",
    "Store",
    "Verdict",
    "WaitTimeout",
    "__version__",
]
