"""Hosts of the open `agent-hooks` standard behind a guard: one interceptor, `GuardInterceptor`.

    guarded = GuardInterceptor(session)
    emitter = InterceptionEmitter(resolver=guarded.resolver(approve)).register(guarded)

Register it last, so that no later interceptor changes arguments that it has judged. The standard is cooperative: the host
enforces what the interceptor says. See `docs/guide/frameworks.md` for what the standard keeps out of a guard's reach.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from agent_hooks import ALLOW, AgentContext, ApprovalOutcome, ApprovalRequest, ApprovalResolution, Verdict, Warning

from .. import ApprovalNeeded, GuardError, PendingApproval, Session
from ._shared import Approval, record_approvals, served_text, verdict_text

__all__ = ["Approval", "GuardInterceptor", "GuardResolver"]


class GuardInterceptor:
    """Answers the interception points of one session of a host. Whatever fails here, the host has to deny."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lock = threading.Lock()
        #: The arguments of allowed calls, by id.
        self._judged: dict[str, Any] = {}
        #: The calls that need an approval, by id.
        self._pending: dict[str, ApprovalNeeded] = {}
        self._reason: str | None = None
        #: The outcome of the last stop.
        self.stopped: Any = None

    def intercept(self, context: AgentContext) -> Verdict:
        """The verdict on one context. Points without a question for the guard are allowed."""
        answer = getattr(self, f"_{context['interception_point']}", None)
        with self._lock:
            return ALLOW if answer is None else answer(context)

    def resolver(self, approve: Callable[[PendingApproval, str], Approval | None]) -> GuardResolver:
        """The host's resolver of approvals: `approve` is asked for each role that a call needs."""
        return GuardResolver(self, approve)

    def _input(self, context: AgentContext) -> Verdict:
        given = context["input"]
        if given["role"] == "user" and isinstance(given["content"], str):
            self.session.prompt(given["content"])
        return ALLOW

    def _post_model_call(self, context: AgentContext) -> Verdict:
        self._reason = context["response"]["finish_reason"]
        usage = context.get("usage") or {}
        tokens = usage.get("total_tokens") or usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        if tokens:
            self.session.usage("tokens", tokens)
        return ALLOW

    def _pre_tool_call(self, context: AgentContext) -> Verdict:
        call = context["tool_call"]
        unshowable = self.session._unshowable(call["name"], call["id"])
        if unshowable is not None:
            return Verdict.deny(reason="guard:transform", message=verdict_text(unshowable))
        verdict = self.session.propose(call["name"], json.dumps(call["args"]), call=call["id"])
        if verdict.allowed and not verdict.is_served:
            self._judged[call["id"]] = call["args"]
            return ALLOW
        if verdict.decision == "ask":
            needed = ApprovalNeeded(verdict, PendingApproval.of_verdict(self.session.id, verdict))
            self._pending[call["id"]] = needed
            return Verdict.escalate(reason=self.reason_of(verdict), message=verdict_text(verdict))
        return self._refusal(verdict)

    def _post_tool_call(self, context: AgentContext) -> Verdict:
        call, result = context["tool_call"], context["tool_result"]
        if call["id"] not in self._judged:
            raise GuardError(f"the call `{call['id']}` ran, and the guard had not allowed it")
        judged = self._judged.pop(call["id"])
        failed = bool(result.get("is_error"))
        settled = self.session.settle(call["id"], outcome="failure") if failed else self.session.settle(call["id"], result["value"])
        if call["args"] != judged:
            raise GuardError(f"the call `{call['id']}` ran with other arguments than those that the guard allowed")
        return Verdict(ALLOW.decision, warnings=tuple(Warning(reason="guard:feedback", message=text) for text in settled.feedback))

    def _output(self, context: AgentContext) -> Verdict:
        self.stopped = self.session.stop(self._reason)
        if self.stopped.allowed:
            return ALLOW
        return Verdict.deny(reason="guard:incomplete", message=self.stopped.message)

    def reason_of(self, verdict: Any) -> str:
        """The standard's reason, for programs: the code of the guard's first reason."""
        return f"guard:{verdict.reasons[0].code}"

    def approved(self, call: str, answers: list[Any]) -> bool:
        """Records the approvals of a call and proposes it again. Returns true if it may run now."""
        return self.answered(call, answers).decision.permits

    def answered(self, call: str, answers: list[Any]) -> Verdict:
        """Records the approvals of a call and proposes it again. Returns the verdict for the host."""
        with self._lock:
            needed = self._pending.pop(call)
            record_approvals(self.session, needed, answers)
            verdict = self.session.propose_pending(needed.pending)
            if not verdict.allowed or verdict.is_served:
                return self._refusal(verdict)
            self._judged[call] = json.loads(needed.pending.args_text)
            return ALLOW

    def _refusal(self, verdict: Any) -> Verdict:
        """The denial of a call that must not run: the guard refuses it, or has answered it itself."""
        if verdict.is_served:
            # No host can be given a result in place of a call.
            return Verdict.deny(reason="guard:served", message=served_text(verdict))
        return Verdict.deny(reason=self.reason_of(verdict), message=verdict_text(verdict))


class GuardResolver:
    """Resolves liftable denials of a `GuardInterceptor`, and leaves those of others unresolved."""

    def __init__(self, interceptor: GuardInterceptor, approve: Callable[[PendingApproval, str], Approval | None]) -> None:
        self._interceptor = interceptor
        self._approve = approve

    def resolve(self, request: ApprovalRequest) -> ApprovalResolution:
        call = request.context.get("tool_call", {}).get("id")
        needed = self._interceptor._pending.get(call)
        if needed is None:
            return ApprovalResolution(ApprovalOutcome.UNRESOLVED, request.context_identity)
        answers = [self._approve(needed.pending, role) for role in needed.pending.roles]
        refused = Verdict.deny(reason="guard:not_approved", message=request.verdict.message)
        if answers and all(isinstance(answer, Approval) for answer in answers):
            verdict = self._interceptor.answered(call, answers)
            if verdict.decision.permits:
                return ApprovalResolution(ApprovalOutcome.APPROVE, request.context_identity, verdict)
            refused = verdict
        return ApprovalResolution(ApprovalOutcome.REJECT, request.context_identity, refused)
