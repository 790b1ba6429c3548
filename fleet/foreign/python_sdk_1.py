"""A client on the Python SDK 1.x, for tests of `mcparley serve`.

    python_sdk_1.py STEPS stdio PROGRAM [ARGUMENTS...]
    python_sdk_1.py STEPS http URL TOKEN

STEPS is JSON: the tool to call with its arguments, the resource to read, the prompt to get, and the tool that asks its user.
Prints what came of each step as one line of JSON.
"""

import json
import os
import sys
from contextlib import asynccontextmanager

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import ElicitResult


@asynccontextmanager
async def streams(kind, *target):
    if kind == "stdio":
        server = StdioServerParameters(command=target[0], args=list(target[1:]), env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            yield read, write
    else:
        url, token = target
        headers = {"Authorization": f"Bearer {token}"}
        async with streamablehttp_client(url, headers=headers) as (read, write, _session):
            yield read, write


async def answer(_context, _question):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def run(steps, *target):
    async with streams(*target) as (read, write):
        async with ClientSession(read, write, elicitation_callback=answer) as client:
            greeting = await client.initialize()
            tools = await client.list_tools()
            called = await client.call_tool(steps["tool"], steps["arguments"])
            resource = await client.read_resource(steps["resource"])
            prompt = await client.get_prompt(steps["prompt"], {})
            asked = await client.call_tool(steps["question"], {})
            print(json.dumps({
                "protocol": str(greeting.protocolVersion),
                "tools": [tool.name for tool in tools.tools],
                "call": called.content[0].text,
                "resource": resource.contents[0].text,
                "prompt": prompt.messages[0].content.text,
                "answer": " ".join(block.text for block in asked.content),
            }))


anyio.run(run, json.loads(sys.argv[1]), *sys.argv[2:])
