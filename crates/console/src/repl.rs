//! The console: a prompt that reads slash commands, tool calls and text for a model.
