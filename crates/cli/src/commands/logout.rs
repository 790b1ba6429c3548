//! `logout`: revokes and deletes tokens, and reports the outcome.

use mcparley::auth::{RevocationReport, SignInStatus, SignOutOutcome};
use mcparley::config::LoadedConfig;
use mcparley::pool::connect::ConnectContext;
use mcparley_auth::revoke;
use serde::Serialize;
use serde_json::json;

use super::{CommandResult, print_problems};
use crate::args::LogoutArgs;
use crate::context::Context;
use crate::error::{CommandError, with_sources};
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;
use crate::sign_in::{ServerAccount, print_vault_notices};
use mcparley_report::SignInTarget;

pub(super) fn run(
    args: &LogoutArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let connect_context = context.connect_context(loaded);
    let doors =
        select_accounts(args, loaded, &connect_context).inspect_err(|_| print_problems(loaded, out))?;
    let departures = runtime::run_with_accounts(&connect_context, sign_out_all(args, &doors))??;
    print_vault_notices(connect_context.accounts().vault(), out);
    if out.json {
        out.print_json(&json!({ "servers": departures }));
    } else if departures.is_empty() {
        out.print_line("You are not signed in to any server.");
    }
    for departure in departures.iter().filter(|_| !out.json).collect::<Vec<_>>() {
        departure.print_report(out);
    }
    Ok(exit::OK)
}

/// The accounts of all entries of the names, also of entries that may not run now.
fn select_accounts<'l>(
    args: &LogoutArgs,
    loaded: &'l LoadedConfig,
    connect_context: &ConnectContext,
) -> Result<Vec<ServerAccount<'l>>, CommandError> {
    if args.all {
        let servers = loaded.plan.servers.iter();
        return Ok(servers
            .filter_map(|server| ServerAccount::from_planned(server, connect_context))
            .collect());
    }
    let named = args.servers.iter().map(|name| ServerAccount::find_by_name(name, loaded, connect_context));
    Ok(named.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

async fn sign_out_all(
    args: &LogoutArgs,
    doors: &[ServerAccount<'_>],
) -> Result<Vec<SignOutReport>, CommandError> {
    let mut departures: Vec<SignOutReport> = Vec::new();
    for door in doors {
        let departure = SignOutReport::sign_out(door).await?;
        let is_known = departures.iter().any(|known| known.server == departure.server);
        // Of several entries of a name, only those that were signed in are reported.
        match departure.is {
            SignOutState::SignedOut => {
                departures
                    .retain(|known| known.server != departure.server || known.is == SignOutState::SignedOut);
                departures.push(departure);
            }
            SignOutState::WasNot if args.all || is_known => {}
            SignOutState::WasNot => departures.push(departure),
        }
    }
    Ok(departures)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum SignOutState {
    SignedOut,
    /// The user was not signed in.
    WasNot,
}

/// The outcome of one sign-out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignOutReport {
    server: String,
    is: SignOutState,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<TokenRevocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_token: Option<TokenRevocation>,
}

/// The outcome of the revocation of one token.
#[derive(Debug, Serialize)]
struct TokenRevocation {
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl SignOutReport {
    /// Signs out of a server.
    pub(super) async fn sign_out(door: &ServerAccount<'_>) -> Result<Self, CommandError> {
        let failed = |error| {
            CommandError::sign_in_failure(SignInTarget::Server(door.name()), std::sync::Arc::new(error))
        };
        let before = door.account.sign_in_status().await.map_err(|error| failed(error.into()))?;
        let server = door.name().to_owned();
        let nothing = Self { server, is: SignOutState::WasNot, refresh_token: None, access_token: None };
        // Without a stored sign-in no vault file is created.
        if matches!(before, SignInStatus::SignedOut) && !door.account.has_record().await {
            return Ok(nothing);
        }
        match door.account.sign_out().await.map_err(failed)? {
            SignOutOutcome { revoked: None } => Ok(nothing),
            SignOutOutcome { revoked: Some(RevocationReport { refresh, access }) } => Ok(Self {
                is: SignOutState::SignedOut,
                refresh_token: TokenRevocation::from_outcome(&refresh),
                access_token: TokenRevocation::from_outcome(&access),
                ..nothing
            }),
        }
    }

    /// Whether the user was signed in before.
    pub(super) fn is_signed_out(&self) -> bool {
        self.is == SignOutState::SignedOut
    }

    pub(super) fn print_report(&self, out: &mut TerminalOutput) {
        let name = bold(&self.server);
        match self.is {
            SignOutState::WasNot => out.print_line(format!("{name}: you were not signed in")),
            SignOutState::SignedOut => out.print_line(format!("{name}: signed out")),
        }
        for (what, fate) in [("refresh token", &self.refresh_token), ("access token", &self.access_token)] {
            if let Some(fate) = fate {
                out.print_remark(&format!(
                    "  the {what} was deleted; the authorization server {}",
                    fate.outcome_text()
                ));
            }
        }
    }
}

impl TokenRevocation {
    fn from_outcome(outcome: &revoke::RevocationOutcome) -> Option<Self> {
        let (is, reason) = match outcome {
            revoke::RevocationOutcome::Absent => return None,
            revoke::RevocationOutcome::Done => ("revoked", None),
            revoke::RevocationOutcome::Unsupported => ("not-offered", None),
            revoke::RevocationOutcome::Failed(error) => ("failed", Some(with_sources(error))),
        };
        Some(Self { is, reason })
    }

    fn outcome_text(&self) -> String {
        match (&self.reason, self.is) {
            (Some(reason), _) => format!("did not revoke it: {reason}"),
            (None, "revoked") => "revoked it".to_owned(),
            (None, _) => "does not support revocation, so it stays valid until it expires".to_owned(),
        }
    }
}
