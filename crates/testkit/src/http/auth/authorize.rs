//! The authorization endpoint, with a user who consents at once unless a lie says otherwise.

use super::form::{FormParameters, append_parameters};
use super::tokens::{FakeAuthCode, FakeGrant};
use super::{OAuthReply, ServerOrigins, State, metadata};
use mcparley_testkit::{Lie, LieSet};
use serde_json::Value;

/// An error description that a page must not show unescaped.
const DESCRIPTION: &str = "<script>alert('canary-description')</script>";

impl State {
    pub(super) fn reply_to_authorize(
        &mut self,
        origins: &ServerOrigins,
        form: &FormParameters,
    ) -> OAuthReply {
        self.book.count_request("authorize");
        self.book.store_parameters("authorize", Value::Object(form.to_map()));
        let get = |name| form.parameter(name).unwrap_or_default().to_owned();
        let (client, redirect) = (get("client_id"), get("redirect_uri"));
        if !self.is_known(&client) || redirect.is_empty() {
            return OAuthReply::error(400, "invalid_client");
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
                let grant = self.new_grant(form, client);
                let code =
                    FakeAuthCode { grant, redirect: redirect.clone(), challenge: get("code_challenge") };
                answer.push(("code", self.tokens.store_code(code)));
            }
            error => {
                answer.extend([("error", error.to_owned()), ("error_description", DESCRIPTION.to_owned())]);
            }
        }
        match self.lies.text(Lie::AuthorizeState).as_str() {
            "absent" => {}
            "wrong" => answer.push(("state", "canary-another-state".to_owned())),
            _ => answer.extend(form.parameter("state").map(|state| ("state", state.to_owned()))),
        }
        answer.extend(issuer_parameter(&self.lies, origins).map(|iss| ("iss", iss)));
        OAuthReply::redirect(append_parameters(&redirect, &answer))
    }

    /// The grant a user consents to: everything requested.
    pub(super) fn new_grant(&mut self, form: &FormParameters, client: String) -> FakeGrant {
        let owned = |name| form.parameter(name).map(str::to_owned);
        let scope = owned("scope").unwrap_or_default();
        let family = self.tokens.new_family();
        FakeGrant { client, scope, resource: owned("resource"), nonce: owned("nonce"), family, key: None }
    }
}

fn issuer_parameter(lies: &LieSet, origins: &ServerOrigins) -> Option<String> {
    let issuer = metadata::issuer(lies, origins);
    match lies.text(Lie::Iss).as_str() {
        "absent" => None,
        "wrong" => Some("https://evil.example".to_owned()),
        "slash" => Some(format!("{issuer}/")),
        "case" => Some(issuer.replacen("http", "HTTP", 1)),
        _ => Some(issuer),
    }
}
