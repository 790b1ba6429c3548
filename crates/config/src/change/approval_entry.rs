//! The items of a folder that need approval, each described in full.

use mcparley_model::approval::{ApprovalItem, ItemKind, WaitingItem};
use mcparley_model::config::ReviewField;
use mcparley_model::hook::Hook;

use super::PendingApprovals;
use crate::LoadedConfig;
use crate::plan::PlannedServer;

/// One item that needs approval.
#[derive(Clone, Debug)]
pub struct ApprovalEntry {
    /// The item to record.
    pub item: ApprovalItem,
    /// The kind of item in one word.
    pub kind: &'static str,
    /// The item on one line.
    pub summary: String,
    /// The command or URL as it would run, if that differs from the written form; the user's own values are
    /// masked.
    pub runs: Option<String>,
    /// The file and line that declare it.
    pub origin: String,
    /// The whole item: every field as written, and as it would run.
    pub fields: Vec<ReviewField>,
    /// The risks of the item.
    pub cautions: Vec<String>,
}

/// All items of a folder that need approval.
#[must_use]
pub fn approval_entries(waiting: &PendingApprovals) -> Vec<ApprovalEntry> {
    let servers = waiting.servers.iter().map(|server| (server, None));
    let of_agents = waiting.agents.iter().map(|(agent, server)| (server, Some(agent.as_str())));
    let servers =
        servers.chain(of_agents).filter_map(|(server, agent)| server_entry(server, agent, &waiting.approved));
    let items = waiting.items.iter().filter_map(waiting_entry);
    servers.chain(items).chain(waiting.hooks.iter().map(|hook| hook_entry(hook))).collect()
}

/// The entry of a server; `None` if it needs no approval.
#[must_use]
pub fn server_entry(
    server: &PlannedServer,
    agent: Option<&str>,
    loaded: &LoadedConfig,
) -> Option<ApprovalEntry> {
    let found = server.to_found_server()?;
    let fields = review_fields(server, loaded);
    let is_command = |field: &&ReviewField| {
        field.name == "command" || field.name == "url" || field.name.starts_with("argument ")
    };
    let command: Vec<&ReviewField> = fields.iter().filter(is_command).collect();
    let written: Vec<&str> = command.iter().map(|field| field.written.as_str()).collect();
    let expanded = command.iter().map(|field| field.runs.as_ref().unwrap_or(&field.written).as_str());
    let runs = command.iter().any(|field| field.runs.is_some());
    let runs = runs.then(|| expanded.collect::<Vec<_>>().join(" "));
    let of_agent = agent.map(|agent| format!(" of agent {agent}")).unwrap_or_default();
    let dangerous: Vec<&str> = server.dangerous_variables().collect();
    let caution =
        (!dangerous.is_empty()).then(|| format!("{} can change the program that runs", dangerous.join(", ")));
    Some(ApprovalEntry {
        item: ApprovalItem::for_server(found.name.as_str(), found.definition),
        kind: "server",
        summary: format!("{}{of_agent}  {}", server.name.as_str(), written.join(" ")),
        runs,
        origin: server.origin.to_string(),
        fields,
        cautions: server.cautions.iter().map(ToString::to_string).chain(caution).collect(),
    })
}

fn waiting_entry(waiting: &WaitingItem) -> Option<ApprovalEntry> {
    let kind = match waiting.item.kind {
        ItemKind::Rule => "allow",
        ItemKind::Variable => "variable",
        ItemKind::Server | ItemKind::Hook => return None,
    };
    let is_wide = waiting.item.kind == ItemKind::Rule && waiting.text == "*";
    Some(ApprovalEntry {
        item: waiting.item.clone(),
        kind,
        summary: waiting.text.clone(),
        runs: None,
        origin: waiting.origin.to_string(),
        fields: vec![review_field("why", &waiting.why.to_string())],
        cautions: is_wide.then(|| "allows every tool of every server".to_owned()).into_iter().collect(),
    })
}

fn hook_entry(hook: &Hook) -> ApprovalEntry {
    ApprovalEntry {
        item: hook.approval_item(),
        kind: "hook",
        summary: format!("{}  {}", hook.event.as_str(), hook.command.expose()),
        runs: None,
        origin: hook.origin.to_string(),
        fields: hook_fields(hook),
        cautions: Vec::new(),
    }
}

/// The fields of a server as written and as they would run.
#[must_use]
pub fn review_fields(server: &PlannedServer, loaded: &LoadedConfig) -> Vec<ReviewField> {
    let Some(raw) = &server.raw else { return Vec::new() };
    raw.review_fields(server.config.as_ref(), &loaded.env, |name| loaded.is_own_variable(name))
}

/// The fields of a hook: the tools it is for, its command and its arguments.
#[must_use]
pub fn hook_fields(hook: &Hook) -> Vec<ReviewField> {
    let matcher = if hook.matcher.as_str().is_empty() { "*" } else { hook.matcher.as_str() };
    let mut fields = vec![review_field("for", matcher), review_field("command", hook.command.expose())];
    let arguments = hook.args.iter().flatten().enumerate();
    fields.extend(arguments.map(|(at, text)| review_field(&format!("argument {}", at + 1), text.expose())));
    fields
}

fn review_field(name: &str, written: &str) -> ReviewField {
    ReviewField { name: name.to_owned(), written: written.to_owned(), runs: None }
}
