//! Marks arguments for shell completion; the `complete` module finds their values.

use clap::builder::ArgExt;

/// The source of the values that a shell completes an argument with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionSource {
    /// The names of all configured servers.
    Servers,
    /// The names of the servers that a user can sign in to.
    RemoteServers,
    /// The names of the servers that need approval.
    PendingServers,
    /// The definitions of the hooks that need approval.
    PendingHooks,
    /// The ids of the open questions of running gateways.
    PendingQuestions,
    /// The names of all agents.
    Agents,
    /// Server names, or full tool names once the word begins with `mcp__`.
    CallTargets,
    /// The tools of the server in the preceding word.
    Tools,
    /// The tools of the server in the preceding word; after a tool, its arguments.
    CallWords,
}

impl ArgExt for CompletionSource {}
