//! `auth idp`: the identity provider that knows the person, for servers whose entries say `xaa` (A6).

use std::time::{Duration, SystemTime};

use mcparley::change;
use mcparley::model::settings::IdentityProvider;
use mcparley::{IdentitySettings, Loaded, Paths, SignInError, Surroundings};
use mcparley_auth::Identity;
use serde::Serialize;
use serde_json::json;

use super::standing::{in_short, seconds};
use crate::args::{IdpCommand, IdpSetupArgs, WaitArgs};
use crate::commands::{Done, tell_problems};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::{Out, bold};
use crate::sign_in::{Guide, Pending, Who, client_secret, tell_notices};

pub(super) fn run(command: &IdpCommand, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    match command {
        IdpCommand::Setup(args) => setup(args, context, loaded, out),
        IdpCommand::Login(args) => login(args, context, loaded, out),
        IdpCommand::Status => status(context, loaded, out),
        IdpCommand::Clear => clear(context, loaded, out),
    }
}

fn setup(args: &IdpSetupArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    if !IdentityProvider::is_issuer(&args.issuer) {
        return Err(CommandError::usage(
            "`--issuer` is no address of an identity provider",
            "it begins with https://, and stands in the provider's own description as `issuer`",
        ));
    }
    let provider = IdentityProvider {
        issuer: args.issuer.clone(),
        client_id: args.client_id.clone(),
        callback_port: args.callback_port,
    };
    let secret = if args.client_secret { Some(client_secret(context, out)?) } else { None };
    let is_secret = secret.is_some();
    if let Some(secret) = secret {
        let identity = identity(settings_of(&provider), context, loaded)?;
        live::beforehand(identity.keep_client_secret(secret))?.map_err(failed(&provider.issuer))?;
    }
    let file = change::name_identity_provider(&context.paths, &provider)?;
    let file = file.to_string_lossy();
    if out.json {
        let named = json!({ "issuer": provider.issuer, "clientId": provider.client_id });
        out.value(&json!({ "identityProvider": named, "file": file, "secret": is_secret }));
    } else {
        out.line(format!("Named the identity provider {}", bold(&provider.issuer)));
        out.line(format!("File: {file}"));
    }
    if loaded
        .settings
        .identity
        .as_ref()
        .is_some_and(|known| known.origin.source.path() != Some(file.as_ref().as_ref()))
    {
        out.warn("another settings file names one too, and wins");
    }
    hint_at_switch(loaded, out);
    Ok(exit::OK)
}

fn login(args: &WaitArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let surroundings = context.surroundings(loaded);
    let nobody = || CommandError::sign_in(Who::Provider("of the settings"), SignInError::NoIdentity.into());
    let identity = surroundings.accounts().identity().cloned().ok_or_else(nobody)?;
    let mut guide = Guide::new(args, false, out);
    if !guide.waits() {
        let pending = Pending::unbegun(Who::Provider(identity.issuer()));
        match out.json {
            true => out.json_line(&json!({ "pendingAuth": [pending] })),
            false => out.hint("sign in from a terminal, or add `--wait` or `--no-browser`"),
        }
        return Ok(exit::NEEDS_AUTH);
    }
    live::run_with(&surroundings, async {
        let who = Who::Provider(identity.issuer());
        let flow = identity.begin().await.map_err(|error| CommandError::sign_in(who, error.into()))?;
        guide.walk(who, &flow, out).await
    })??;
    tell_notices(surroundings.accounts().vault(), out);
    status(context, loaded, out)
}

fn status(context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let report = live::beforehand(Report::of(loaded, &context.paths))?;
    if out.json {
        out.json_line(&json!({ "identityProvider": report }));
        return Ok(exit::OK);
    }
    tell_problems(loaded, out);
    match &report {
        Some(report) => report.tell(out),
        None => {
            out.line("No identity provider is configured.");
            out.hint("name one: `mcparley auth idp setup --issuer URL --client-id ID`");
        }
    }
    if report.is_some() {
        hint_at_switch(loaded, out);
    }
    Ok(exit::OK)
}

fn clear(context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    if let Some(settings) = loaded.identity_settings() {
        let issuer = settings.issuer.clone();
        let identity = identity(settings, context, loaded)?;
        let forgetting = async {
            if identity.knows_the_person().await {
                identity.forget().await?;
            }
            identity.forget_client_secret().await
        };
        live::beforehand(forgetting)?.map_err(failed(&issuer))?;
    }
    let file = change::forget_identity_provider(&context.paths)?;
    let file = file.map(|file| file.to_string_lossy().into_owned());
    if out.json {
        out.value(&json!({ "cleared": loaded.settings.identity.is_some(), "file": file }));
        return Ok(exit::OK);
    }
    match file {
        Some(file) => out.line(format!("Forgot the identity provider\nFile: {file}")),
        None => out.line("Your settings name no identity provider."),
    }
    Ok(exit::OK)
}

/// Which provider it is, and as whom the person is signed in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    issuer: String,
    client_id: String,
    /// Whether servers are signed in to through it.
    enabled: bool,
    /// How it knows the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<String>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl Report {
    /// Nothing when the settings name none.
    pub(super) async fn of(loaded: &Loaded, paths: &Paths) -> Option<Self> {
        let settings = loaded.identity_settings()?;
        let (issuer, client_id) = (settings.issuer.clone(), settings.client_id.clone());
        let surroundings = Surroundings::new(&loaded.env, paths).with_identity(Some(settings));
        let person = match surroundings.accounts().identity() {
            Some(identity) => identity.person().await,
            None => None,
        };
        Some(Self {
            issuer,
            client_id,
            enabled: loaded.identity().is_some(),
            expires_at: person.as_ref().map(|person| seconds(person.expires)),
            person: person.map(|person| person.subject.clean().into_owned()),
        })
    }

    pub(super) fn tell(&self, out: &mut Out) {
        let left = self.expires_at.map(|at| at.saturating_sub(seconds(SystemTime::now())));
        let who = match (&self.person, left) {
            (Some(person), Some(left)) => {
                format!("signed in as `{person}` for {}", in_short(Duration::from_secs(left)))
            }
            (_, _) => "not signed in".to_owned(),
        };
        let who = mcparley::model::text::display(&who).into_owned();
        out.line(format!("identity provider {}: {who}", bold(&self.issuer)));
    }
}

/// The identity that these settings mean, whether it is switched on or not.
fn identity(
    settings: IdentitySettings,
    context: &Context,
    loaded: &Loaded,
) -> Result<Identity, CommandError> {
    let issuer = settings.issuer.clone();
    let surroundings = Surroundings::new(&loaded.env, &context.paths).with_identity(Some(settings));
    let identity = surroundings.accounts().identity().cloned();
    identity.ok_or_else(|| failed(&issuer)(SignInError::NoIdentity))
}

fn settings_of(provider: &IdentityProvider) -> IdentitySettings {
    IdentitySettings {
        issuer: provider.issuer.clone(),
        client_id: provider.client_id.clone(),
        client_secret: None,
        callback_port: provider.callback_port,
        id_token: None,
    }
}

fn failed(issuer: &str) -> impl Fn(SignInError) -> CommandError {
    move |error| CommandError::sign_in(Who::Provider(issuer), error.into())
}

fn hint_at_switch(loaded: &Loaded, out: &mut Out) {
    if !loaded.is_identity_switched_on() && !out.json {
        out.hint("set `MCPARLEY_ENABLE_XAA=1` to sign in to servers through it");
    }
}
