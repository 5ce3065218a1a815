#!/usr/bin/env python3
"""A hand-written hook around an agent loop, for the conformance kit. It reads no guard: it judges by the plain rules of a case.

    guardc ack run -- python3 ack/adapters/hook/adapter.py

For another policy engine put its client in place of `Policy.reasons`. Standard output belongs to the protocol.
"""
import json, operator, sys

CAPABILITIES = "plain_policies unknown_tools denial_feedback streaming approvals native_tools"
OPERATORS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
             "starts_with": lambda text, start: isinstance(text, str) and text.startswith(start)}


def ask(method, **params):
    """Asks the kit."""
    print(json.dumps({"id": method, "method": method, "params": params}), flush=True)
    answer = json.loads(sys.stdin.readline())
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]


class Policy:
    """The engine: plain rules, and the tools that have succeeded in the session."""

    def __init__(self):
        self.succeeded = set()

    def reasons(self, policy, call):
        """Returns the rules that deny a call. Arguments that are no object are denied."""
        if call["tool"] not in policy["tools"]:
            return [{"because": f"the policy has no tool `{call['tool']}`"}]
        if not isinstance(call["args"], dict):
            return [{"because": "the arguments are no object"}]
        return [rule for rule in policy.get("rules", []) if rule["tool"] == call["tool"] and self.applies(rule, call["args"])]

    def applies(self, rule, args):
        if rule.get("requires") in self.succeeded:
            return False
        when = rule.get("when")
        if when is None:
            return True
        try:
            return OPERATORS[when["op"]](args[when["arg"]], when["value"])
        except (KeyError, TypeError):
            return True  # What cannot be judged is denied.


sessions = {}  # by the kit's id


def hook(policy, rules, call):
    """The hook around a tool: returns why the call must not run, or nothing."""
    denied = policy.reasons(rules, call)
    roles = {rule["role"] for rule in denied if "role" in rule}
    if denied and all("role" in rule for rule in denied):
        if all(is_approved(role, call) for role in sorted(roles)):
            return ""
    return "\n".join(rule["because"] for rule in denied)


def is_approved(role, call):
    """Asks somebody in a role. An approval that has ended when the call begins is none."""
    answer = ask("approval.request", role=role, **call)
    # Times of one form: their texts compare as they do.
    return answer["granted"] and ("expires" not in answer or ask("clock.now")["now"] < answer["expires"])


def around(policy, run, call, tools):
    """Runs a call unless the hook denies it. Returns the answer that the model reads."""
    denied = hook(policy, run["policy"], call)
    if denied:
        return f"denied: {denied}"
    if call["tool"] not in tools:
        return f"error: there is no tool `{call['tool']}`"
    done = ask("tool.execute", **call)
    text = done["result"] if isinstance(done["result"], str) else json.dumps(done["result"], ensure_ascii=False)
    if done.get("failure") == "cancelled":
        raise KeyboardInterrupt
    if done["outcome"] == "failure":
        return f"error: {text}"
    policy.succeeded.add(call["tool"])
    return text


def assembled(turn):
    """A streamed turn, put together: each chunk goes to the call whose number it has."""
    if "pieces" not in turn:
        return turn
    calls = {}
    for piece in turn["pieces"]:
        if "at" in piece:
            call = calls.setdefault(piece["at"], {"call": "", "tool": "", "args": ""})
            for part in call:
                call[part] += piece.get(part, "")
    said = "".join(piece.get("say", "") for piece in turn["pieces"])
    return {**turn, "say": said, "calls": [{**call, "args": json.loads(call["args"])} for call in calls.values()]}


def loop(run):
    """The agent: the model's turn, its calls one after another, until it stops."""
    policy = sessions.setdefault(run["session"], Policy())
    tools = {tool["name"] for tool in run["tools"] if "elsewhere" not in tool}
    elsewhere = [tool["name"] for tool in run["tools"] if "elsewhere" in tool]
    messages = [{"role": "user", "text": run["prompt"]}]
    while True:
        turn = assembled(ask("model.next", messages=messages))
        messages += [{"role": "user", "text": event["text"]} for event in turn.get("host", []) if event["event"] == "prompt"]
        calls = turn.get("calls", [])
        messages.append({"role": "assistant", "text": turn.get("say") or turn.get("output") or "", "calls": calls})
        for number, call in enumerate(calls):
            call["call"] = call["call"] or f"nameless-{len(messages)}-{number}"
            messages.append({"role": "tool", "call": call["call"], "text": around(policy, run, call, tools)})
        if turn.get("stop"):
            return {"ended": "stopped", "output": turn.get("output"), "unguarded": elsewhere}


def answer(method, params):
    if method == "hello":
        return {"name": "hand-written-hook", "version": "1", "reusable": True, "capabilities": {name: True for name in CAPABILITIES.split()}}
    if method == "run":
        try:
            return loop(params)
        except KeyboardInterrupt:
            return {"ended": "cancelled"}
    if method == "reset":
        for session in [params["session"]] if "session" in params else list(sessions):
            sessions.pop(session, None)
        return {}
    raise RuntimeError(f"there is no method `{method}`")


for line in sys.stdin:
    request = json.loads(line)
    try:
        result = {"result": answer(request["method"], request["params"])}
    except RuntimeError as error:
        result = {"error": {"message": str(error)}}
    print(json.dumps({"id": request["id"], **result}), flush=True)
