//! `login`: checks which servers need a sign-in, and guides the user through each sign-in.
//!
//! Sign-ins run one after the other, because two pages at once would confuse the user. Servers with the same
//! identity provider need only one page together.

mod outcome;

use std::collections::BTreeMap;

use mcparley::auth::{Flow, SignInError, SignInMethod, SignInStatus};
use mcparley::config::LoadedConfig;
use mcparley::config::plan::PlanStatus;
use mcparley::model::config::{OauthConfig, RemoteConfig, TransportConfig};
use mcparley::model::name::ServerName;
use mcparley::pool::connect::ConnectContext;
use mcparley::pool::health::{CheckedServer, HealthCheck};
use mcparley_auth::authorize::AuthorizeError;
use mcparley_auth::device::DeviceError;
use serde_json::json;

use super::{CommandResult, print_problems};
use crate::args::LoginArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::{self, NamedExitCode};
use crate::out::TerminalOutput;
use crate::runtime;
use crate::sign_in::{ServerAccount, SignInGuide, no_sign_in_error, print_vault_notices};
use mcparley_report::effective_servers;
use mcparley_report::{PendingSignIn, SignInTarget};
use outcome::{LoginOutcome, LoginState};

pub(super) fn run(
    args: &LoginArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let connect_context = context.connect_context(loaded);
    let doors = select_accounts(args, loaded, &connect_context, out)?;
    if !out.json {
        print_problems(loaded, out);
    }
    let guide = SignInGuide::new(&args.wait, args.device, out);
    let mut session = LoginRun { args, connect_context: connect_context.clone(), guide };
    let outcomes = runtime::run_with_accounts(&connect_context, session.sign_in_all(&doors, out))?;
    print_vault_notices(connect_context.accounts().vault(), out);
    print_outcomes(args, &outcomes, out)
}

/// The named servers, or all servers that a user can sign in to.
fn select_accounts<'l>(
    args: &LoginArgs,
    loaded: &'l LoadedConfig,
    connect_context: &ConnectContext,
    out: &mut TerminalOutput,
) -> Result<Vec<ServerAccount<'l>>, CommandError> {
    let servers = effective_servers(&loaded.plan);
    if args.servers.is_empty() {
        let ready = servers.into_iter().filter(|server| server.status == PlanStatus::Ready);
        return Ok(ready.filter_map(|server| ServerAccount::from_planned(server, connect_context)).collect());
    }
    let mut doors: Vec<ServerAccount<'l>> = Vec::new();
    for name in &args.servers {
        let Some(server) = servers.iter().find(|server| server.name.as_str() == name) else {
            // The server may be in a file that could not be read.
            print_problems(loaded, out);
            return Err(CommandError::NotFound {
                name: name.clone(),
                similar: loaded.similar_server_names(name),
            });
        };
        if server.status != PlanStatus::Ready {
            let standing = Box::new(server.status.clone());
            return Err(CommandError::ServerUnusable { name: server.name.clone(), standing });
        }
        let door =
            ServerAccount::from_planned(server, connect_context).ok_or_else(|| no_sign_in_error(server))?;
        if doors.iter().all(|known| known.name() != name) {
            doors.push(door);
        }
    }
    Ok(doors)
}

/// The state of one run of `login`.
struct LoginRun<'a> {
    args: &'a LoginArgs,
    connect_context: ConnectContext,
    guide: SignInGuide,
}

impl LoginRun<'_> {
    async fn sign_in_all(
        &mut self,
        doors: &[ServerAccount<'_>],
        out: &mut TerminalOutput,
    ) -> Vec<LoginOutcome> {
        out.show_waiting(&format!("checking {} server(s) …", doors.len()));
        let mut seen = self.check_servers(doors).await;
        out.stop_waiting();
        let mut outcomes = Vec::new();
        for door in doors {
            let Some(checked) = seen.remove(&door.server.name) else { continue };
            let outcome = self.sign_in_if_needed(door, &checked, out).await;
            if !out.json {
                outcome.print_outcome(out);
            }
            outcomes.push(outcome);
        }
        outcomes
    }

    /// Checks the servers without the cache, because only the latest challenge has the required scopes.
    async fn check_servers(&self, doors: &[ServerAccount<'_>]) -> BTreeMap<ServerName, CheckedServer> {
        let servers: Vec<_> = doors.iter().map(|door| door.server).collect();
        let mut seen = BTreeMap::new();
        let checkup = HealthCheck::with_context(self.connect_context.clone());
        checkup.check_servers(&servers, |checked| drop(seen.insert(checked.name.clone(), checked))).await;
        seen
    }

    async fn sign_in_if_needed(
        &mut self,
        door: &ServerAccount<'_>,
        checked: &CheckedServer,
        out: &mut TerminalOutput,
    ) -> LoginOutcome {
        let is_wanted = checked.wants_sign_in || self.args.force || lacks_rights(door).await;
        if !is_wanted {
            return LoginOutcome::from_check(checked, LoginState::Connected);
        }
        if !self.guide.waits_for_user() && door.account.needs_user() && !self.lacks_identity_provider(door) {
            return LoginOutcome::for_pending_sign_in(door.name());
        }
        match self.sign_in(door, out).await {
            Ok(()) => match self.check_servers(std::slice::from_ref(door)).await.remove(&door.server.name) {
                Some(checked) => LoginOutcome::from_check(&checked, LoginState::SignedIn),
                None => LoginOutcome::for_pending_sign_in(door.name()),
            },
            Err(error) => LoginOutcome::from_error(door.name(), &error),
        }
    }

    async fn sign_in(
        &mut self,
        door: &ServerAccount<'_>,
        out: &mut TerminalOutput,
    ) -> Result<(), CommandError> {
        let who = SignInTarget::Server(door.name());
        let flow =
            self.begin_flow(door).await.map_err(|error| CommandError::sign_in_failure(who, error.into()))?;
        self.guide.run_flow(who, &flow, out).await
    }

    /// Starts the best available flow: the browser if its redirect can reach this process, otherwise the
    /// device flow. Grants without a user, and cross-app access, are selected by the entry.
    async fn begin_flow(&self, door: &ServerAccount<'_>) -> Result<Flow, SignInError> {
        let account = &door.account;
        if self.args.device {
            return account.begin_sign_in(SignInMethod::Device).await;
        }
        if self.guide.can_receive_redirect() {
            return match account.begin_sign_in(SignInMethod::Browser).await {
                Err(SignInError::Authorize(AuthorizeError::NoEndpoint)) => {
                    account.begin_sign_in(SignInMethod::Device).await
                }
                begun => begun,
            };
        }
        match account.begin_sign_in(SignInMethod::Device).await {
            Err(SignInError::Device(DeviceError::Unsupported)) => {
                account.begin_sign_in(SignInMethod::Browser).await
            }
            begun => begun,
        }
    }

    /// Whether the entry requires an identity provider and none is configured, so that a sign-in cannot
    /// succeed.
    fn lacks_identity_provider(&self, door: &ServerAccount<'_>) -> bool {
        let oauth = oauth_settings(door);
        oauth.is_some_and(|oauth| oauth.xaa) && self.connect_context.accounts().identity().is_none()
    }
}

fn oauth_settings<'d>(door: &'d ServerAccount<'_>) -> Option<&'d OauthConfig> {
    match &door.server.config.as_ref()?.transport {
        TransportConfig::Http(RemoteConfig { oauth, .. })
        | TransportConfig::Sse(RemoteConfig { oauth, .. })
        | TransportConfig::Ws(RemoteConfig { oauth, .. }) => oauth.as_ref(),
        TransportConfig::Stdio(_)
        | TransportConfig::Sdk { .. }
        | TransportConfig::SseIde(_)
        | TransportConfig::WsIde(_)
        | TransportConfig::ClaudeAiProxy { .. } => None,
    }
}

/// Whether the server has requested scopes that the current sign-in does not have.
async fn lacks_rights(door: &ServerAccount<'_>) -> bool {
    match door.account.sign_in_status().await {
        Ok(SignInStatus::SignedIn { scopes, wanted, .. }) => {
            let has = |scope: &str| scopes.iter().any(|held| held.raw() == scope);
            wanted.iter().any(|scope| !has(scope.raw()))
        }
        // The server accepted the connection without a sign-in, so it needs none.
        Ok(SignInStatus::SignedOut | SignInStatus::Expired) | Err(_) => false,
    }
}

fn print_outcomes(args: &LoginArgs, outcomes: &[LoginOutcome], out: &mut TerminalOutput) -> CommandResult {
    // Without names the user asked which servers need a sign-in, not whether all servers work.
    let counts = |outcome: &&LoginOutcome| !args.servers.is_empty() || outcome.is_about_sign_in();
    let codes = outcomes.iter().filter(counts).map(|outcome| outcome.code);
    let code: NamedExitCode = codes.into_iter().find(|code| *code != exit::OK).unwrap_or(exit::OK);
    if out.json {
        let pending: Vec<PendingSignIn> = outcomes.iter().filter_map(LoginOutcome::to_pending).collect();
        out.print_json_line(&json!({ "servers": outcomes, "pendingAuth": pending }));
    } else if outcomes.is_empty() {
        out.print_line("No servers to sign in to.");
    }
    Ok(code)
}
