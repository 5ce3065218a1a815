from types import TracebackType
from typing import Any, Literal

from ._engine import Settled, Verdict
from ._session import Session

class CallScope:
    """One call: `with` or `async with` around the tool. `Session.call` makes it."""

    session: Session
    tool: str
    args: Any
    call: str | None
    verdict: Verdict | None
    result: Any
    settled: Settled | None

    def __enter__(self) -> CallScope: ...
    async def __aenter__(self) -> CallScope: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]: ...
    def begin(self) -> object | None:
        """Proposes the call in a running event loop. Returns `None` if it may run now, else what `entered` awaits."""
    async def entered(self, waiting: object | None) -> CallScope:
        """Waits for the call's turn."""
    def begin_sync(self) -> object | None: ...
    def entered_sync(self, waiting: object | None) -> CallScope: ...
    def running(self) -> Any:
        """The context in which the tool of an entered scope runs; leaving it settles the call."""
