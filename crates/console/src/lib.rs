//! The interactive side of mcparley: dialogs for a person at a terminal, the console, and the screen of the
//! servers.
//!
//! | module | content |
//! |---|---|
//! | [`arguments`] | words such as `a=40 b=2` or `--key text`, parsed into the arguments of a tool call |
//! | [`dialog`] | questions to the user in line form: permissions, forms, pages, approvals |
//! | [`repl`] | the console: a prompt with slash commands, tool calls and conversation |
//! | [`screen`] | the `/mcp` screen: servers, their state, tools and errors |

pub mod arguments;
pub mod dialog;
pub mod repl;
pub mod screen;
