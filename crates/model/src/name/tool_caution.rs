//! Detects tools with names that look alike.
//!
//! The tools are not changed: each keeps its own public name, and a caution only warns the user.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::look_alike::{is_foreign, is_separator, mixes_alphabets, name_skeleton};
use super::{ServerName, ToolName};
use crate::text::display_line;

/// The maximum number of tools named in one caution.
const NAMED_TOOLS: usize = 8;

/// A caution about tools with names that look alike or mix alphabets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolNameCaution {
    /// The risk of these names.
    pub is: ToolNameRisk,
    /// The tools, those with letters of other alphabets first.
    pub tools: Vec<ServerTool>,
}

/// The reason why the name of a tool deserves a second look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolNameRisk {
    /// Names of several tools differ only by letters that look the same.
    LookAlike,
    /// A word of the name mixes letters of several alphabets that look the same.
    MixedAlphabets,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ServerTool {
    /// The server.
    pub server: ServerName,
    /// The tool, as its server announced it.
    pub tool: ToolName,
}

impl ToolNameCaution {
    /// Finds the tools with look-alike names, one caution per group.
    ///
    /// Names that differ only by case and separators, such as `getFile` and `get_file`, are common and no
    /// reason for a caution.
    #[must_use]
    pub fn find_cautions<'t>(tools: impl IntoIterator<Item = (&'t ServerName, &'t ToolName)>) -> Vec<Self> {
        let mut groups: BTreeMap<String, Vec<ServerTool>> = BTreeMap::new();
        for (server, tool) in tools {
            let tool = ServerTool { server: server.clone(), tool: tool.clone() };
            groups.entry(name_skeleton(tool.tool.as_str())).or_default().push(tool);
        }
        groups.into_values().filter_map(Self::from_group).collect()
    }

    /// Whether one of the tools belongs to this server.
    #[must_use]
    pub fn concerns_server(&self, server: &ServerName) -> bool {
        self.tools.iter().any(|tool| tool.server == *server)
    }

    /// Checks a group of tools with names of the same skeleton.
    fn from_group(mut tools: Vec<ServerTool>) -> Option<Self> {
        let plain: Vec<String> = tools.iter().map(|tool| fold_style(tool.tool.as_str())).collect();
        let is = match plain.windows(2).any(|pair| matches!(pair, [one, other] if one != other)) {
            true => ToolNameRisk::LookAlike,
            false if tools.iter().any(|tool| has_mixed_word(tool.tool.as_str())) => {
                ToolNameRisk::MixedAlphabets
            }
            false => return None,
        };
        tools.sort_by_cached_key(|tool| (!tool.tool.as_str().chars().any(is_foreign), tool.clone()));
        tools.dedup();
        Some(Self { is, tools })
    }
}

impl fmt::Display for ToolNameCaution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is {
            ToolNameRisk::LookAlike => "different tools have names that look alike: ",
            ToolNameRisk::MixedAlphabets => "a name mixes letters of several alphabets that look the same: ",
        })?;
        for (index, tool) in self.tools.iter().take(NAMED_TOOLS).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{tool}")?;
        }
        match self.tools.len().saturating_sub(NAMED_TOOLS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for ServerTool {
    /// Includes the code points of foreign letters, because they are indistinguishable on a screen.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}`", display_line(self.tool.as_str()), display_line(self.server.as_str()))?;
        let mut foreign: Vec<char> =
            self.tool.as_str().chars().filter(|letter| is_foreign(*letter)).collect();
        foreign.sort_unstable();
        foreign.dedup();
        if foreign.is_empty() {
            return Ok(());
        }
        let codes: Vec<String> =
            foreign.iter().map(|letter| format!("U+{:04X}", u32::from(*letter))).collect();
        write!(f, " (with {})", codes.join(", "))
    }
}

/// The name without differences of style: case and separators.
fn fold_style(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for letter in name.chars().filter(|c| !is_separator(*c)) {
        // The Kelvin sign is not a `k` of another case.
        if !letter.is_ascii() && letter.to_lowercase().any(|c| c.is_ascii()) {
            folded.push(letter)
        } else {
            folded.extend(letter.to_lowercase())
        }
    }
    folded
}

fn has_mixed_word(name: &str) -> bool {
    name.split(is_separator).any(mixes_alphabets)
}
