from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

from typing_extensions import ParamSpec, Self

from ._calls import CallScope
from ._engine import EngineSession, Time, Verdict
from ._guard import Guard
from ._pending import PendingApproval

P = ParamSpec("P")
R = TypeVar("R")

class Session(EngineSession):
    """One agent's run under a guard. Threads and tasks may share it."""

    guard: Guard
    wait: float

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
    def call(self, tool: str, args: Any = None, *, call: str | None = None) -> CallScope:
        """A scope around one call, for `with` and `async with`."""
    @overload
    def tool(self, function: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def tool(
        self,
        function: None = None,
        *,
        name: str | None = None,
        denied: Literal["raise", "message"] = "raise",
        exclude: str | Iterable[str] = (),
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def feedback(self) -> list[str]: ...
    def pending(self, verdict: Verdict) -> PendingApproval: ...
    def propose_pending(self, pending: PendingApproval) -> Verdict: ...
    def approve_pending(
        self, pending: PendingApproval, *, by: str, role: str | None = None, expires: Time | None = None
    ) -> None: ...
