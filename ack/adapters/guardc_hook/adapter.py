#!/usr/bin/env python3
"""The command `guardc hook claude-code` itself, for the conformance kit:

    guardc ack run -- python3 ack/adapters/guardc_hook/adapter.py

This file is the coding agent: it starts the command for each event, with the JSON that Claude Code sends, and does what its
answer says. People who approve use `guardc approvals`; meanwhile the agent makes the same call again.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from command import Agent, Blocked, Cancelled, answer_of, approve, run_tool
from line import serve, told

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback streaming concurrent_runs effects invariants budgets limits feedback
feedback_triggers deadline task_completion approvals deferred_approvals native_tools trace restore replay"""


class CodingAgent(Agent):
    """The coding agent: it makes its calls one after another."""

    def answers(self, calls):
        answers, notes = [], []
        for call in calls:
            answers.append({"role": "tool", "call": call["call"], **self.around(call, notes)})
        return answers + [{"role": "user", "text": note} for note in notes if note]

    def event(self, name, **members):
        return self.session.event(self.run, name, **members)

    def around(self, call, notes):
        """One call: before it, itself, after it. Returns its answer."""
        members = {"tool_name": call["tool"], "tool_input": call["args"], "tool_use_id": call["call"]}
        try:
            notes.append(self.before(call, members))
        except Blocked as reason:
            return {"text": str(reason), "failed": True}
        result, succeeded, cancelled = run_tool(self.session, call, self.tools)
        try:
            if succeeded:
                notes.append(self.event("PostToolUse", tool_response=result, **members))
            else:
                notes.append(self.event("PostToolUseFailure", error=told(result), **members))
        except Blocked as reason:
            notes.append(str(reason))
        if cancelled:
            raise Cancelled
        return {"text": told(result), "failed": not succeeded}

    def before(self, call, members):
        try:
            return self.event("PreToolUse", **members)
        except Blocked:
            if not approve(self.session, call):
                raise
            return self.event("PreToolUse", **members)


def loop(run):
    agent = CodingAgent(run)
    try:
        return agent.loop()
    except Cancelled:
        return {"ended": "cancelled", "trace": agent.session.records()}


serve(answer_of("guardc-hook", CAPABILITIES, loop))
