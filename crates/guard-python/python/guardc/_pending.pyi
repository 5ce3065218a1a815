from collections.abc import Iterable
from typing import Any

from ._engine import Verdict

class PendingApproval:
    """A call that needs an approval, as a value: pickle it, or write it as JSON."""

    session: str
    call: str
    tool: str
    args_text: str
    roles: tuple[str, ...]
    message: str
    request: str | None

    def __init__(
        self,
        session: str,
        call: str,
        tool: str,
        args_text: str,
        roles: Iterable[str],
        message: str,
        request: str | None = None,
    ) -> None: ...
    @classmethod
    def of_verdict(cls, session_id: str, verdict: Verdict) -> PendingApproval: ...
    @property
    def args(self) -> Any: ...
    def to_json(self) -> str: ...
    @classmethod
    def from_json(cls, text: str) -> PendingApproval: ...
