//! `login`: looks whether servers let us in, and takes a person through signing in to those that do not (A8).
//!
//! One after the other: two pages at once would be two questions at once. Servers that ask the same identity provider
//! need one page between them.

mod outcome;

use std::collections::BTreeMap;

use mcparley::model::config::{Oauth, Remote, Transport};
use mcparley::model::name::ServerName;
use mcparley::model::plan::ServerStanding;
use mcparley::{Checked, Checkup, Flow, Loaded, SignInError, SignInStanding, Surroundings, Way};
use mcparley_auth::authorize::AuthorizeError;
use mcparley_auth::device::DeviceError;
use serde_json::json;

use super::{Done, tell_problems};
use crate::args::LoginArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::{self, Code};
use crate::live;
use crate::out::Out;
use crate::report::effective;
use crate::sign_in::{Door, Guide, Pending, Who, refusal, tell_notices};
use outcome::{Is, Outcome};

pub(super) fn run(args: &LoginArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let surroundings = context.surroundings(loaded);
    let doors = chosen(args, loaded, &surroundings, out)?;
    if !out.json {
        tell_problems(loaded, out);
    }
    let guide = Guide::new(&args.wait, args.device, out);
    let mut session = Session { args, surroundings: surroundings.clone(), guide };
    let outcomes = live::run_with(&surroundings, session.all(&doors, out))?;
    tell_notices(surroundings.accounts().vault(), out);
    finish(args, &outcomes, out)
}

/// The servers that are named, or all that somebody can sign in to.
fn chosen<'l>(
    args: &LoginArgs,
    loaded: &'l Loaded,
    surroundings: &Surroundings,
    out: &mut Out,
) -> Result<Vec<Door<'l>>, CommandError> {
    let servers = effective(&loaded.plan);
    if args.servers.is_empty() {
        let ready = servers.into_iter().filter(|server| server.standing == ServerStanding::Ready);
        return Ok(ready.filter_map(|server| Door::of(server, surroundings)).collect());
    }
    let mut doors: Vec<Door<'l>> = Vec::new();
    for name in &args.servers {
        let Some(server) = servers.iter().find(|server| server.name.as_str() == name) else {
            // It may stand in a file that could not be read.
            tell_problems(loaded, out);
            return Err(CommandError::NotFound { name: name.clone(), similar: loaded.similar(name) });
        };
        if server.standing != ServerStanding::Ready {
            let standing = Box::new(server.standing.clone());
            return Err(CommandError::ServerStanding { name: server.name.clone(), standing });
        }
        let door = Door::of(server, surroundings).ok_or_else(|| refusal(server))?;
        if doors.iter().all(|known| known.name() != name) {
            doors.push(door);
        }
    }
    Ok(doors)
}

/// One run of the command.
struct Session<'a> {
    args: &'a LoginArgs,
    surroundings: Surroundings,
    guide: Guide,
}

impl Session<'_> {
    async fn all(&mut self, doors: &[Door<'_>], out: &mut Out) -> Vec<Outcome> {
        out.waiting(&format!("asking {} server(s) …", doors.len()));
        let mut seen = self.look(doors).await;
        out.waited();
        let mut outcomes = Vec::new();
        for door in doors {
            let Some(checked) = seen.remove(&door.server.name) else { continue };
            let outcome = self.one(door, &checked, out).await;
            if !out.json {
                outcome.tell(out);
            }
            outcomes.push(outcome);
        }
        outcomes
    }

    /// Asks the servers, whatever is remembered of them: the newest challenge says what is wanted.
    async fn look(&self, doors: &[Door<'_>]) -> BTreeMap<ServerName, Checked> {
        let servers: Vec<_> = doors.iter().map(|door| door.server).collect();
        let mut seen = BTreeMap::new();
        let checkup = Checkup::of(self.surroundings.clone());
        checkup.check(&servers, |checked| drop(seen.insert(checked.name.clone(), checked))).await;
        seen
    }

    async fn one(&mut self, door: &Door<'_>, checked: &Checked, out: &mut Out) -> Outcome {
        let is_wanted = checked.wants_sign_in || self.args.force || lacks_rights(door).await;
        if !is_wanted {
            return Outcome::seen(checked, Is::Connected);
        }
        if !self.guide.waits() && door.account.takes_a_person() && !self.is_lost(door) {
            return Outcome::pending(door.name());
        }
        match self.sign_in(door, out).await {
            Ok(()) => match self.look(std::slice::from_ref(door)).await.remove(&door.server.name) {
                Some(checked) => Outcome::seen(&checked, Is::SignedIn),
                None => Outcome::pending(door.name()),
            },
            Err(error) => Outcome::failed(door.name(), &error),
        }
    }

    async fn sign_in(&mut self, door: &Door<'_>, out: &mut Out) -> Result<(), CommandError> {
        let who = Who::Server(door.name());
        let flow = self.begin(door).await.map_err(|error| CommandError::sign_in(who, error.into()))?;
        self.guide.walk(who, &flow, out).await
    }

    /// The highest rung of the ladder that can be stood on: a browser that comes back or is pasted from, else another
    /// device. What needs nobody, and what the identity provider knows, is decided by the entry.
    async fn begin(&self, door: &Door<'_>) -> Result<Flow, SignInError> {
        let account = &door.account;
        if self.args.device {
            return account.begin(Way::Device).await;
        }
        if self.guide.has_a_way_back() {
            return match account.begin(Way::Browser).await {
                Err(SignInError::Authorize(AuthorizeError::NoEndpoint)) => account.begin(Way::Device).await,
                begun => begun,
            };
        }
        match account.begin(Way::Device).await {
            Err(SignInError::Device(DeviceError::NoWay)) => account.begin(Way::Browser).await,
            begun => begun,
        }
    }

    /// Whether nobody could sign in, however long one waits: its entry names somebody who is not configured.
    fn is_lost(&self, door: &Door<'_>) -> bool {
        let oauth = oauth(door);
        oauth.is_some_and(|oauth| oauth.xaa) && self.surroundings.accounts().identity().is_none()
    }
}

fn oauth<'d>(door: &'d Door<'_>) -> Option<&'d Oauth> {
    match &door.server.config.as_ref()?.transport {
        Transport::Http(Remote { oauth, .. })
        | Transport::Sse(Remote { oauth, .. })
        | Transport::Ws(Remote { oauth, .. }) => oauth.as_ref(),
        Transport::Stdio(_)
        | Transport::Sdk { .. }
        | Transport::SseIde(_)
        | Transport::WsIde(_)
        | Transport::ClaudeAiProxy { .. } => None,
    }
}

/// Whether the server has asked for more than we have since somebody signed in.
async fn lacks_rights(door: &Door<'_>) -> bool {
    match door.account.standing().await {
        Ok(SignInStanding::SignedIn { scopes, wanted, .. }) => {
            let has = |scope: &str| scopes.iter().any(|held| held.raw() == scope);
            wanted.iter().any(|scope| !has(scope.raw()))
        }
        // A server that lets us in without one needs none.
        Ok(SignInStanding::SignedOut | SignInStanding::Over) | Err(_) => false,
    }
}

fn finish(args: &LoginArgs, outcomes: &[Outcome], out: &mut Out) -> Done {
    // Without names the question was which servers want a sign-in, not whether all of them work.
    let counts = |outcome: &&Outcome| !args.servers.is_empty() || outcome.is_about_sign_in();
    let codes = outcomes.iter().filter(counts).map(|outcome| outcome.code);
    let code: Code = codes.into_iter().find(|code| *code != exit::OK).unwrap_or(exit::OK);
    if out.json {
        let pending: Vec<Pending> = outcomes.iter().filter_map(Outcome::to_pending).collect();
        out.json_line(&json!({ "servers": outcomes, "pendingAuth": pending }));
    } else if outcomes.is_empty() {
        out.line("There are no servers to sign in to.");
    }
    Ok(code)
}
