//! `auth status`: where you are signed in, and where that is kept. Asks no server, and shows no secret.

mod idp;
mod standing;

use mcparley::{Loaded, Surroundings};
use mcparley_auth::vault::{Keeper, Vault, VaultError};
use serde::Serialize;
use serde_json::json;

use super::{Done, tell_problems};
use crate::args::{AuthCommand, AuthStatusArgs};
use crate::context::Context;
use crate::error::{CommandError, with_sources};
use crate::exit;
use crate::live;
use crate::out::{Out, dim};
use crate::sign_in::{Door, tell_notices};
pub(super) use standing::SignInReport;

pub(super) fn run(command: &AuthCommand, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    match command {
        AuthCommand::Status(args) => status(args, context, loaded, out),
        AuthCommand::Idp { command } => idp::run(command, context, loaded, out),
    }
}

fn status(args: &AuthStatusArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let surroundings = context.surroundings(loaded);
    let doors = chosen(args, loaded, &surroundings).inspect_err(|_| tell_problems(loaded, out))?;
    let (kept, provider, standings) = live::run(async {
        let mut standings = Vec::new();
        for door in &doors {
            standings.push(SignInReport::of(door).await);
        }
        let provider = idp::Report::of(loaded, &context.paths).await;
        (Kept::of(context, surroundings.accounts().vault()).await, provider, standings)
    })?;
    if out.json {
        out.value(&json!({ "servers": standings, "identityProvider": provider, "vault": kept }));
    } else {
        tell_problems(loaded, out);
        if standings.is_empty() {
            out.line("There are no servers to sign in to.");
        }
        standings.iter().for_each(|standing| standing.tell(out));
        if let Some(provider) = &provider {
            provider.tell(out);
        }
        kept.tell(out);
    }
    tell_notices(surroundings.accounts().vault(), out);
    Ok(exit::OK)
}

/// Every declaration that can be signed in to, once for each sign-in.
fn chosen<'l>(
    args: &AuthStatusArgs,
    loaded: &'l Loaded,
    surroundings: &Surroundings,
) -> Result<Vec<Door<'l>>, CommandError> {
    let mut doors: Vec<Door<'l>> = Vec::new();
    if args.servers.is_empty() {
        let servers = loaded.plan.servers.iter().rev();
        doors.extend(servers.filter_map(|server| Door::of(server, surroundings)));
    }
    for name in &args.servers {
        doors.extend(Door::named(name, loaded, surroundings)?);
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

/// Where secrets are kept.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    file: String,
    /// Which place has its key.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'static str>,
    /// Why not a better one.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    place: String,
}

impl Kept {
    async fn of(context: &Context, vault: Option<&Vault>) -> Self {
        let folder = context.paths.secrets.clone().unwrap_or_default();
        let keeper: Option<Result<Keeper, VaultError>> = match vault {
            Some(vault) => Some(vault.keeper().await),
            None => None,
        };
        let keeper = keeper.transpose();
        let error = keeper.as_ref().err().map(|error| with_sources(error));
        let keeper = keeper.ok().flatten();
        Self {
            file: folder.join("vault").to_string_lossy().into_owned(),
            key: keeper.as_ref().map(Keeper::as_str),
            notice: keeper.as_ref().and_then(Keeper::notice),
            place: keeper.map(|keeper| keeper.to_string()).unwrap_or_default(),
            error,
        }
    }

    fn tell(&self, out: &mut Out) {
        out.line(dim(&format!("sign-ins are kept in {}", self.file)));
        match (&self.notice, &self.error) {
            (_, Some(error)) => out.complain(error),
            (Some(notice), None) => out.line(format!("  {}", dim(notice))),
            (None, None) => out.line(format!("  {}", dim(&format!("its key is in the {}", self.place)))),
        }
    }
}
