"""A server behind a WebSocket, on the last release of the official Python SDK that has this transport.

    python demo_ws.py PORT

listens on 127.0.0.1 and greets at every path.
"""

import asyncio
import sys

import mcp.types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.websocket import websocket_server

server = Server("demo-ws", version="1")

NUMBER = {"type": "integer"}
TOOLS = {
    "add": ("Adds two numbers.", {"a": NUMBER, "b": NUMBER}),
    "fail": ("Fails with this message.", {"message": {"type": "string"}}),
    "slow": ("Takes that many steps.", {"steps": NUMBER}),
}


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [
        types.Tool(
            name=name,
            description=description,
            inputSchema={"type": "object", "properties": properties, "required": list(properties)},
        )
        for name, (description, properties) in TOOLS.items()
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list[types.TextContent]:
    match name:
        case "add":
            text = str(arguments["a"] + arguments["b"])
        case "slow":
            for _ in range(arguments["steps"]):
                await asyncio.sleep(0.05)
            text = f"{arguments['steps']} steps"
        case "fail":
            raise ValueError(arguments["message"])
        case _:
            raise ValueError(f"no tool {name}")
    return [types.TextContent(type="text", text=text)]


async def application(scope, receive, send):
    if scope["type"] != "websocket":
        return
    async with websocket_server(scope, receive, send) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), lifespan="off", log_level="warning")
