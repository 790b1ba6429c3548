//! The host served to other programs as one MCP server.
//!
//! The room is laid but empty: it needs a host that can call. It will hold the listener and the sessions
//! and leave every decision to `mcparley`.
