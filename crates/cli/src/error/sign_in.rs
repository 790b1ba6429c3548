//! Servers without a sign-in, and exit codes of failed sign-ins.

use mcparley::auth::{ResponsibleParty, SignInError};
use mcparley::config::plan::PlanStatus;
use mcparley::model::name::ServerName;

use crate::exit::{self, NamedExitCode};

/// The reason why a server has no sign-in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoSignInReason {
    /// The entry of the server is invalid.
    #[error("{}", .0.reason().unwrap_or_else(|| "its entry is invalid".to_owned()))]
    Unusable(Box<PlanStatus>),
    /// The entry already sends a credential.
    #[error("its entry has an `Authorization` header of its own")]
    OwnHeader,
    /// The server is a connector; connectors share the sign-in to the organization.
    #[error("it is a connector of your organization")]
    Connector,
    /// The server is an editor; editors provide their token in a file.
    #[error("it is an editor")]
    Editor,
    /// The server is a local program.
    #[error("it runs on this machine")]
    Local,
}

impl NoSignInReason {
    pub(super) fn hint(&self, server: &ServerName) -> Option<String> {
        let hint = match self {
            Self::Unusable(standing) => return standing.hint(server),
            Self::OwnHeader => "remove the header from the entry to sign in instead",
            Self::Connector => {
                "sign in again with the program that has the token, or set `MCPARLEY_CONNECTORS_TOKEN`"
            }
            Self::Editor => return None,
            Self::Local => "pass credentials to it with `mcparley add -e KEY=VALUE`",
        };
        Some(hint.to_owned())
    }
}

pub(super) fn sign_in_exit_code(error: &SignInError) -> NamedExitCode {
    match error.responsible_party() {
        ResponsibleParty::User => exit::NEEDS_AUTH,
        ResponsibleParty::Configuration => exit::CONFIG,
        ResponsibleParty::Machine => exit::FILE,
        ResponsibleParty::Server => exit::UNREACHABLE,
        ResponsibleParty::Timeout => exit::TIMED_OUT,
        ResponsibleParty::Caller => exit::USAGE,
    }
}
