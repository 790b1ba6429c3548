//! Shared parts of the sign-in commands: accounts, sign-in pages, typed secrets.
//!
//! | part | module |
//! |---|---|
//! | the account of a server, or the reason why it has none | here |
//! | showing a page and waiting for the user | `guide` |
//! | typed or piped input: URLs and secrets | `typed_lines` |

mod guide;
mod typed_lines;

use mcparley::auth::Account;
use mcparley::config::LoadedConfig;
use mcparley::config::plan::PlannedServer;
use mcparley::model::config::{ServerConfig, TransportConfig};
use mcparley::pool::connect::ConnectContext;
use mcparley_auth::vault::Vault;

use crate::error::{CommandError, NoSignInReason};
use crate::out::TerminalOutput;

pub(crate) use guide::SignInGuide;
pub(crate) use typed_lines::{SecretOwner, read_client_secret};

/// A server with its account, for servers that a user can sign in to.
#[derive(Clone)]
pub(crate) struct ServerAccount<'p> {
    pub(crate) server: &'p PlannedServer,
    pub(crate) account: Account,
}

impl<'p> ServerAccount<'p> {
    /// The account of a configured server; `None` if the server has no sign-in.
    pub(crate) fn from_planned(server: &'p PlannedServer, connect_context: &ConnectContext) -> Option<Self> {
        let account = connect_context.account_for(&server.name, server.config.as_ref()?)?;
        Some(Self { server, account })
    }

    /// The accounts of all entries of this name.
    ///
    /// # Errors
    /// The server is unknown, or none of its entries has a sign-in.
    pub(crate) fn find_by_name(
        name: &str,
        loaded: &'p LoadedConfig,
        connect_context: &ConnectContext,
    ) -> Result<Vec<Self>, CommandError> {
        let declared = loaded.plan.servers_by_name(name);
        if declared.is_empty() {
            return Err(CommandError::NotFound {
                name: name.to_owned(),
                similar: loaded.similar_server_names(name),
            });
        }
        let doors: Vec<Self> =
            declared.iter().filter_map(|server| Self::from_planned(server, connect_context)).collect();
        match (doors.is_empty(), declared.first()) {
            (true, Some(server)) => Err(no_sign_in_error(server)),
            (_, _) => Ok(doors),
        }
    }

    pub(crate) fn name(&self) -> &'p str {
        self.server.name.as_str()
    }
}

/// The error about a server that has no sign-in.
pub(crate) fn no_sign_in_error(server: &PlannedServer) -> CommandError {
    let why = match server.config.as_ref().map(|config: &ServerConfig| &config.transport) {
        None => NoSignInReason::Unusable(Box::new(server.status.clone())),
        Some(TransportConfig::Http(_) | TransportConfig::Sse(_) | TransportConfig::Ws(_)) => {
            NoSignInReason::OwnHeader
        }
        Some(TransportConfig::ClaudeAiProxy { .. }) => NoSignInReason::Connector,
        Some(TransportConfig::SseIde(_) | TransportConfig::WsIde(_)) => NoSignInReason::Editor,
        Some(TransportConfig::Stdio(_) | TransportConfig::Sdk { .. }) => NoSignInReason::Local,
    };
    CommandError::NoSignIn { server: server.name.clone(), why }
}

/// Prints the notices of the vault about the storage of secrets.
pub(crate) fn print_vault_notices(vault: Option<&Vault>, out: &mut TerminalOutput) {
    for notice in vault.map(Vault::take_notices).unwrap_or_default() {
        out.print_remark(&notice.to_string());
    }
}
