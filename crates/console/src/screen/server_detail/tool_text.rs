//! A tool as text: its row with signature, hints and counts, and its whole definition.

use mcparley::catalog::tool_signature;
use mcparley::host::CallCount;
use mcparley::model::tool::Tool;

use super::super::detail_item::pretty_json;
use super::super::popup::Popup;
use super::super::row_state::RowTone;
use super::super::server_row::{count_of, group_digits};
use super::{DetailRow, ToolStates};

impl ToolStates {
    /// Whether the server's entry switches the tool on.
    pub(in super::super) fn is_enabled(&self, tool: &Tool) -> bool {
        self.switches.is_enabled(&tool.name)
    }

    /// The row of a tool: its signature, and the hints and counts at the end.
    pub(super) fn row(&self, tool: &Tool) -> DetailRow {
        let mut remark: Vec<String> = short_hints(tool).map(str::to_owned).into_iter().collect();
        remark.extend(self.state_words(tool).into_iter().map(str::to_owned));
        remark.extend(self.counts.get(&tool.name).map(format_count));
        let tone = if self.is_enabled(tool) { RowTone::Plain } else { RowTone::Faint };
        DetailRow { text: tool_signature(tool), remark: remark.join("   "), tone }
    }

    /// The whole definition of a tool.
    pub(super) fn popup(&self, tool: &Tool) -> Popup {
        let mut text = String::new();
        let mut push = |paragraph: &str| {
            text.push_str(paragraph);
            text.push_str("\n\n");
        };
        if let Some(title) = &tool.title {
            push(title);
        }
        if !tool.description.is_empty() {
            push(&tool.description);
        }
        push(&format!("Hints of the server: {}", all_hints(tool).join(", ")));
        let state = self.state_words(tool).map_or("on", |word| word);
        push(&format!("State: {state}"));
        if let Some(count) = self.counts.get(&tool.name) {
            push(&format!("Calls: {}, {} failed", format_count(count), group_digits(count.failures)));
        }
        push("Arguments (JSON Schema):");
        push(&pretty_json(tool.input_schema.get()));
        if let Some(schema) = &tool.output_schema {
            push("Result (JSON Schema):");
            push(&pretty_json(schema.get()));
        }
        Popup::text(&tool_signature(tool), &text)
    }

    /// The state of a tool, unless it is simply on.
    fn state_words(&self, tool: &Tool) -> Option<&'static str> {
        if !self.is_enabled(tool) {
            return Some("off");
        }
        let entry = self.server.as_ref().and_then(|server| self.catalog.find_tool(server, &tool.name))?;
        if self.catalog.is_denied(entry) {
            return Some("denied by a rule");
        }
        entry.definition_change().map(|_| "changed since it was reviewed")
    }
}

/// The hint that matters most: the others are the protocol's defaults for most tools.
fn short_hints(tool: &Tool) -> Option<&'static str> {
    if tool.hints.read_only {
        Some("read-only")
    } else if tool.says_destructive {
        Some("destructive")
    } else {
        None
    }
}

/// Every hint of a tool. They come from the server and permit nothing.
fn all_hints(tool: &Tool) -> Vec<&'static str> {
    let hints = &tool.hints;
    vec![
        if hints.read_only { "read-only" } else { "writes" },
        if hints.destructive { "may destroy" } else { "does not destroy" },
        if hints.idempotent { "idempotent" } else { "not idempotent" },
        if hints.open_world { "reaches other systems" } else { "local only" },
    ]
}

fn format_count(count: &CallCount) -> String {
    let calls = usize::try_from(count.calls).unwrap_or(usize::MAX);
    let mean = count.mean_time();
    match mean.as_secs() {
        0 => format!("{} {} ms", count_of(calls, "call"), mean.as_millis()),
        seconds => format!("{} {seconds} s", count_of(calls, "call")),
    }
}
