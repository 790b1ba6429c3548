//! The `/mcp` screen: all servers with their state, tools and errors.
