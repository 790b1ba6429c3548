//! The tools of one server as they were accepted.

use std::collections::BTreeMap;

use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::tool::{DefinitionChange, Record, Tool};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// Files of another format are not read.
const FORMAT: u32 = 1;

/// One file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sheet {
    #[serde(deserialize_with = "of_format")]
    format: u32,
    /// What the server is called, for people who look into the file.
    server: String,
    tools: BTreeMap<String, Kept>,
}

/// What is kept about one tool.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// Its definition as it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<Box<RawValue>>,
    /// A definition it had since then. It stays until somebody reviews the tool: changing back takes nothing away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    flagged: Option<Box<RawValue>>,
    /// What a person last said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<Said>,
}

/// What people said about the tools of one server.
pub(crate) type Answers = BTreeMap<String, Said>;

/// What a person said about a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Said {
    /// The definition it was said about.
    pub(crate) definition: String,
    /// Whether it was yes.
    pub(crate) allowed: bool,
}

impl Sheet {
    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether the tool was met before.
    pub(crate) fn has(&self, tool: &ToolName) -> bool {
        self.accepted(tool).is_some()
    }

    /// What is different about the tool since it was accepted. One that was never met is as it is.
    pub(crate) fn change(&self, tool: &Tool) -> Option<DefinitionChange> {
        let accepted = self.accepted(&tool.name)?;
        let now = serde_json::to_string(&tool.record()).ok()?;
        let other = if accepted.get() == now { self.flagged(&tool.name)? } else { accepted };
        let old = serde_json::from_str::<Record<'_>>(other.get()).ok()?.into_tool()?;
        DefinitionChange::between(&old, tool)
    }

    /// Whether somebody has to review the tool, whatever it is now.
    pub(super) fn is_flagged(&self, tool: &ToolName) -> bool {
        self.flagged(tool).is_some()
    }

    /// Remembers that the tool was not what was accepted.
    pub(super) fn flag(&mut self, tool: &Tool) {
        self.kept(&tool.name).flagged = to_raw_value(&tool.record()).ok();
    }

    /// What people said, by tool.
    pub(super) fn answers(&self) -> Answers {
        let said = |(tool, kept): (&String, &Kept)| Some((tool.clone(), kept.said.clone()?));
        self.tools.iter().filter_map(said).collect()
    }

    pub(super) fn name(&mut self, server: &ServerName) {
        self.format = FORMAT;
        server.as_str().clone_into(&mut self.server);
    }

    /// Accepts a tool that was never met.
    pub(super) fn meet(&mut self, tool: &Tool) {
        if !self.has(&tool.name) {
            self.accept(tool);
        }
    }

    pub(super) fn accept(&mut self, tool: &Tool) {
        let kept = self.kept(&tool.name);
        kept.accepted = to_raw_value(&tool.record()).ok();
        kept.flagged = None;
    }

    pub(super) fn note(&mut self, tool: &ToolName, said: Said) {
        self.kept(tool).said = Some(said);
    }

    fn accepted(&self, tool: &ToolName) -> Option<&RawValue> {
        self.tools.get(tool.as_str()).and_then(|kept| kept.accepted.as_deref())
    }

    fn flagged(&self, tool: &ToolName) -> Option<&RawValue> {
        self.tools.get(tool.as_str()).and_then(|kept| kept.flagged.as_deref())
    }

    fn kept(&mut self, tool: &ToolName) -> &mut Kept {
        self.tools.entry(tool.as_str().to_owned()).or_default()
    }
}

fn of_format<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        FORMAT => Ok(FORMAT),
        other => Err(serde::de::Error::custom(format!("format {other} is not known"))),
    }
}
