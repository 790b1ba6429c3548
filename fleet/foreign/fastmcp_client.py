"""A client on FastMCP, for tests of `mcparley serve`. Its arguments and output are those of `python_sdk_1.py`."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


def transport(kind, *target):
    if kind == "stdio":
        return StdioTransport(command=target[0], args=list(target[1:]), env=dict(os.environ))
    url, token = target
    return StreamableHttpTransport(url, auth=token)


async def answer(_message, _response_type, _params, _context):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def run(steps, *target):
    async with Client(transport(*target), elicitation_handler=answer) as client:
        tools = await client.list_tools()
        called = await client.call_tool(steps["tool"], steps["arguments"])
        resource = await client.read_resource(steps["resource"])
        prompt = await client.get_prompt(steps["prompt"], {})
        asked = await client.call_tool(steps["question"], {})
        print(json.dumps({
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "call": called.content[0].text,
            "resource": resource[0].text,
            "prompt": prompt.messages[0].content.text,
            "answer": " ".join(block.text for block in asked.content),
        }))


asyncio.run(run(json.loads(sys.argv[1]), *sys.argv[2:]))
