"""A stand-in on loopback for the models of three agents: Anthropic Messages, OpenAI Responses, Gemini.

It plays a script of turns, keeps every request, and refuses whatever else an agent would send through it as a proxy.
"""
import contextlib, dataclasses, http.server, json, sys, threading


@dataclasses.dataclass
class Turn:
    """What the model says next: a text, or calls of tools as (name, arguments), also made of what it was shown last.
    `before` runs when it is asked."""
    text: str = ""
    calls: tuple = ()
    before: object = None


class Model:
    """A script of turns, and what the model was shown before each of them. After the last turn it says "done"."""

    def __init__(self, turns):
        self.turns, self.at, self.requests, self.refused, self.lock = list(turns), 0, [], [], threading.Lock()

    def next(self, body, news):
        with self.lock:
            self.requests.append({"body": body, "news": news})
            turn = self.turns[self.at] if self.at < len(self.turns) else Turn("done")
            self.at += 1
        if turn.before:
            turn.before()
        if callable(turn.calls):
            turn = Turn(turn.text, turn.calls(news))
        return turn

    def shown(self, turn):
        """The text that the model was shown in answer to a turn of it."""
        return self.requests[turn + 1]["news"] if turn + 1 < len(self.requests) else ""


def after_the_last(entries, is_models):
    """The entries after the last one that the model itself has written, as one text."""
    last = max((at for at, entry in enumerate(entries) if is_models(entry)), default=-1)
    return json.dumps(entries[last + 1:], ensure_ascii=False)


def anthropic(model, body):
    """One answer of Anthropic Messages: the events of a stream, or the message."""
    if not body.get("tools"):
        turn, number = Turn("a title"), 0  # A side question, such as for a title.
    else:
        turn, number = model.next(body, after_the_last(body["messages"], lambda each: each["role"] == "assistant")), model.at
    blocks = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += [{"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": args} for at, (name, args) in enumerate(turn.calls)]
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"], "content": blocks, "stop_sequence": None,
               "stop_reason": "tool_use" if turn.calls else "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}
    if not body.get("stream"):
        return message
    events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for at, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [{"type": "content_block_start", "index": at, "content_block": empty}, {"type": "content_block_delta", "index": at, "delta": delta},
                   {"type": "content_block_stop", "index": at}]
    events.append({"type": "message_delta", "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None}, "usage": message["usage"]})
    return events + [{"type": "message_stop"}]


def openai(model, body):
    """One answer of OpenAI Responses, as the events of a stream."""
    def is_models(entry):
        return entry.get("role") == "assistant" or entry.get("type") in ("function_call", "custom_tool_call", "reasoning")
    turn, number = model.next(body, after_the_last(body["input"], is_models)), model.at
    said = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": [{"type": "output_text", "text": turn.text}]}
    items = [said] if turn.text else []
    for at, (name, args) in enumerate(turn.calls):
        call = {"call_id": f"call_{number}_{at}", "name": name}
        items.append({**call, "type": "custom_tool_call", "input": args} if isinstance(args, str)
                     else {**call, "type": "function_call", "arguments": json.dumps(args)})
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
    return [{"type": "response.created", "response": {"id": f"resp_{number}"}},
            *({"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(items)),
            {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}}]


def gemini(model, body):
    """One answer of Gemini: the only event of its stream, or the whole."""
    if not body.get("tools"):
        turn = Turn("{}")  # A side question, such as who speaks next.
    else:
        turn = model.next(body, after_the_last(body["contents"], lambda each: each["role"] == "model"))
    parts = [{"text": turn.text}] if turn.text else []
    parts += [{"functionCall": {"name": name, "args": args}} for name, args in turn.calls]
    return [{"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
             "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}]


@contextlib.contextmanager
def listening(model):
    """The port of a server that answers for `model`."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            length = int(self.headers.get("content-length", 0))
            raw = self.rfile.read(length)
            path = self.path.split("?")[0]
            answer = next((api for end, api in (("/v1/messages", anthropic), ("/v1/responses", openai), ("GenerateContent", gemini),
                                                ("generateContent", gemini)) if path.endswith(end)), None)
            if answer is None:
                return self.refuse()
            events = answer(model, json.loads(raw))
            if isinstance(events, list) and path.endswith(":generateContent"):
                events = events[0]
            streamed = isinstance(events, list)
            lines = (f"event: {each['type']}\n" if "type" in each else "" for each in events) if streamed else ()
            text = "".join(f"{line}data: {json.dumps(each)}\n\n" for line, each in zip(lines, events)) if streamed else json.dumps(events)
            self.answer(200, "text/event-stream" if streamed else "application/json", text)

        def refuse(self):
            model.refused.append(f"{self.command} {self.path}")
            self.answer(404, "application/json", "{}")

        do_GET = do_HEAD = do_CONNECT = do_PUT = refuse

        def answer(self, status, kind, text):
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            with contextlib.suppress(BrokenPipeError):
                self.wfile.write(data if self.command != "HEAD" else b"")

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            if not isinstance(sys.exc_info()[1], ConnectionError):
                super().handle_error(*_)

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
