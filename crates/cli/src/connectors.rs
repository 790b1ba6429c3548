//! Adds the organisation's connectors to what was loaded, for commands that show or use them.
//!
//! A command that ends waits for the catalogue only so long; without it there is a problem to tell and all else is
//! as usual.

use std::sync::Arc;

use mcparley::model::limits::CATALOGUE_PATIENCE;
use mcparley::model::plan::Enterprise;
use mcparley::model::secret::Secret;
use mcparley::{ConnectorError, Loaded, Organisation, StoredToken, Surroundings};

use crate::args::{
    CallArgs, DisableArgs, DoctorArgs, EnableArgs, GetArgs, ListArgs, LoginArgs, LogoutArgs, LogsArgs,
    McpCommand, PromptArgs, PromptsArgs, ReadArgs, ReconnectArgs, ResourcesArgs, SearchArgs, SkillsArgs,
    ToolsArgs, WaitReadyArgs,
};
use crate::context::Context;
use crate::error::CommandError;
use crate::live;

/// Whether a command needs to know them. One that names a server of another kind does not wait for them.
pub(crate) fn are_wanted(command: &McpCommand, loaded: &Loaded) -> bool {
    let may_be = |word: &str| {
        let is_other_tool = word.starts_with("mcp__") && !word.starts_with("mcp__claude_ai");
        !is_other_tool && loaded.plan.named(word).is_empty()
    };
    match command {
        McpCommand::List(ListArgs { offline, check: _ }) => !offline,
        McpCommand::Plan(_) | McpCommand::State(_) | McpCommand::Agents(_) | McpCommand::Budget(_) => true,
        McpCommand::Tools(ToolsArgs { server, .. })
        | McpCommand::Search(SearchArgs { server, .. })
        | McpCommand::Resources(ResourcesArgs { server, .. })
        | McpCommand::Skills(SkillsArgs { server, .. })
        | McpCommand::Prompts(PromptsArgs { server, .. }) => {
            server.as_deref().is_none_or(may_be)
        }
        McpCommand::Call(CallArgs { target: word, .. })
        | McpCommand::Prompt(PromptArgs { target: word, .. })
        | McpCommand::Read(ReadArgs { server: word, .. })
        | McpCommand::Get(GetArgs { name: word, .. })
        | McpCommand::Reconnect(ReconnectArgs { name: word })
        | McpCommand::Enable(EnableArgs { name: word, .. })
        | McpCommand::Disable(DisableArgs { name: word, .. }) => may_be(word),
        McpCommand::WaitReady(WaitReadyArgs { servers, .. }) | McpCommand::Doctor(DoctorArgs { servers }) => {
            servers.is_empty() || servers.iter().any(|name| may_be(name))
        }
        // Nobody signs in to them one by one; who tries is told so.
        McpCommand::Login(LoginArgs { servers, .. }) | McpCommand::Logout(LogoutArgs { servers, .. }) => {
            servers.iter().any(|name| may_be(name))
        }
        McpCommand::Logs(LogsArgs { server, .. }) => server.as_deref().is_some_and(may_be),
        McpCommand::Add(_)
        | McpCommand::AddJson(_)
        | McpCommand::Remove(_)
        | McpCommand::Trust(_)
        | McpCommand::Approve(_)
        | McpCommand::Reject(_)
        | McpCommand::ResetProjectChoices
        | McpCommand::Pending
        | McpCommand::Import(_)
        // It adds them when they are there, and waits for nobody.
        | McpCommand::Serve(_)
        | McpCommand::Auth { .. }
        | McpCommand::Hooks { .. }
        | McpCommand::Permissions { .. } => false,
    }
}

/// What was loaded, with them.
pub(crate) fn added(context: &mut Context, loaded: Loaded) -> Result<Loaded, CommandError> {
    let known = match organisation(context, &loaded) {
        Ok(None) => return Ok(loaded),
        Ok(Some(organisation)) => {
            let surroundings = Surroundings::new(&loaded.env, &context.paths);
            let known = live::beforehand(organisation.fetch(&surroundings, CATALOGUE_PATIENCE))?;
            context.organisation = Some(organisation);
            known
        }
        Err(error) => Err(error),
    };
    context.load_with(&known)
}

/// Whose connectors there are to ask for.
///
/// # Errors
/// When it is not said as it must be.
pub(crate) fn organisation(
    context: &Context,
    loaded: &Loaded,
) -> Result<Option<Organisation>, ConnectorError> {
    // Where no connector may run, nobody is asked for them.
    if context.run_options.strict || loaded.enterprise != Enterprise::Absent {
        return Ok(None);
    }
    let env = &context.run_options.env;
    let given = env.get("MCPARLEY_CONNECTORS_TOKEN").filter(|token| !token.is_empty());
    let given = given.map(|token| Secret::new(token.to_owned()));
    let token = StoredToken::new(given, context.paths.claude.dir.join(".credentials.json"));
    Organisation::configured(&loaded.settings, env, Arc::new(token))
}
