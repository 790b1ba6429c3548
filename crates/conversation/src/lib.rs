//! A conversation between a user, a model and the tools of MCP servers.
