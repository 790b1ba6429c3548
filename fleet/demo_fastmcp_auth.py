"""A protected server on FastMCP that is its own authorization server, for the tests of sign-in.

run: python demo_fastmcp_auth.py

Loopback and in memory. Its person agrees to everything: a browser need only follow redirects. Prints one line of JSON
when it listens: `mcp`, the address of the server. Ends when its input does.
"""
import asyncio
import json
import os
import socket
import sys
import threading

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.auth import ClientRegistrationOptions, RevocationOptions
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider


def end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


async def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    provider = InMemoryOAuthProvider(
        base_url=base,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["use"], default_scopes=["use"]),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=["use"],
    )
    mcp = FastMCP("Protected Server (fleet)", auth=provider)

    @mcp.tool(annotations={"readOnlyHint": True})
    def clients() -> list[dict]:
        """The clients that have registered."""
        return [{"method": client.token_endpoint_auth_method, "scope": client.scope} for client in provider.clients.values()]

    threading.Thread(target=end_with_input, daemon=True).start()
    server = uvicorn.Server(uvicorn.Config(mcp.http_app(), log_level="error"))
    print(json.dumps({"mcp": f"{base}/mcp"}), flush=True)
    await server.serve(sockets=[listener])


asyncio.run(main())
