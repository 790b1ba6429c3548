"""Lists the tools of every configured server with the Python SDK and nothing else."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def tools_of(entry):
    async with Client(StdioServerParameters(command=entry["command"], args=entry["args"])) as client:
        return (await client.list_tools()).tools


async def main(path):
    with open(path) as file:
        servers = json.load(file)["mcpServers"]
    for tools in await asyncio.gather(*map(tools_of, servers.values())):
        print(len(tools))


asyncio.run(main(sys.argv[1]))
