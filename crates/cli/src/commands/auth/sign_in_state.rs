//! The state of one sign-in, as text and as JSON.

use mcparley::model::time::unix_seconds;
use std::time::{Duration, SystemTime};

use mcparley::auth::SignInStatus;
use mcparley::model::text::{Untrusted, display_line};
use mcparley_auth::client::ClientIdOrigin;
use serde::Serialize;

use crate::error::with_sources;
use crate::out::{TerminalOutput, bold, dim};
use crate::sign_in::ServerAccount;
use mcparley_report::login_command;

/// The report about one sign-in.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct SignInReport {
    server: String,
    /// `signed-in`, `signed-out`, `over`, or `unknown` when the vault cannot be read.
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    /// The origin of the token endpoint, if it differs from the issuer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// The origin of the client id: `configured`, `document` or `registered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'static str>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renews: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    /// Scopes that the server has requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wanted: Vec<String>,
    /// Whether signing in needs the user, unlike a client-credentials grant.
    takes_a_person: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl SignInReport {
    pub(in crate::commands) async fn from_account(door: &ServerAccount<'_>) -> Self {
        let blank = Self {
            server: door.name().to_owned(),
            is: "signed-out",
            issuer: None,
            token_origin: None,
            client_id: None,
            client: None,
            expires_at: None,
            renews: None,
            scopes: Vec::new(),
            wanted: Vec::new(),
            takes_a_person: door.account.needs_user(),
            error: None,
        };
        let words =
            |scopes: &[Untrusted]| scopes.iter().map(|scope| scope.clean_text().into_owned()).collect();
        match door.account.sign_in_status().await {
            Err(error) => Self { is: "unknown", error: Some(with_sources(&error)), ..blank },
            Ok(SignInStatus::SignedOut) => blank,
            Ok(SignInStatus::Expired) => Self { is: "over", ..blank },
            Ok(SignInStatus::SignedIn {
                issuer,
                token_origin,
                client,
                origin,
                expires,
                renews,
                scopes,
                wanted,
            }) => Self {
                is: "signed-in",
                issuer: Some(issuer.clean_text().into_owned()),
                token_origin: token_origin.map(|origin| origin.clean_text().into_owned()),
                client_id: Some(client.clean_text().into_owned()),
                client: Some(client_origin_name(origin)),
                expires_at: expires.map(unix_seconds),
                renews: Some(renews || !door.account.needs_user()),
                scopes: words(&scopes),
                wanted: words(&wanted),
                ..blank
            },
        }
    }

    pub(super) fn print_report(&self, out: &mut TerminalOutput) {
        out.print_line(format!("{}: {}", bold(&self.server), self.state_text()));
        let mut field =
            |name: &str, value: &str| out.print_line(format!("  {name}: {}", display_line(value)));
        if let Some(issuer) = &self.issuer {
            field("issuer", issuer);
        }
        if let Some(origin) = &self.token_origin {
            field("token endpoint", origin);
        }
        if let (Some(id), Some(client)) = (&self.client_id, self.client) {
            field("client", &format!("{id} ({client})"));
        }
        if !self.scopes.is_empty() {
            field("scopes", &self.scopes.join(" "));
        }
        let more: Vec<&str> =
            self.wanted.iter().filter(|it| !self.scopes.contains(it)).map(String::as_str).collect();
        if !more.is_empty() {
            field("missing scopes", &more.join(" "));
        }
        if let Some(error) = &self.error {
            out.print_line(format!("  {}", dim(error)));
        }
    }

    /// The state in one line, with the command to sign in.
    pub(in crate::commands) fn summary_line(&self) -> String {
        let sign_in = || format!(": {}", dim(&format!("`{}`", login_command(&self.server))));
        let todo = match (self.is, self.takes_a_person) {
            ("over" | "signed-out", true) => sign_in(),
            (_, _) => String::new(),
        };
        format!("sign-in: {}{todo}", self.state_text())
    }

    fn state_text(&self) -> String {
        match (self.is, self.takes_a_person) {
            ("signed-in", _) => format!("signed in, {}", self.expiry_text()),
            ("over", _) => "expired, sign in again".to_owned(),
            ("signed-out", false) => "signs in automatically when needed".to_owned(),
            ("signed-out", true) => "not signed in".to_owned(),
            (_, _) => "unknown".to_owned(),
        }
    }

    fn expiry_text(&self) -> String {
        let renews = if self.renews == Some(true) { "renewed automatically" } else { "then sign in again" };
        match self.expires_at {
            None => "without an expiry date".to_owned(),
            Some(at) => match at.checked_sub(unix_seconds(SystemTime::now())).filter(|left| *left > 0) {
                Some(left) => format!("for {}, {renews}", format_duration(Duration::from_secs(left))),
                None => format!("expired, {renews}"),
            },
        }
    }
}

fn client_origin_name(origin: ClientIdOrigin) -> &'static str {
    match origin {
        ClientIdOrigin::Configured => "configured",
        ClientIdOrigin::Document => "document",
        ClientIdOrigin::Registered => "registered",
    }
}

/// A duration in its largest unit.
pub(super) fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
