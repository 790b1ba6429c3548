"""A client on the Python SDK 2.x, for tests of `mcparley serve`. Its arguments and output are those of `python_sdk_1.py`."""

import json
import os
import sys

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult


def transport(kind, *target):
    if kind == "stdio":
        return StdioServerParameters(command=target[0], args=list(target[1:]), env=dict(os.environ))
    url, token = target
    headers = {"Authorization": f"Bearer {token}"}
    return streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers, timeout=30))


async def answer(_context, _question):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def run(steps, *target):
    async with Client(transport(*target), elicitation_callback=answer) as client:
        tools = await client.list_tools()
        called = await client.call_tool(steps["tool"], steps["arguments"])
        resource = await client.read_resource(steps["resource"])
        prompt = await client.get_prompt(steps["prompt"], {})
        asked = await client.call_tool(steps["question"], {})
        print(json.dumps({
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "call": called.content[0].text,
            "resource": resource.contents[0].text,
            "prompt": prompt.messages[0].content.text,
            "answer": " ".join(block.text for block in asked.content),
        }))


anyio.run(run, json.loads(sys.argv[1]), *sys.argv[2:])
