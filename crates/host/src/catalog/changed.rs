//! A tool that is no longer what it was when it was first met or last reviewed (H09).

use std::fmt;
use std::sync::Arc;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::text::display;
use mcparley_model::tool::DefinitionChange;
use serde::Serialize;

/// A tool that has changed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ChangedTool {
    /// Its server.
    pub server: ServerName,
    /// The tool.
    pub tool: ToolName,
    /// Whether it is not offered until somebody has reviewed it.
    pub withheld: bool,
    /// What is different.
    pub change: Arc<DefinitionChange>,
}

impl fmt::Display for ChangedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (server, tool) = (display(self.server.as_str()), display(self.tool.as_str()));
        write!(f, "tool `{tool}` of `{server}` has changed since it was first seen or last reviewed")?;
        if self.withheld { f.write_str("; it is withheld until it is reviewed") } else { Ok(()) }
    }
}
