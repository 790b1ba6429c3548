//! Gives public names to what has none yet, and forgets those that nobody has used for long.

use std::collections::HashSet;

use mcparley_model::name::{Names, ServerName, ToolName};

/// Names beyond those in use that are remembered, so that a tool that comes back has its name again. A server
/// that renames its tools for ever must not fill the memory with it.
pub(super) const REMEMBERED: usize = 10_000;

/// Names everything that is `offered`.
pub(crate) fn name_all<I: Iterator<Item = (ServerName, ToolName)>>(
    names: &mut Names,
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
