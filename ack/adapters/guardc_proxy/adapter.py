#!/usr/bin/env python3
"""The command `guardc mcp-proxy` itself, for the conformance kit:

    guardc ack run -- python3 ack/adapters/guardc_proxy/adapter.py

This file is the client of the proxy and, in a process that the proxy starts, the server behind it, which has the kit's tools run.
MCP has no words for what the user says and for a stop, so those events go to `guardc hook`, which has the same session. People who approve
use `guardc approvals`; then the client makes the same call again.
"""
import json, socket, subprocess, sys, threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from command import GUARDC, PATIENCE, Agent, Cancelled, answer_of, approve, run_tool
from line import asking, serve, told

CAPABILITIES = """tool_policies argument_checks unknown_tools denial_feedback streaming concurrent_runs effects invariants budgets limits
parallel_calls feedback feedback_triggers deadline task_completion approvals deferred_approvals native_tools trace restore replay"""
VERSION = "2025-11-25"


class Peer:
    """JSON-RPC with somebody, one message a line: answers go to who asked, everything else to `hear`."""

    def __init__(self, reader, writer, hear=lambda message: None):
        self.reader, self.writer, self.hear = reader, writer, hear
        self.lock, self.asked, self.waiting = threading.Lock(), 0, {}
        threading.Thread(target=self.follow, daemon=True).start()

    def say(self, **message):
        with self.lock:
            self.writer.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self.writer.flush()

    def begin(self, method, params):
        """Asks. Returns the id of the request."""
        with self.lock:
            self.asked += 1
            number = self.asked
            self.waiting[number] = [threading.Event(), None]
        self.say(id=number, method=method, params=params)
        return number

    def answer(self, number):
        there, _ = self.waiting[number]
        if not there.wait(PATIENCE):
            raise RuntimeError("the proxy does not answer")
        return self.waiting.pop(number)[1]

    def follow(self):
        for line in self.reader:
            message = json.loads(line)
            waits = self.waiting.get(message.get("id")) if "method" not in message else None
            if waits:
                waits[1] = message
                waits[0].set()
            else:
                self.hear(message)


def streams(connected):
    """A connection to read from and to write to. One stream for both would lose what it has read when it is written to."""
    return connected.makefile("r", encoding="utf-8"), connected.makefile("w", encoding="utf-8")


class Client(Agent):
    """The client in one run: it starts the proxy, which starts the server."""

    def __init__(self, run):
        super().__init__(run)
        self.asking, self.cancelled = asking.get(), threading.Event()
        self.calls, self.decided = {}, []

    def __enter__(self):
        session, place = self.session, self.session.place / "server"
        session.tell_time()
        place.unlink(missing_ok=True)
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(place))
        self.listening.listen(1)
        workspace = ["--workspace", self.run["workspace"]] if "workspace" in self.run else []
        command = [GUARDC, "mcp-proxy", "--plan", session.plan, "--session", session.name, "--store", session.store, *workspace,
                   "--no-elicitation", "--", sys.executable, __file__, "--server", place]
        self.process = subprocess.Popen([str(word) for word in command], env=session.env, cwd=session.place, text=True, encoding="utf-8",
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.server = Peer(*streams(self.listening.accept()[0]), self.serve)
        self.proxy = Peer(self.process.stdout, self.process.stdin)
        client = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "kit", "version": "1"}}
        self.proxy.answer(self.proxy.begin("initialize", client))
        self.proxy.say(method="notifications/initialized")
        return self

    def __exit__(self, *_):
        """The proxy ends when its input does, and its server with it."""
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.listening.close()

    def serve(self, message):
        """The server: what reaches it."""
        if message.get("method") == "initialize":
            info = {"name": "kit", "version": "1"}
            self.server.say(id=message["id"], result={"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": info})
        elif message.get("method") == "tools/call":
            threading.Thread(target=self.execute, args=(message,), daemon=True).start()

    def execute(self, message):
        asking.set(self.asking)
        params = message["params"]
        call = {"call": params["_meta"]["call"], "tool": params["name"], "args": params.get("arguments", {})}
        for made, decided in self.decided:
            if made == call["call"]:
                decided.set()
        result, succeeded, cancelled = run_tool(self.session, call, self.tools)
        if cancelled:
            self.proxy.say(method="notifications/cancelled", params={"requestId": self.calls[call["call"]]})
            self.cancelled.set()
            return
        self.session.tell_time()
        content = [{"type": "text", "text": told(result)}]
        structured = {"structuredContent": {"result": result}} if succeeded else {"isError": True}
        self.server.say(id=message["id"], result={"content": content, **structured})

    def answers(self, calls):
        """The answers to the calls of a turn, which run at once."""
        self.decided = [(call["call"], threading.Event()) for call in calls]
        requests = [self.send(call) for call in calls]
        answers = [None] * len(calls)

        def answer(place, call):
            asking.set(self.asking)
            answers[place] = self.answer(place, call, requests[place])
            self.decided[place][1].set()

        threads = [threading.Thread(target=answer, args=pair, daemon=True) for pair in enumerate(calls)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(0.01)
            if self.cancelled.is_set():
                raise Cancelled
        return answers

    def answer(self, place, call, request):
        if request is None:
            return {"role": "tool", "text": "the arguments are no object", "call": call["call"], "failed": True}  # No client can send them.
        result = self.result(request)
        if result.get("isError") and self.approved(place, call):
            result = self.result(self.send(call))
        text = "\n\n".join(part["text"] for part in result["content"])
        return {"role": "tool", "text": text, "call": call["call"], "failed": result.get("isError", False)}

    def approved(self, place, call):
        """Asks the people. They are asked in the order of the calls: not before it is known what becomes of the calls before this one."""
        for _, decided in self.decided[:place]:
            decided.wait(PATIENCE)
        granted = approve(self.session, call)
        self.decided[place][1].set()
        return granted

    def send(self, call):
        """Sends a call. Returns the id of its request."""
        if not isinstance(call["args"], dict):
            return None
        self.session.tell_time()
        with_id = {"name": call["tool"], "arguments": call["args"], "_meta": {"call": call["call"]}}
        self.calls[call["call"]] = self.proxy.begin("tools/call", with_id)
        return self.calls[call["call"]]

    def result(self, request):
        answer = self.proxy.answer(request)
        if "error" in answer:
            return {"content": [{"type": "text", "text": answer["error"]["message"]}], "isError": True}
        return answer["result"]


def loop(run):
    client = Client(run)
    try:
        with client:
            return client.loop()
    except Cancelled:
        return {"ended": "cancelled", "trace": client.session.records()}


def server(place):
    """The server's process: its lines go to the client's process, and back."""
    connected = socket.socket(socket.AF_UNIX)
    connected.connect(place)
    reader, writer = streams(connected)

    def there():
        for line in sys.stdin:
            writer.write(line)
            writer.flush()
        connected.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=there, daemon=True).start()
    for line in reader:
        sys.stdout.write(line)
        sys.stdout.flush()


if sys.argv[1:2] == ["--server"]:
    server(sys.argv[2])
else:
    serve(answer_of("guardc-mcp-proxy", CAPABILITIES, loop))
