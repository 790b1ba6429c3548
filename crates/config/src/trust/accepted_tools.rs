//! Accepted tool definitions of one server.

use std::collections::BTreeMap;
use std::io::{self, Write};

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::tool::{DefinitionChange, Tool, ToolRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// The file format. Files of another format are not read.
const FORMAT: u32 = 1;

/// The content of `tools/KEY.json`: the accepted tools of one server.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct AcceptedTools {
    #[serde(deserialize_with = "of_format")]
    format: u32,
    /// The name of the server, for users who open the file.
    server: String,
    tools: BTreeMap<String, TrustedTool>,
}

/// The record of one tool.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct TrustedTool {
    /// The definition as it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<Box<RawValue>>,
    /// A different definition that was seen since then. It stays until the user reviews the tool: changing
    /// back does not clear it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flagged: Option<Box<RawValue>>,
    /// The user's last answer about the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<ToolAnswer>,
}

/// The users' last answers about the tools of one server, by tool name.
pub(super) type ToolAnswers = BTreeMap<String, ToolAnswer>;

/// The user's answer to a permission question about a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolAnswer {
    /// The definition that the answer was about.
    pub definition: String,
    /// Whether the user allowed the tool.
    pub allowed: bool,
}

impl AcceptedTools {
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether the tool was seen before.
    pub(super) fn has_tool(&self, tool: &ToolName) -> bool {
        self.accepted_definition(tool).is_some()
    }

    /// The change of the definition since the tool was accepted. A tool that was never seen has none.
    pub(super) fn definition_change(&self, tool: &Tool) -> Option<DefinitionChange> {
        let accepted = self.accepted_definition(&tool.name)?;
        let other =
            if is_record_of(accepted, tool) { self.flagged_definition(&tool.name)? } else { accepted };
        let old = serde_json::from_str::<ToolRecord<'_>>(other.get()).ok()?.into_tool()?;
        DefinitionChange::between(&old, tool)
    }

    /// Whether the user has to review the tool, even if its definition has changed back.
    pub(super) fn is_flagged(&self, tool: &ToolName) -> bool {
        self.flagged_definition(tool).is_some()
    }

    /// Records that the definition differs from the accepted one.
    pub(super) fn flag_tool(&mut self, tool: &Tool) {
        self.tool_entry(&tool.name).flagged = to_raw_value(&tool.to_record()).ok();
    }

    /// The users' last answers, by tool name.
    pub(super) fn answers(&self) -> ToolAnswers {
        let said = |(tool, kept): (&String, &TrustedTool)| Some((tool.clone(), kept.said.clone()?));
        self.tools.iter().filter_map(said).collect()
    }

    pub(super) fn set_server(&mut self, server: &ServerName) {
        self.format = FORMAT;
        server.as_str().clone_into(&mut self.server);
    }

    /// Accepts a tool that was never seen before.
    pub(super) fn accept_new_tool(&mut self, tool: &Tool) {
        if !self.has_tool(&tool.name) {
            self.accept_tool(tool);
        }
    }

    pub(super) fn accept_tool(&mut self, tool: &Tool) {
        let kept = self.tool_entry(&tool.name);
        kept.accepted = to_raw_value(&tool.to_record()).ok();
        kept.flagged = None;
    }

    pub(super) fn record_answer(&mut self, tool: &ToolName, said: ToolAnswer) {
        self.tool_entry(tool).said = Some(said);
    }

    fn accepted_definition(&self, tool: &ToolName) -> Option<&RawValue> {
        self.tools.get(tool.as_str()).and_then(|kept| kept.accepted.as_deref())
    }

    fn flagged_definition(&self, tool: &ToolName) -> Option<&RawValue> {
        self.tools.get(tool.as_str()).and_then(|kept| kept.flagged.as_deref())
    }

    fn tool_entry(&mut self, tool: &ToolName) -> &mut TrustedTool {
        self.tools.entry(tool.as_str().to_owned()).or_default()
    }
}

/// Whether this is the record of the tool, to the byte. Nothing is allocated: a list has hundreds of tools, and almost
/// all of them are unchanged.
fn is_record_of(accepted: &RawValue, tool: &Tool) -> bool {
    let mut expected = ExpectedBytes(accepted.get().as_bytes());
    serde_json::to_writer(&mut expected, &tool.to_record()).is_ok() && expected.0.is_empty()
}

/// A writer that fails at the first byte that differs from the expected ones.
struct ExpectedBytes<'e>(&'e [u8]);

impl Write for ExpectedBytes<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.strip_prefix(bytes).ok_or(io::ErrorKind::InvalidData)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn of_format<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        FORMAT => Ok(FORMAT),
        other => Err(serde::de::Error::custom(format!("format {other} is not known"))),
    }
}
