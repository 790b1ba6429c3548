//! How one sign-in stands, for people and programs.

use std::time::{Duration, SystemTime};

use mcparley::SignInStanding;
use mcparley::model::text::{Untrusted, display};
use mcparley_auth::client::Origin;
use serde::Serialize;

use crate::error::with_sources;
use crate::out::{Out, bold, dim};
use crate::sign_in::{Door, login_command};

/// How one sign-in stands.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct SignInReport {
    server: String,
    /// `signed-in`, `signed-out`, `over`, or `unknown` when the vault cannot be read.
    is: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    /// The origin that gives the tokens, if it is not the issuer's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// Where the id comes from: `configured`, `document` or `registered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'static str>,
    /// Seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    renews: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    /// What the server has asked for besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wanted: Vec<String>,
    /// Whether a person takes part when somebody signs in.
    takes_a_person: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl SignInReport {
    pub(in crate::commands) async fn of(door: &Door<'_>) -> Self {
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
            takes_a_person: door.account.takes_a_person(),
            error: None,
        };
        let words = |scopes: &[Untrusted]| scopes.iter().map(|scope| scope.clean().into_owned()).collect();
        match door.account.standing().await {
            Err(error) => Self { is: "unknown", error: Some(with_sources(&error)), ..blank },
            Ok(SignInStanding::SignedOut) => blank,
            Ok(SignInStanding::Over) => Self { is: "over", ..blank },
            Ok(SignInStanding::SignedIn {
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
                issuer: Some(issuer.clean().into_owned()),
                token_origin: token_origin.map(|origin| origin.clean().into_owned()),
                client_id: Some(client.clean().into_owned()),
                client: Some(origin_word(origin)),
                expires_at: expires.map(seconds),
                renews: Some(renews || !door.account.takes_a_person()),
                scopes: words(&scopes),
                wanted: words(&wanted),
                ..blank
            },
        }
    }

    pub(super) fn tell(&self, out: &mut Out) {
        out.line(format!("{}: {}", bold(&self.server), self.in_words()));
        let mut field = |name: &str, value: &str| out.line(format!("  {name}: {}", display(value)));
        if let Some(issuer) = &self.issuer {
            field("by", issuer);
        }
        if let Some(origin) = &self.token_origin {
            field("tokens from another site", origin);
        }
        if let (Some(id), Some(client)) = (&self.client_id, self.client) {
            field("as client", &format!("{id} ({client})"));
        }
        if !self.scopes.is_empty() {
            field("scopes", &self.scopes.join(" "));
        }
        let more: Vec<&str> =
            self.wanted.iter().filter(|it| !self.scopes.contains(it)).map(String::as_str).collect();
        if !more.is_empty() {
            field("the server also wants", &more.join(" "));
        }
        if let Some(error) = &self.error {
            out.line(format!("  {}", dim(error)));
        }
    }

    /// The whole in one line, with what to do.
    pub(in crate::commands) fn in_one_line(&self) -> String {
        let sign_in = || format!(": {}", dim(&format!("`{}`", login_command(&self.server))));
        let todo = match (self.is, self.takes_a_person) {
            ("over" | "signed-out", true) => sign_in(),
            (_, _) => String::new(),
        };
        format!("sign-in: {}{todo}", self.in_words())
    }

    fn in_words(&self) -> String {
        match (self.is, self.takes_a_person) {
            ("signed-in", _) => format!("signed in, {}", self.until()),
            ("over", _) => "over, somebody has to sign in again".to_owned(),
            ("signed-out", false) => "signs in by itself when it is needed".to_owned(),
            ("signed-out", true) => "not signed in".to_owned(),
            (_, _) => "not known".to_owned(),
        }
    }

    fn until(&self) -> String {
        let renews =
            if self.renews == Some(true) { "renewed by itself" } else { "then somebody signs in again" };
        match self.expires_at {
            None => "until the server says otherwise".to_owned(),
            Some(at) => match at.checked_sub(seconds(SystemTime::now())).filter(|left| *left > 0) {
                Some(left) => format!("for {}, {renews}", in_short(Duration::from_secs(left))),
                None => format!("over now, {renews}"),
            },
        }
    }
}

fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Configured => "configured",
        Origin::Document => "document",
        Origin::Registered => "registered",
    }
}

/// Seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The largest unit says enough.
pub(super) fn in_short(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
