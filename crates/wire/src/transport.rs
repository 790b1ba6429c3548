//! The transports of MCP: stdio, Streamable HTTP, HTTP+SSE, WebSocket and in-memory; and servers that another
//! process of the user runs.

pub mod attached;
pub mod http;
mod line;
pub mod memory;
mod queue;
pub mod served;
pub mod sse;
pub mod stdio;
pub mod ws;
