"""A client on the Python SDK, for tests of `mcparley serve`.

    client.py ERA ANSWER PROGRAM [ARGUMENTS...]

ERA is `legacy`, or the revision of the new era. ANSWER is what its person says when asked: `allow`, `deny`, or `none` for a
client that cannot ask. Each line of standard input is one step, `{"list": true}` or `{"call": "name", "arguments": {}}`; for
each, one line of JSON says what came of it.
"""

import json
import os
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult


async def all_tools(client):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return {"tools": names}


async def step(client, wanted):
    if "list" in wanted:
        return await all_tools(client)
    result = await client.call_tool(wanted["call"], wanted["arguments"])
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def run(era, answer, program, arguments):
    async def ask(_context, _question):
        return ElicitResult(action="accept", content={"decision": answer})

    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    callback = None if answer == "none" else ask
    async with Client(server, mode=era, elicitation_callback=callback) as client:
        print(json.dumps({"protocol": client.protocol_version}), flush=True)
        for line in sys.stdin:
            try:
                came = await step(client, json.loads(line))
            except MCPError as error:
                came = {"error": error.error.code, "message": error.error.message}
            print(json.dumps(came), flush=True)


anyio.run(run, sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
