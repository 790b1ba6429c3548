//! The authorization endpoint: a person who always agrees at once, unless told otherwise.

use super::form::{Form, extended};
use super::tokens::{Code, Grant};
use super::{Origins, Reply, State, metadata};
use mcparley_testkit::{Lie, Lies};
use serde_json::Value;

/// What a page must not show as it stands.
const DESCRIPTION: &str = "<script>alert('canary-description')</script>";

impl State {
    pub(super) fn authorize(&mut self, origins: &Origins, form: &Form) -> Reply {
        self.book.request("authorize");
        self.book.keep("authorize", Value::Object(form.to_map()));
        let get = |name| form.get(name).unwrap_or_default().to_owned();
        let (client, redirect) = (get("client_id"), get("redirect_uri"));
        if !self.is_known(&client) || redirect.is_empty() {
            return Reply::error(400, "invalid_client");
        }
        let mut answer = Vec::new();
        match self.lies.text(Lie::Authorize).as_str() {
            "code" if get("response_type") != "code" => {
                answer.push(("error", "unsupported_response_type".to_owned()));
            }
            "code" if get("code_challenge").is_empty() || get("code_challenge_method") != "S256" => {
                answer.push(("error", "invalid_request".to_owned()));
            }
            "code" => {
                let grant = self.granted(form, client);
                let code = Code { grant, redirect: redirect.clone(), challenge: get("code_challenge") };
                answer.push(("code", self.tokens.keep_code(code)));
            }
            error => {
                answer.extend([("error", error.to_owned()), ("error_description", DESCRIPTION.to_owned())]);
            }
        }
        match self.lies.text(Lie::AuthorizeState).as_str() {
            "absent" => {}
            "wrong" => answer.push(("state", "canary-another-state".to_owned())),
            _ => answer.extend(form.get("state").map(|state| ("state", state.to_owned()))),
        }
        answer.extend(iss(&self.lies, origins).map(|iss| ("iss", iss)));
        Reply::redirect(extended(&redirect, &answer))
    }

    /// What a person agrees to: all that is asked for.
    pub(super) fn granted(&mut self, form: &Form, client: String) -> Grant {
        let owned = |name| form.get(name).map(str::to_owned);
        let scope = owned("scope").unwrap_or_default();
        let family = self.tokens.family();
        Grant { client, scope, resource: owned("resource"), nonce: owned("nonce"), family, key: None }
    }
}

fn iss(lies: &Lies, origins: &Origins) -> Option<String> {
    let issuer = metadata::issuer(lies, origins);
    match lies.text(Lie::Iss).as_str() {
        "absent" => None,
        "wrong" => Some("https://evil.example".to_owned()),
        "slash" => Some(format!("{issuer}/")),
        "case" => Some(issuer.replacen("http", "HTTP", 1)),
        _ => Some(issuer),
    }
}
