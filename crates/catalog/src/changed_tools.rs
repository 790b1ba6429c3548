//! Changed tools: definitions that differ from those first seen or last reviewed.

use std::fmt;
use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::text::display_line;
use mcparley_model::tool::DefinitionChange;
use serde::Serialize;

/// A tool with a changed definition.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ChangedTool {
    /// The server of the tool.
    pub server: ServerName,
    /// The tool.
    pub tool: ToolName,
    /// Whether the tool is withheld until the user has reviewed it.
    pub withheld: bool,
    /// The difference between the definitions.
    pub change: Arc<DefinitionChange>,
}

impl fmt::Display for ChangedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (server, tool) = (display_line(self.server.as_str()), display_line(self.tool.as_str()));
        write!(f, "tool `{tool}` of `{server}` has changed since it was first seen or last reviewed")?;
        if self.withheld { f.write_str("; it is withheld until it is reviewed") } else { Ok(()) }
    }
}
