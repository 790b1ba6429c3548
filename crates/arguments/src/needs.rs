//! The table of inputs that each command needs before it runs: agent view, connectors, fallback permission
//! mode.

#[cfg(test)]
mod tests;

use mcparley::model::permission::PermissionMode;

use super::{
    AgentOption, AskArgs, BudgetArgs, CallArgs, DisableArgs, DoctorArgs, EnableArgs, GetArgs, ListArgs,
    LoginArgs, LogoutArgs, LogsArgs, McpCommand, PlanArgs, PromptArgs, PromptsArgs, ReadArgs, ReconnectArgs,
    ResourcesArgs, SearchArgs, SkillsArgs, StateArgs, ToolsArgs, WaitReadyArgs,
};

/// The inputs that a command needs besides the configuration.
#[derive(Debug, Default)]
pub struct CommandNeeds<'c> {
    /// The agent view, for commands that take `--agent`.
    pub view: Option<AgentView<'c>>,
    /// The connectors of the organization.
    pub connectors: ConnectorNeed<'c>,
    /// The permission mode used if neither an option nor any settings set one.
    pub fallback_mode: Option<PermissionMode>,
    /// The tools that are offered, as globs; none means all.
    pub offered_tools: &'c [String],
}

/// The agent view of a command.
#[derive(Debug)]
pub struct AgentView<'c> {
    /// The option `--agent`.
    pub seen_by: &'c AgentOption,
    /// A server that the command shows even if only an agent defines it.
    pub server: Option<&'c str>,
}

/// Whether a command needs the connectors of the organization.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum ConnectorNeed<'c> {
    /// The command never uses connectors.
    #[default]
    Unused,
    /// The command uses all connectors.
    All,
    /// The command uses connectors only if one of these words may name a connector or one of its tools.
    Named(Vec<&'c str>),
}

impl McpCommand {
    /// The row of this command in the table.
    #[must_use]
    pub fn needs(&self) -> CommandNeeds<'_> {
        let none = CommandNeeds::default();
        match self {
            Self::List(ListArgs { offline: false, .. }) | Self::Agents(_) => none.with_connectors(),
            Self::Plan(PlanArgs { seen_by, .. })
            | Self::State(StateArgs { seen_by })
            | Self::Ask(AskArgs { seen_by, .. })
            | Self::Budget(BudgetArgs { seen_by, .. }) => none.with_view(seen_by).with_connectors(),
            Self::Tools(ToolsArgs { seen_by, server, .. })
            | Self::Search(SearchArgs { seen_by, server, .. })
            | Self::Resources(ResourcesArgs { seen_by, server, .. })
            | Self::Skills(SkillsArgs { seen_by, server, .. })
            | Self::Prompts(PromptsArgs { seen_by, server, .. }) => {
                none.with_view(seen_by).with_connectors_named_or_all(server.as_slice())
            }
            Self::Call(CallArgs { seen_by, target: word, .. })
            | Self::Prompt(PromptArgs { seen_by, target: word, .. })
            | Self::Read(ReadArgs { seen_by, server: word, .. }) => {
                none.with_view(seen_by).with_connectors_named([word])
            }
            Self::Get(GetArgs { seen_by, name, .. }) => {
                none.with_view(seen_by).with_agent_server(name).with_connectors_named([name])
            }
            Self::WaitReady(WaitReadyArgs { servers, .. }) | Self::Doctor(DoctorArgs { servers }) => {
                none.with_connectors_named_or_all(servers)
            }
            Self::Reconnect(ReconnectArgs { name })
            | Self::Enable(EnableArgs { name, .. })
            | Self::Disable(DisableArgs { name, .. }) => none.with_connectors_named([name]),
            // A connector has no sign-in of its own. Fetching it here makes the error say so instead of "not
            // found".
            Self::Login(LoginArgs { servers, .. }) | Self::Logout(LogoutArgs { servers, .. }) => {
                none.with_connectors_named(servers)
            }
            Self::Logs(LogsArgs { server, .. }) => none.with_connectors_named(server),
            // `serve` adds connectors when they arrive and does not wait for them. Calls that no rule decides
            // are left to the permission dialog of its client.
            Self::Serve(args) => {
                let fallback_mode = Some(PermissionMode::Client);
                CommandNeeds { fallback_mode, offered_tools: &args.tools, ..none }
            }
            Self::List(ListArgs { offline: true, .. })
            // The screen and the web page add connectors when they arrive.
            | Self::Screen(_)
            | Self::Ui(_)
            | Self::Add(_)
            | Self::AddJson(_)
            | Self::Remove(_)
            | Self::Auth { .. }
            | Self::Trust(_)
            | Self::Approve(_)
            | Self::Reject(_)
            | Self::ResetProjectChoices
            | Self::Pending(_)
            | Self::Tasks(_)
            | Self::Daemon { .. }
            | Self::Import(_)
            | Self::Connect(_)
            | Self::Hooks { .. }
            | Self::Permissions { .. } => none,
        }
    }
}

impl<'c> CommandNeeds<'c> {
    fn with_view(self, seen_by: &'c AgentOption) -> Self {
        Self { view: Some(AgentView { seen_by, server: None }), ..self }
    }

    fn with_agent_server(self, server: &'c str) -> Self {
        Self { view: self.view.map(|view| AgentView { server: Some(server), ..view }), ..self }
    }

    fn with_connectors(self) -> Self {
        Self { connectors: ConnectorNeed::All, ..self }
    }

    fn with_connectors_named(self, words: impl IntoIterator<Item = &'c String>) -> Self {
        let words = words.into_iter().map(String::as_str).collect();
        Self { connectors: ConnectorNeed::Named(words), ..self }
    }

    /// Needs the named connectors; all of them if no server is named.
    fn with_connectors_named_or_all(self, words: &'c [String]) -> Self {
        if words.is_empty() { self.with_connectors() } else { self.with_connectors_named(words) }
    }
}
