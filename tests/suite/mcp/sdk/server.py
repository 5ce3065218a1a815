"""The server of the test with the official Python SDK: tools with and without structured results."""
import socket
import sys
from typing import Annotated, TypedDict

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver import AcceptedElicitation, Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("notes")


class Secret(TypedDict):
    owner: str
    token: str


class NewTitle(BaseModel):
    title: str


async def ask_title() -> Elicit[NewTitle]:
    return Elicit("Which title?", NewTitle)


@server.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.tool()
def read(title: str, sort: str = "asc") -> str:
    """Reads a note."""
    return f"{title}, {sort}"


@server.tool()
def account(id: int) -> Secret:
    """An account."""
    return {"owner": "ann", "token": "hunter2"}


@server.tool()
def publish(title: str) -> str:
    """Publishes a note."""
    return f"published {title}"


@server.tool()
def drop_all() -> str:
    """Deletes everything."""
    return "gone"


@server.tool()
async def rename(title: str, new: Annotated[NewTitle, Resolve(ask_title)]) -> str:
    """Renames a note; the client is asked for the new title."""
    return f"{title} is {new.title}"


if "http" in sys.argv:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error")).run(sockets=[listener])
else:
    server.run("stdio")
