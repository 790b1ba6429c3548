//! `logout`: gives tokens back, forgets them, and says what came of it.

use mcparley::{Loaded, Revoked, SignInStanding, SignedOut, Surroundings};
use mcparley_auth::revoke;
use serde::Serialize;
use serde_json::json;

use super::{Done, tell_problems};
use crate::args::LogoutArgs;
use crate::context::Context;
use crate::error::{CommandError, with_sources};
use crate::exit;
use crate::live;
use crate::out::{Out, bold};
use crate::sign_in::{Door, Who, tell_notices};

pub(super) fn run(args: &LogoutArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let surroundings = context.surroundings(loaded);
    let doors = chosen(args, loaded, &surroundings).inspect_err(|_| tell_problems(loaded, out))?;
    let departures = live::run_with(&surroundings, leave_all(args, &doors))??;
    tell_notices(surroundings.accounts().vault(), out);
    if out.json {
        out.value(&json!({ "servers": departures }));
    } else if departures.is_empty() {
        out.line("You are signed in to no server.");
    }
    for departure in departures.iter().filter(|_| !out.json).collect::<Vec<_>>() {
        departure.tell(out);
    }
    Ok(exit::OK)
}

/// Every declaration of the names: what cannot run now may have been signed in to before.
fn chosen<'l>(
    args: &LogoutArgs,
    loaded: &'l Loaded,
    surroundings: &Surroundings,
) -> Result<Vec<Door<'l>>, CommandError> {
    if args.all {
        let servers = loaded.plan.servers.iter();
        return Ok(servers.filter_map(|server| Door::of(server, surroundings)).collect());
    }
    let named = args.servers.iter().map(|name| Door::named(name, loaded, surroundings));
    Ok(named.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

async fn leave_all(args: &LogoutArgs, doors: &[Door<'_>]) -> Result<Vec<Departure>, CommandError> {
    let mut departures: Vec<Departure> = Vec::new();
    for door in doors {
        let departure = Departure::of(door).await?;
        let is_known = departures.iter().any(|known| known.server == departure.server);
        // Of several declarations of a name, those say something that had something.
        match departure.is {
            Is::SignedOut => {
                departures.retain(|known| known.server != departure.server || known.is == Is::SignedOut);
                departures.push(departure);
            }
            Is::WasNot if args.all || is_known => {}
            Is::WasNot => departures.push(departure),
        }
    }
    Ok(departures)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Is {
    SignedOut,
    /// There was nothing to forget.
    WasNot,
}

/// What became of one sign-in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Departure {
    server: String,
    is: Is,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<Fate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    access_token: Option<Fate>,
}

/// What became of one token at whoever gave it.
#[derive(Debug, Serialize)]
struct Fate {
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Departure {
    /// Signs out.
    pub(super) async fn of(door: &Door<'_>) -> Result<Self, CommandError> {
        let failed = |error| CommandError::sign_in(Who::Server(door.name()), std::sync::Arc::new(error));
        let before = door.account.standing().await.map_err(|error| failed(error.into()))?;
        let server = door.name().to_owned();
        let nothing = Self { server, is: Is::WasNot, refresh_token: None, access_token: None };
        // Where nothing is kept, no file is made to say so.
        if matches!(before, SignInStanding::SignedOut) && !door.account.is_known().await {
            return Ok(nothing);
        }
        match door.account.sign_out().await.map_err(failed)? {
            SignedOut { revoked: None } => Ok(nothing),
            SignedOut { revoked: Some(Revoked { refresh, access }) } => Ok(Self {
                is: Is::SignedOut,
                refresh_token: Fate::of(&refresh),
                access_token: Fate::of(&access),
                ..nothing
            }),
        }
    }

    /// Whether somebody was signed in.
    pub(super) fn is_one(&self) -> bool {
        self.is == Is::SignedOut
    }

    pub(super) fn tell(&self, out: &mut Out) {
        let name = bold(&self.server);
        match self.is {
            Is::WasNot => out.line(format!("{name}: you were not signed in")),
            Is::SignedOut => out.line(format!("{name}: signed out")),
        }
        for (what, fate) in [("refresh token", &self.refresh_token), ("access token", &self.access_token)] {
            if let Some(fate) = fate {
                out.remark(&format!(
                    "  the {what} is forgotten here; the authorization server {}",
                    fate.in_words()
                ));
            }
        }
    }
}

impl Fate {
    fn of(outcome: &revoke::Outcome) -> Option<Self> {
        let (is, reason) = match outcome {
            revoke::Outcome::Absent => return None,
            revoke::Outcome::Done => ("revoked", None),
            revoke::Outcome::Unsupported => ("not-offered", None),
            revoke::Outcome::Failed(error) => ("failed", Some(with_sources(error))),
        };
        Some(Self { is, reason })
    }

    fn in_words(&self) -> String {
        match (&self.reason, self.is) {
            (Some(reason), _) => format!("did not take it back: {reason}"),
            (None, "revoked") => "took it back".to_owned(),
            (None, _) => "takes none back, so it ends by itself".to_owned(),
        }
    }
}
