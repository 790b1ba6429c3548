//! The token endpoint: its lies first, then who asks, then the grant.

use super::clients::Shown;
use super::form::Form;
use super::grants::Issue;
use super::manner::Manner;
use super::{Origins, Reply, State, jwt, proof};
use crate::http::request::HttpRequest;
use mcparley_testkit::Lie;
use serde_json::{Map, Value, json};
use std::time::Duration;

impl State {
    pub(super) fn token(&mut self, origins: &Origins, request: &HttpRequest) -> (Manner, Reply) {
        let form = Form::of_body(request);
        let shown = self.identify(request, &form);
        let grant = form.get("grant_type").unwrap_or_default().to_owned();
        self.book.request("token");
        self.book.grant(&grant);
        let mut kept = form.to_value_with(&shown);
        kept["(proof)"] = json!(request.header("dpop").is_some());
        self.book.keep("token", kept);
        if !self.is_met(&grant) {
            return (Manner::Whole, self.worked(origins, request, &form, &shown));
        }
        self.met += 1;
        let error = self.lies.text(Lie::TokenError);
        if !error.is_empty() {
            return (Manner::Whole, self.refuse(400, &error));
        }
        let word = self.lies.text(Lie::Token);
        let after = Duration::from_millis(self.lies.number(Lie::TokenAfter));
        match (Manner::of_document(&word), word.as_str()) {
            (None, _) => (Manner::Whole, Reply::error(404, "not_found")),
            (Some(Manner::Whole), _) if !after.is_zero() => {
                (Manner::After(after), self.worked(origins, request, &form, &shown))
            }
            // These bring what was done, or lose it; all others stand in the place of the work.
            (Some(manner), "good" | "html" | "lost") => {
                (manner, self.worked(origins, request, &form, &shown))
            }
            (Some(manner), _) => (manner, Reply::json(200, json!({}))),
        }
    }

    fn is_met(&self, grant: &str) -> bool {
        let on = self.lies.text(Lie::TokenOn);
        (on == "any" || on == grant) && self.met < self.lies.number(Lie::TokenTimes)
    }

    fn refuse(&mut self, status: u16, error: &str) -> Reply {
        self.book.error(error);
        Reply::error(status, error)
    }

    fn worked(&mut self, origins: &Origins, request: &HttpRequest, form: &Form, shown: &Shown) -> Reply {
        let key = match proof::at_token_endpoint(&self.lies, &mut self.proofs, request) {
            Ok(key) => key,
            Err(error) => return self.refuse(400, error).with("DPoP-Nonce", proof::SERVER_NONCE),
        };
        if !self.is_authentic(shown) {
            return self.refuse(401, "invalid_client");
        }
        match self.grant(origins, form, shown) {
            Ok(Issue::Tokens { mut grant, refresh }) => {
                grant.key = key.or(grant.key);
                let id = self.id_token(origins, &grant);
                self.tokens_reply(&grant, refresh.as_deref(), id)
            }
            Ok(Issue::Body(body)) => Reply::json(200, body),
            Err(error) => self.refuse(400, error),
        }
    }

    fn tokens_reply(
        &mut self,
        grant: &super::tokens::Grant,
        refresh: Option<&str>,
        id: Option<String>,
    ) -> Reply {
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
        if !self.lies.is(Lie::GrantedScope, "absent") && !grant.scope.is_empty() {
            add("scope", json!(grant.scope));
        }
        if let Some(id) = id {
            add("id_token", json!(id));
        }
        Reply::json(200, Value::Object(page))
    }

    /// The refresh token in an answer; `used` is the one that was shown.
    fn next_refresh(&mut self, grant: &super::tokens::Grant, used: Option<&str>) -> Option<String> {
        // Grants without a person give none.
        if grant.family == 0 {
            return None;
        }
        match (self.lies.text(Lie::Refresh).as_str(), used) {
            ("never", _) | ("omit", Some(_)) => None,
            ("keep", Some(used)) => Some(used.to_owned()),
            _ => Some(self.tokens.issue_refresh(grant)),
        }
    }

    fn id_token(&mut self, origins: &Origins, grant: &super::tokens::Grant) -> Option<String> {
        let lie = self.lies.text(Lie::IdToken);
        let is_asked = grant.scope.split(' ').any(|scope| scope == "openid");
        if !is_asked || lie == "absent" {
            return None;
        }
        self.tokens.name("id");
        let issuer = super::metadata::issuer(&self.lies, origins);
        let late = if lie == "expired" { -2 * jwt::LIFE } else { 0 };
        let mut claims = json!({
            "iss": if lie == "other-issuer" { "https://evil.example" } else { issuer.as_str() },
            "aud": if lie == "other-audience" { "canary-other-client" } else { grant.client.as_str() },
            "sub": "canary-person", "email": "person@example.com",
            "iat": jwt::now() + late, "exp": jwt::now() + late + jwt::LIFE,
        });
        if let Some(nonce) = &grant.nonce {
            claims["nonce"] = json!(nonce);
        }
        Some(jwt::unsigned("JWT", &claims))
    }
}
