//! Calls a tool that the user typed, with the user's consent, and prints its result.

use std::sync::Arc;
use std::time::Instant;

use mcparley::catalog::CatalogEntry;
use mcparley::model::explain::Explain;
use mcparley::model::limits::MESSAGE_BYTES;
use mcparley::model::name::{ServerName, ToolName};
use mcparley::model::similar::similar_names;
use mcparley::permission::Consent;
use mcparley::pool::connection::Unavailable;
use mcparley::{Call, CallError, CallOutcome};
use serde_json::{Map, Value};

use super::Console;
use super::call_log::CallRecord;
use super::input::{InputError, TypedCall, TypedTool};
use super::output::format_duration;
use crate::arguments::{DescribedTool, ParsedWords, TextInput, parse_words, tool_help};

/// The last lines of standard error that are printed for a server that fails.
const STDERR_LINES: usize = 5;

impl Console {
    /// Calls a tool, and prints its result or the reason why there is none.
    pub(super) async fn call_tool(&mut self, call: &TypedCall) {
        let Some(entry) = self.find_entry(&call.tool).await else { return };
        if let Some(arguments) = self.parse_arguments(&entry, &call.words) {
            self.call_entry(&entry, arguments).await;
        }
    }

    /// Looks the tool up, and waits for its server if it is not known yet. Prints the reason if it is not found.
    async fn find_entry(&mut self, tool: &TypedTool) -> Option<Arc<CatalogEntry>> {
        if let Some(entry) = self.look_up(tool) {
            return Some(entry);
        }
        let host = self.host.clone();
        let is_settled = match tool {
            TypedTool::OnServer { server, .. } => {
                let name = ServerName::new(server);
                self.connect_visibly(&name).await
            }
            TypedTool::Public(_) => {
                let ready = host.wait_until_ready(std::time::Duration::MAX / 4);
                self.wait_for("waiting for servers", ready, None).await.is_some()
            }
        };
        let found = if is_settled { self.look_up(tool) } else { return None };
        if found.is_none() {
            self.report_unknown_tool(tool);
        }
        found
    }

    /// Connects to a server while a line says so, and returns whether it can be used; prints the reason if not.
    pub(super) async fn connect_visibly(&mut self, server: &ServerName) -> bool {
        if !self.is_running(server) {
            return false;
        }
        let host = self.host.clone();
        let label = format!("connecting to {}", server.as_str());
        match self.wait_for(&label, host.connect_server(server), None).await {
            Some(Ok(())) => true,
            Some(Err(why)) => {
                self.report_unavailable(server, &why);
                false
            }
            None => {
                self.output.print_remark("canceled");
                false
            }
        }
    }

    fn look_up(&self, tool: &TypedTool) -> Option<Arc<CatalogEntry>> {
        let catalog = self.host.catalog();
        match tool {
            TypedTool::OnServer { server, tool } => {
                catalog.find_tool(&ServerName::new(server), &ToolName::new(tool)).cloned()
            }
            TypedTool::Public(name) => catalog.get(name).cloned(),
        }
    }

    fn report_unknown_tool(&mut self, tool: &TypedTool) {
        match tool {
            TypedTool::OnServer { server, tool } => {
                let catalog = self.host.catalog();
                let own = catalog.iter().filter(|it| it.server().is_some_and(|it| it.as_str() == server));
                let similar = similar_names(tool, own.map(|entry| entry.tool.name.as_str()));
                let similar = similar.iter().map(|name| format!("{server}.{name}")).collect();
                let error = InputError::UnknownTool { server: server.clone(), tool: tool.clone(), similar };
                self.output.print_error(&error, error.hint().as_deref());
            }
            TypedTool::Public(name) => {
                let similar = self.host.catalog().similar_tool_names(name);
                let error = CallError::UnknownTool { name: name.clone(), similar, because: None };
                self.output.print_error(&error, error.hint().as_deref());
            }
        }
    }

    /// Parses the words after the tool; prints the help of the tool or the error, and returns `None` then.
    fn parse_arguments(&mut self, entry: &CatalogEntry, words: &[String]) -> Option<Map<String, Value>> {
        let schema: Value = serde_json::from_str(entry.tool.input_schema.get()).unwrap_or_default();
        // The terminal is read by the prompt, so there is no other standard input.
        let mut nothing = std::io::empty();
        let mut input = TextInput::new(&mut nothing, MESSAGE_BYTES as u64);
        match parse_words(&schema, words, &[], &mut input) {
            Ok(ParsedWords { help: false, arguments, .. }) => Some(arguments),
            Ok(ParsedWords { help: true, .. }) => {
                let help = tool_help(&describe_tool(entry, &schema));
                self.output.print_line(help.trim_end());
                None
            }
            Err(error) => {
                let name = tool_label(entry);
                let hint = error
                    .hint()
                    .map(|hint| hint.replace("mcparley call SERVER TOOL --help", &format!("{name} --help")));
                self.output.print_error(&error, hint.as_deref());
                None
            }
        }
    }

    async fn call_entry(&mut self, entry: &Arc<CatalogEntry>, arguments: Map<String, Value>) {
        let label = tool_label(entry);
        let call = Call::for_entry(entry, arguments).with_consent(Consent::Typed);
        // A person reads the result, so the limits for the model do not apply.
        let (call, progress) = call.without_result_limit().with_progress();
        let (host, start) = (self.host.clone(), Instant::now());
        let outcome = self.wait_for(&format!("calling {label}"), host.call(call), Some(progress)).await;
        let duration = start.elapsed();
        let word = match &outcome {
            None => "canceled",
            Some(Ok(outcome)) if outcome.is_error => "tool error",
            Some(Ok(_)) => "ok",
            Some(Err(CallError::Denied { .. })) => "denied",
            Some(Err(_)) => "failed",
        };
        self.calls.push_call(CallRecord { tool: label.clone(), duration, outcome: word.to_owned() });
        self.hook_notes.print_new(&self.host, &mut self.output);
        match outcome {
            Some(Ok(outcome)) => self.print_outcome(outcome, &format_duration(duration)),
            Some(Err(error)) => self.report_call_error(&error),
            None => {
                self.output.print_remark(&format!("canceled {label} after {}", format_duration(duration)));
            }
        }
    }

    fn print_outcome(&mut self, outcome: CallOutcome, duration: &str) {
        let is_error = outcome.is_error;
        self.output.print_result(outcome.into_text());
        match is_error {
            true => self.output.print_failure(&format!("the tool returned an error ({duration})"), None),
            false => self.output.print_remark(duration),
        }
    }

    fn report_call_error(&mut self, error: &CallError) {
        match error {
            CallError::Unavailable { server, why } => self.report_unavailable(server, why),
            error => self.output.print_error(error, error.hint().as_deref()),
        }
    }

    /// Prints the reason why a server cannot be used, with the end of its standard error.
    pub(super) fn report_unavailable(&mut self, server: &ServerName, why: &Unavailable) {
        let hint = match why {
            Unavailable::NeedsAuth => Some(format!("type /mcp login {}", server.as_str())),
            Unavailable::Disabled => Some(format!("type /mcp enable {}", server.as_str())),
            Unavailable::Failed(error) | Unavailable::Waiting { error, .. } => {
                let said = error.stderr.clean_text();
                let lines: Vec<&str> = said.trim().lines().collect();
                let lines: Vec<&str> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
                for line in lines.iter().skip(lines.len().saturating_sub(STDERR_LINES)) {
                    self.output.print_remark(&format!("stderr: {line}"));
                }
                error.hint()
            }
            _ => None,
        };
        self.output.print_failure(&why.describe_for(server), hint.as_deref());
        self.notices.skip_server(server.as_str());
    }
}

/// The tool for people: `server.tool`, or its public name.
fn tool_label(entry: &CatalogEntry) -> String {
    match entry.server() {
        Some(server) => format!("{}.{}", server.as_str(), entry.tool.name.as_str()),
        None => entry.name.as_str().to_owned(),
    }
}

fn describe_tool<'e>(entry: &'e CatalogEntry, schema: &'e Value) -> DescribedTool<'e> {
    let name = entry.tool.name.as_str();
    let how = match entry.server() {
        Some(server) => vec![server.as_str(), name],
        None => vec![name],
    };
    DescribedTool { how, title: entry.tool.title.as_deref(), description: &entry.tool.description, schema }
}
