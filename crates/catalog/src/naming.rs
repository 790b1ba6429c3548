//! Assigns public names to new tools, and forgets names that have been unused for long.

use std::collections::HashSet;

use mcparley_model::name::{PublicNames, ServerName, ToolName};

/// The number of unused names that are remembered, so that a tool that comes back gets its name again. The
/// limit keeps a server that renames its tools forever from filling the memory.
pub(crate) const REMEMBERED: usize = 10_000;

/// Assigns a public name to every `offered` tool.
pub fn assign_public_names<I: Iterator<Item = (ServerName, ToolName)>>(
    names: &mut PublicNames,
    offered: impl Fn() -> I,
) {
    *names = names.extend(offered());
    if names.iter().len() <= REMEMBERED {
        return;
    }
    let in_use: HashSet<(ServerName, ToolName)> = offered().collect();
    if names.iter().len() > in_use.len() + REMEMBERED {
        names.retain(|server, tool| in_use.contains(&(server.clone(), tool.clone())));
    }
}
