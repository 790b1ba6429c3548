"""One small server on FastMCP, for stdio and Streamable HTTP.

run: fastmcp run demo_fastmcp.py [--transport http --host 127.0.0.1 --port N]

Odd on purpose: a dotted tool name, a description that is not ASCII, one of 5,000 characters, long
instructions, an answer of 150,000 characters.
"""
import asyncio
import base64

from fastmcp import Context, FastMCP

mcp = FastMCP("Demo Server (fleet)", instructions="Say please. " * 300)


@mcp.tool(name="math.add", annotations={"readOnlyHint": True, "title": "Addition"})
def add(a: int, b: int) -> int:
    """Add two integers – naïve façade."""
    return a + b


@mcp.tool(description="long " * 1000)
def long_description() -> str:
    return "ok"


@mcp.tool
def big_text(chars: int = 150_000) -> str:
    """Return many characters."""
    return "0123456789" * (chars // 10)


@mcp.tool
async def slow(ctx: Context, steps: int = 3) -> str:
    """Report progress, then finish."""
    for i in range(steps):
        await ctx.report_progress(i + 1, steps)
        await asyncio.sleep(0.05)
    return f"{steps} steps"


@mcp.tool(annotations={"destructiveHint": True})
def fail(message: str) -> str:
    """Always raises."""
    raise ValueError(message)


@mcp.tool
async def ask(ctx: Context) -> str:
    """Elicit a name: a server request in the 2025 era, an input_required result in the 2026 era."""
    r = await ctx.elicit("Your name?", response_type=str)
    return f"{r.action}: {getattr(r, 'data', None)}"


@mcp.resource("demo://text", mime_type="text/plain")
def text() -> str:
    return "resource text"


@mcp.resource("demo://blob", mime_type="image/png")
def blob() -> bytes:
    return base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


@mcp.resource("demo://user/{name}")
def user(name: str) -> str:
    return f"user {name}"


@mcp.prompt
def greet(name: str, tone: str = "warm") -> str:
    """Greet somebody."""
    return f"Greet {name} in a {tone} tone"


if __name__ == "__main__":
    mcp.run()
