//! `auth idp`: the identity provider for servers with `xaa` in their entry (cross-app access).

use std::time::{Duration, SystemTime};

use mcparley::Paths;
use mcparley::auth::{IdentitySettings, SignInError};
use mcparley::config::{LoadedConfig, change};
use mcparley::model::settings::IdentityProvider;
use mcparley::model::time::unix_seconds;
use mcparley::pool::connect::ConnectContext;
use mcparley_auth::UserIdentity;
use serde::Serialize;
use serde_json::json;

use super::sign_in_state::format_duration;
use crate::args::{IdpCommand, IdpSetupArgs, WaitArgs};
use crate::commands::{CommandResult, print_problems};
use crate::context::Context;
use crate::error::{CommandError, UsageError};
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;
use crate::sign_in::{SecretOwner, SignInGuide, print_vault_notices, read_client_secret};
use mcparley_report::{PendingSignIn, SignInTarget};

pub(super) fn run(
    command: &IdpCommand,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    match command {
        IdpCommand::Setup(args) => run_setup(args, context, loaded, out),
        IdpCommand::Login(args) => run_login(args, context, loaded, out),
        IdpCommand::Status => run_status(context, loaded, out),
        IdpCommand::Clear => run_clear(context, loaded, out),
    }
}

fn run_setup(
    args: &IdpSetupArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    if !IdentityProvider::is_issuer(&args.issuer) {
        return Err(UsageError::Issuer.into());
    }
    let provider = IdentityProvider {
        issuer: args.issuer.clone(),
        client_id: args.client_id.clone(),
        callback_port: args.callback_port,
    };
    let read = |out: &mut TerminalOutput| read_client_secret(SecretOwner::IdentityProvider, context, out);
    let secret = if args.client_secret { Some(read(out)?) } else { None };
    let is_secret = secret.is_some();
    if let Some(secret) = secret {
        let identity = build_identity(to_identity_settings(&provider), context, loaded)?;
        runtime::run_unguarded(identity.store_client_secret(secret))?
            .map_err(provider_error(&provider.issuer))?;
    }
    let file = change::set_identity_provider(&context.paths, &provider)?;
    let file = file.to_string_lossy();
    if out.json {
        let named = json!({ "issuer": provider.issuer, "clientId": provider.client_id });
        out.print_json(&json!({ "identityProvider": named, "file": file, "secret": is_secret }));
    } else {
        out.print_line(format!("Set the identity provider {}", bold(&provider.issuer)));
        out.print_line(format!("File: {file}"));
    }
    if loaded
        .settings
        .identity
        .as_ref()
        .is_some_and(|known| known.origin.source.path() != Some(file.as_ref().as_ref()))
    {
        out.warn("another settings file also sets an identity provider, and takes precedence");
    }
    hint_xaa_switch(loaded, out);
    Ok(exit::OK)
}

fn run_login(
    args: &WaitArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let connect_context = context.connect_context(loaded);
    let nobody = || {
        CommandError::sign_in_failure(
            SignInTarget::Provider("of the settings"),
            SignInError::NoIdentity.into(),
        )
    };
    let identity = connect_context.accounts().identity().cloned().ok_or_else(nobody)?;
    let mut guide = SignInGuide::new(args, false, out);
    if !guide.waits_for_user() {
        let pending = PendingSignIn::without_page(SignInTarget::Provider(identity.issuer()));
        match out.json {
            true => out.print_json_line(&json!({ "pendingAuth": [pending] })),
            false => out.hint("sign in from a terminal, or add `--wait` or `--no-browser`"),
        }
        return Ok(exit::NEEDS_AUTH);
    }
    runtime::run_with_accounts(&connect_context, async {
        let who = SignInTarget::Provider(identity.issuer());
        let flow = identity
            .begin_sign_in()
            .await
            .map_err(|error| CommandError::sign_in_failure(who, error.into()))?;
        guide.run_flow(who, &flow, out).await
    })??;
    print_vault_notices(connect_context.accounts().vault(), out);
    run_status(context, loaded, out)
}

fn run_status(context: &Context, loaded: &LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    let report = runtime::run_unguarded(IdentityProviderReport::from_settings(loaded, &context.paths))?;
    if out.json {
        out.print_json_line(&json!({ "identityProvider": report }));
        return Ok(exit::OK);
    }
    print_problems(loaded, out);
    match &report {
        Some(report) => report.print_report(out),
        None => {
            out.print_line("No identity provider is configured.");
            out.hint("run `mcparley auth idp setup --issuer URL --client-id ID` to set one");
        }
    }
    if report.is_some() {
        hint_xaa_switch(loaded, out);
    }
    Ok(exit::OK)
}

fn run_clear(context: &Context, loaded: &LoadedConfig, out: &mut TerminalOutput) -> CommandResult {
    if let Some(settings) = loaded.configured_identity_provider().map(IdentitySettings::from) {
        let issuer = settings.issuer.clone();
        let identity = build_identity(settings, context, loaded)?;
        let forgetting = async {
            if identity.knows_user().await {
                identity.forget_user().await?;
            }
            identity.remove_client_secret().await
        };
        runtime::run_unguarded(forgetting)?.map_err(provider_error(&issuer))?;
    }
    let file = change::remove_identity_provider(&context.paths)?;
    let file = file.map(|file| file.to_string_lossy().into_owned());
    if out.json {
        out.print_json(&json!({ "cleared": loaded.settings.identity.is_some(), "file": file }));
        return Ok(exit::OK);
    }
    match file {
        Some(file) => out.print_line(format!("Removed the identity provider\nFile: {file}")),
        None => out.print_line("No identity provider in your settings."),
    }
    Ok(exit::OK)
}

/// The identity provider, and the user signed in to it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IdentityProviderReport {
    issuer: String,
    client_id: String,
    /// Whether sign-ins to servers use the provider.
    enabled: bool,
    /// The subject that the user is signed in as.
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<String>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl IdentityProviderReport {
    /// Reports the provider; `None` if the settings have none.
    pub(super) async fn from_settings(loaded: &LoadedConfig, paths: &Paths) -> Option<Self> {
        let settings = loaded.configured_identity_provider().map(IdentitySettings::from)?;
        let (issuer, client_id) = (settings.issuer.clone(), settings.client_id.clone());
        let connect_context = ConnectContext::new(&loaded.env, paths).with_identity(Some(settings));
        let person = match connect_context.accounts().identity() {
            Some(identity) => identity.identified_user().await,
            None => None,
        };
        Some(Self {
            issuer,
            client_id,
            enabled: loaded.identity_provider().is_some(),
            expires_at: person.as_ref().map(|person| unix_seconds(person.expires)),
            person: person.map(|person| person.subject.clean_text().into_owned()),
        })
    }

    pub(super) fn print_report(&self, out: &mut TerminalOutput) {
        let left = self.expires_at.map(|at| at.saturating_sub(unix_seconds(SystemTime::now())));
        let who = match (&self.person, left) {
            (Some(person), Some(left)) => {
                format!("signed in as `{person}` for {}", format_duration(Duration::from_secs(left)))
            }
            (_, _) => "not signed in".to_owned(),
        };
        let who = mcparley::model::text::display_line(&who).into_owned();
        out.print_line(format!("identity provider {}: {who}", bold(&self.issuer)));
    }
}

/// The identity for these settings, whether cross-app access is enabled or not.
fn build_identity(
    settings: IdentitySettings,
    context: &Context,
    loaded: &LoadedConfig,
) -> Result<UserIdentity, CommandError> {
    let issuer = settings.issuer.clone();
    let connect_context = ConnectContext::new(&loaded.env, &context.paths).with_identity(Some(settings));
    let identity = connect_context.accounts().identity().cloned();
    identity.ok_or_else(|| provider_error(&issuer)(SignInError::NoIdentity))
}

fn to_identity_settings(provider: &IdentityProvider) -> IdentitySettings {
    IdentitySettings {
        issuer: provider.issuer.clone(),
        client_id: provider.client_id.clone(),
        client_secret: None,
        callback_port: provider.callback_port,
        id_token: None,
    }
}

fn provider_error(issuer: &str) -> impl Fn(SignInError) -> CommandError {
    move |error| CommandError::sign_in_failure(SignInTarget::Provider(issuer), error.into())
}

fn hint_xaa_switch(loaded: &LoadedConfig, out: &mut TerminalOutput) {
    if !loaded.is_identity_enabled() && !out.json {
        out.hint("set `MCPARLEY_ENABLE_XAA=1` to sign in to servers through it");
    }
}
