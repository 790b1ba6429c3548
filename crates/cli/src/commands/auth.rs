//! `auth status`: the sign-ins and the vault that stores them. Connects to no server and shows no secret.

mod idp;
mod sign_in_state;

use mcparley::config::LoadedConfig;
use mcparley::pool::connect::ConnectContext;
use mcparley_auth::vault::{KeyLocation, Vault, VaultError};
use serde::Serialize;
use serde_json::json;

use super::{CommandResult, print_problems};
use crate::args::{AuthCommand, AuthStatusArgs};
use crate::context::Context;
use crate::error::{CommandError, with_sources};
use crate::exit;
use crate::out::{TerminalOutput, dim};
use crate::runtime;
use crate::sign_in::{ServerAccount, print_vault_notices};
pub(super) use sign_in_state::SignInReport;

pub(super) fn run(
    command: &AuthCommand,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    match command {
        AuthCommand::Status(args) => run_status(args, context, loaded, out),
        AuthCommand::Idp { command } => idp::run(command, context, loaded, out),
    }
}

fn run_status(
    args: &AuthStatusArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let connect_context = context.connect_context(loaded);
    let doors =
        select_accounts(args, loaded, &connect_context).inspect_err(|_| print_problems(loaded, out))?;
    let (kept, provider, standings) = runtime::run_cancelable(async {
        let mut standings = Vec::new();
        for door in &doors {
            standings.push(SignInReport::from_account(door).await);
        }
        let provider = idp::IdentityProviderReport::from_settings(loaded, &context.paths).await;
        (VaultReport::from_vault(context, connect_context.accounts().vault()).await, provider, standings)
    })?;
    if out.json {
        out.print_json(&json!({ "servers": standings, "identityProvider": provider, "vault": kept }));
    } else {
        print_problems(loaded, out);
        if standings.is_empty() {
            out.print_line("No servers to sign in to.");
        }
        standings.iter().for_each(|standing| standing.print_report(out));
        if let Some(provider) = &provider {
            provider.print_report(out);
        }
        kept.print_report(out);
    }
    print_vault_notices(connect_context.accounts().vault(), out);
    Ok(exit::OK)
}

/// The accounts of all entries, one for each sign-in.
fn select_accounts<'l>(
    args: &AuthStatusArgs,
    loaded: &'l LoadedConfig,
    connect_context: &ConnectContext,
) -> Result<Vec<ServerAccount<'l>>, CommandError> {
    let mut doors: Vec<ServerAccount<'l>> = Vec::new();
    if args.servers.is_empty() {
        let servers = loaded.plan.servers.iter().rev();
        doors.extend(servers.filter_map(|server| ServerAccount::from_planned(server, connect_context)));
    }
    for name in &args.servers {
        doors.extend(ServerAccount::find_by_name(name, loaded, connect_context)?);
    }
    let mut seen = Vec::new();
    doors.retain(|door| {
        let same = (door.server.name.clone(), door.server.signature());
        let is_new = !seen.contains(&same);
        seen.push(same);
        is_new
    });
    doors.sort_by(|one, other| one.server.name.cmp(&other.server.name));
    Ok(doors)
}

/// The vault: its file, and the storage of its key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VaultReport {
    file: String,
    /// The storage of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'static str>,
    /// The reason why no safer storage is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    place: String,
}

impl VaultReport {
    async fn from_vault(context: &Context, vault: Option<&Vault>) -> Self {
        let folder = context.paths.secrets.clone().unwrap_or_default();
        let keeper: Option<Result<KeyLocation, VaultError>> = match vault {
            Some(vault) => Some(vault.key_location().await),
            None => None,
        };
        let keeper = keeper.transpose();
        let error = keeper.as_ref().err().map(|error| with_sources(error));
        let keeper = keeper.ok().flatten();
        Self {
            file: folder.join("vault").to_string_lossy().into_owned(),
            key: keeper.as_ref().map(KeyLocation::as_str),
            notice: keeper.as_ref().and_then(KeyLocation::notice),
            place: keeper.map(|keeper| keeper.to_string()).unwrap_or_default(),
            error,
        }
    }

    fn print_report(&self, out: &mut TerminalOutput) {
        out.print_line(dim(&format!("sign-ins are stored in {}", self.file)));
        match (&self.notice, &self.error) {
            (_, Some(error)) => out.print_error(error),
            (Some(notice), None) => out.print_line(format!("  {}", dim(notice))),
            (None, None) => {
                out.print_line(format!("  {}", dim(&format!("its key is in the {}", self.place))))
            }
        }
    }
}
