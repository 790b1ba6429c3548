//! Finds tools whose names a person would take for one another.
//!
//! The tools stay what they are: each keeps its own public name, and a caution changes nothing about them.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::look_alike::{is_foreign, is_separator, mixes_alphabets, skeleton};
use super::{ServerName, ToolName};
use crate::text::display;

/// How many tools one caution names.
const NAMED_TOOLS: usize = 8;

/// Tools whose names deserve a second look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolNameCaution {
    /// Why they do.
    pub is: ToolNameRisk,
    /// The tools, those with letters of other alphabets first.
    pub tools: Vec<ServerTool>,
}

/// Why the name of a tool deserves a second look.
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
    /// Finds the tools with look-alike names, each group once.
    ///
    /// Names that differ only by case and separators, such as `getFile` and `get_file`, are common and no reason
    /// for a caution.
    #[must_use]
    pub fn find<'t>(tools: impl IntoIterator<Item = (&'t ServerName, &'t ToolName)>) -> Vec<Self> {
        let mut groups: BTreeMap<String, Vec<ServerTool>> = BTreeMap::new();
        for (server, tool) in tools {
            let tool = ServerTool { server: server.clone(), tool: tool.clone() };
            groups.entry(skeleton(tool.tool.as_str())).or_default().push(tool);
        }
        groups.into_values().filter_map(Self::of_group).collect()
    }

    /// Whether one of the tools is this server's.
    #[must_use]
    pub fn concerns(&self, server: &ServerName) -> bool {
        self.tools.iter().any(|tool| tool.server == *server)
    }

    /// Judges tools whose names have one skeleton.
    fn of_group(mut tools: Vec<ServerTool>) -> Option<Self> {
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
    /// The code points of foreign letters are told, because on a screen they cannot be seen.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}`", display(self.tool.as_str()), display(self.server.as_str()))?;
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

/// The name without the differences of style: case, and the signs between words.
fn fold_style(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for letter in name.chars().filter(|c| !is_separator(*c)) {
        // The Kelvin sign is no `k` of another case.
        match !letter.is_ascii() && letter.to_lowercase().any(|c| c.is_ascii()) {
            true => folded.push(letter),
            false => folded.extend(letter.to_lowercase()),
        }
    }
    folded
}

fn has_mixed_word(name: &str) -> bool {
    name.split(is_separator).any(mixes_alphabets)
}
