#!/usr/bin/env python3
"""The command `guardc hook claude-code` itself, for the conformance kit:

    guardc ack run -- python3 ack/adapters/guardc_hook/adapter.py

This file is the coding agent: it starts the command for each event, with the JSON that Claude Code sends, and does what its
answer says. People who approve use `guardc approvals`; meanwhile the agent makes the same call again.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from command import Blocked, Cancelled, answer_of, approve, ended, happened, run_tool, session_of
from line import assembled, kit, serve, told

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback streaming concurrent_runs effects invariants budgets limits feedback
feedback_triggers deadline task_completion approvals deferred_approvals native_tools trace restore replay"""


class Agent:
    """The coding agent in one run."""

    def __init__(self, run):
        self.session, self.run = session_of(run), run
        self.tools = {tool["name"] for tool in run["tools"] if "elsewhere" not in tool}
        self.messages = []

    def event(self, name, **members):
        return self.session.event(self.run, name, **members)

    def say(self, text):
        """What the user says."""
        self.messages.append({"role": "user", "text": text})
        self.event("UserPromptSubmit", prompt=text)

    def loop(self):
        self.say(self.run["prompt"])
        while True:
            turn = assembled(kit.ask("model.next", messages=self.messages))
            for event in turn.get("host", []):
                self.happened(event)
            calls = turn.get("calls", [])
            self.messages.append({"role": "assistant", "text": turn.get("say") or turn.get("output") or "", "calls": calls})
            notes = []
            for number, call in enumerate(calls):
                call["call"] = call["call"] or f"nameless-{len(self.messages)}-{number}"
                self.messages.append({"role": "tool", "call": call["call"], **self.around(call, notes)})
            self.messages += [{"role": "user", "text": note} for note in notes if note]
            if turn.get("stop"):
                try:
                    self.event("Stop", stop_hook_active=False)
                    return ended(self.session, self.run, turn)
                except Blocked as reason:
                    self.messages.append({"role": "user", "text": str(reason)})

    def happened(self, event):
        if event["event"] == "prompt":
            self.say(event["text"])
        else:
            happened(self.session, event)

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
    agent = Agent(run)
    try:
        return agent.loop()
    except Cancelled:
        return {"ended": "cancelled", "trace": agent.session.records()}


serve(answer_of("guardc-hook", CAPABILITIES, loop))
