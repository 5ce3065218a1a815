import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._engine import EngineGuard, Store, Time
from ._session import Session

class Guard(EngineGuard):
    """A guard that is ready to decide. Threads and sessions share it."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Guard:
        """Loads a guard or a compiled plan from a file, whichever it is. Raises `SourceError`."""
    @classmethod
    def compile(cls, text: str, *, path: str | os.PathLike[str] = "guard.guard") -> Guard:
        """Compiles the text of a guard. Raises `SourceError`."""
    @classmethod
    def from_plan(cls, plan: bytes) -> Guard:
        """Loads the bytes of a compiled plan. Raises `SourceError`."""
    def session(
        self,
        id: str | None = None,
        *,
        workspace: str | os.PathLike[str] | None = None,
        store: str | os.PathLike[str] | Store | None = None,
        clock: Callable[[], Time] | None = None,
        probes: Callable[[], Mapping[str, Any]] | None = None,
        data: Any = None,
        actor: str | None = None,
        snapshot: bytes | None = None,
        trace: Iterable[str] | None = None,
        approvals: bool = False,
        wait: float = 60.0,
    ) -> Session:
        """Begins a session, or resumes the one with this id in its store. Raises `SessionError`."""
