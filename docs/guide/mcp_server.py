"""A small MCP server over standard input and output, with Python's standard library only: a notebook."""
import json, sys

TOOLS = [
    {"name": "read_note", "description": "Reads a note.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}, "required": ["id"]}},
    {"name": "delete_note", "description": "Deletes a note.", "annotations": {"destructiveHint": True},
     "inputSchema": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}, "required": ["id"]}},
    {"name": "drop_all", "description": "Deletes everything.", "inputSchema": {"type": "object", "properties": {}}},
]

def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{params['name']}: done"}]}
    return {}

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
