"""A protected server on FastMCP that is its own authorization server, for the tests of sign-in.

run: python demo_fastmcp_auth.py

Loopback and in memory. Its person agrees to everything: a browser need only follow redirects. Prints one line of JSON
when it listens: `mcp`, the address of the server, and `origin`. Ends when its input does.

POST /expire: no access token given so far is good; refresh tokens are.
GET /stats: `renewals`, how often a refresh token was taken for new tokens.
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
from starlette.requests import Request
from starlette.responses import JSONResponse


def end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


class CountingProvider(InMemoryOAuthProvider):
    """FastMCP's own provider, which also counts renewals."""

    renewals = 0

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        tokens = await super().exchange_refresh_token(client, refresh_token, scopes)
        self.renewals += 1
        return tokens


async def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    provider = CountingProvider(
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

    @mcp.custom_route("/expire", methods=["POST"])
    async def expire(_request: Request) -> JSONResponse:
        provider.access_tokens.clear()
        return JSONResponse({})

    @mcp.custom_route("/stats", methods=["GET"])
    async def stats(_request: Request) -> JSONResponse:
        return JSONResponse({"renewals": provider.renewals})

    threading.Thread(target=end_with_input, daemon=True).start()
    server = uvicorn.Server(uvicorn.Config(mcp.http_app(), log_level="error"))
    print(json.dumps({"mcp": f"{base}/mcp", "origin": base}), flush=True)
    await server.serve(sockets=[listener])


asyncio.run(main())
