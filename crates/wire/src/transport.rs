//! The transports of MCP: stdio, Streamable HTTP, HTTP+SSE, WebSocket and in-memory; and servers that another
//! process of the user runs.

pub mod attached;
#[cfg(feature = "http")]
pub mod http;
mod http_target;
mod line;
pub mod memory;
mod network_settings;
mod queue;
pub mod served;
#[cfg(feature = "http")]
pub mod sse;
pub mod stdio;
#[cfg(not(feature = "http"))]
mod without_http;
#[cfg(feature = "http")]
pub mod ws;

#[cfg(not(feature = "http"))]
pub use without_http::{http, sse, ws};
