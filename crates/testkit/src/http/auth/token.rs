//! The token endpoint: applies lies first, then authenticates the client, then processes the grant.

use super::clients::ClientCredentials;
use super::form::FormParameters;
use super::grants::GrantIssue;
use super::manner::OAuthDelivery;
use super::{OAuthReply, ServerOrigins, State, jwt, proof};
use crate::http::request::HttpRequest;
use mcparley_testkit::Lie;
use serde_json::{Map, Value, json};
use std::time::Duration;

impl State {
    pub(super) fn reply_to_token(
        &mut self,
        origins: &ServerOrigins,
        request: &HttpRequest,
    ) -> (OAuthDelivery, OAuthReply) {
        let form = FormParameters::from_body(request);
        let shown = self.client_credentials(request, &form);
        let grant = form.parameter("grant_type").unwrap_or_default().to_owned();
        self.book.count_request("token");
        self.book.count_grant(&grant);
        let mut kept = form.to_value_with(&shown);
        kept["(proof)"] = json!(request.header("dpop").is_some());
        self.book.store_parameters("token", kept);
        if !self.has_token_lie(&grant) {
            return (OAuthDelivery::Whole, self.process_token_request(origins, request, &form, &shown));
        }
        self.met += 1;
        let error = self.lies.text(Lie::TokenError);
        if !error.is_empty() {
            return (OAuthDelivery::Whole, self.error_reply(400, &error));
        }
        let word = self.lies.text(Lie::Token);
        let after = Duration::from_millis(self.lies.number(Lie::TokenAfter));
        match (OAuthDelivery::from_word(&word), word.as_str()) {
            (None, _) => (OAuthDelivery::Whole, OAuthReply::error(404, "not_found")),
            (Some(OAuthDelivery::Whole), _) if !after.is_zero() => {
                (OAuthDelivery::After(after), self.process_token_request(origins, request, &form, &shown))
            }
            // These words deliver or lose the result of the grant; with all others the grant is not
            // processed.
            (Some(manner), "good" | "html" | "lost") => {
                (manner, self.process_token_request(origins, request, &form, &shown))
            }
            (Some(manner), _) => (manner, OAuthReply::json(200, json!({}))),
        }
    }

    fn has_token_lie(&self, grant: &str) -> bool {
        let on = self.lies.text(Lie::TokenOn);
        (on == "any" || on == grant) && self.met < self.lies.number(Lie::TokenTimes)
    }

    fn error_reply(&mut self, status: u16, error: &str) -> OAuthReply {
        self.book.count_error(error);
        OAuthReply::error(status, error)
    }

    fn process_token_request(
        &mut self,
        origins: &ServerOrigins,
        request: &HttpRequest,
        form: &FormParameters,
        shown: &ClientCredentials,
    ) -> OAuthReply {
        let key = match proof::check_token_proof(&self.lies, &mut self.proofs, request) {
            Ok(key) => key,
            Err(error) => return self.error_reply(400, error).with_header("DPoP-Nonce", proof::SERVER_NONCE),
        };
        if !self.is_authentic(shown) {
            return self.error_reply(401, "invalid_client");
        }
        match self.process_grant(origins, form, shown) {
            Ok(GrantIssue::Tokens { mut grant, refresh }) => {
                grant.key = key.or(grant.key);
                let id = self.id_token(origins, &grant);
                self.tokens_reply(&grant, refresh.as_deref(), id)
            }
            Ok(GrantIssue::Body(body)) => OAuthReply::json(200, body),
            Err(error) => self.error_reply(400, error),
        }
    }

    fn tokens_reply(
        &mut self,
        grant: &super::tokens::FakeGrant,
        refresh: Option<&str>,
        id: Option<String>,
    ) -> OAuthReply {
        let mut grant = grant.clone();
        match self.lies.text(Lie::GrantedScope).as_str() {
            "less" => grant.scope = grant.scope.split(' ').next().unwrap_or_default().to_owned(),
            "more" => grant.scope.push_str(" canary:more"),
            _ => {}
        }
        let life = self.lies.number(Lie::AccessMs);
        let mut page = Map::new();
        let mut add = |name: &str, value: Value| page.insert(name.to_owned(), value);
        add("access_token", json!(self.tokens.issue_access(&grant, Duration::from_millis(life))));
        match self.lies.text(Lie::TokenType).as_str() {
            "absent" => None,
            "Bearer" if grant.key.is_some() => add("token_type", json!("DPoP")),
            kind => add("token_type", json!(kind)),
        };
        let seconds = life.div_ceil(1000);
        match self.lies.text(Lie::ExpiresIn).as_str() {
            "absent" => None,
            "negative" => add("expires_in", json!(-1)),
            "string" => add("expires_in", json!(seconds.to_string())),
            "zero" => add("expires_in", json!(0)),
            "long" => add("expires_in", json!(seconds + 86_400)),
            _ => add("expires_in", json!(seconds)),
        };
        if let Some(refresh) = self.next_refresh(&grant, refresh) {
            add("refresh_token", json!(refresh));
        }
        if !self.lies.is_word(Lie::GrantedScope, "absent") && !grant.scope.is_empty() {
            add("scope", json!(grant.scope));
        }
        if let Some(id) = id {
            add("id_token", json!(id));
        }
        OAuthReply::json(200, Value::Object(page))
    }

    /// The refresh token in a response; `used` is the one in the request.
    fn next_refresh(&mut self, grant: &super::tokens::FakeGrant, used: Option<&str>) -> Option<String> {
        // Grants without a user yield no refresh token.
        if grant.family == 0 {
            return None;
        }
        match (self.lies.text(Lie::Refresh).as_str(), used) {
            ("never", _) | ("omit", Some(_)) => None,
            ("keep", Some(used)) => Some(used.to_owned()),
            _ => Some(self.tokens.issue_refresh(grant)),
        }
    }

    fn id_token(&mut self, origins: &ServerOrigins, grant: &super::tokens::FakeGrant) -> Option<String> {
        let lie = self.lies.text(Lie::IdToken);
        let is_asked = grant.scope.split(' ').any(|scope| scope == "openid");
        if !is_asked || lie == "absent" {
            return None;
        }
        self.tokens.unique_name("id");
        let issuer = super::metadata::issuer(&self.lies, origins);
        let late = if lie == "expired" { -2 * jwt::LIFE } else { 0 };
        let mut claims = json!({
            "iss": if lie == "other-issuer" { "https://evil.example" } else { issuer.as_str() },
            "aud": if lie == "other-audience" { "canary-other-client" } else { grant.client.as_str() },
            "sub": "canary-person", "email": "person@example.com",
            "iat": jwt::unix_seconds() + late, "exp": jwt::unix_seconds() + late + jwt::LIFE,
        });
        if let Some(nonce) = &grant.nonce {
            claims["nonce"] = json!(nonce);
        }
        Some(jwt::unsigned_token("JWT", &claims))
    }
}
