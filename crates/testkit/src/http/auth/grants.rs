//! What each grant asks for, and what it gives.

use super::clients::Shown;
use super::form::Form;
use super::tokens::Grant;
use super::{Origins, State, jwt, metadata};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use mcparley_testkit::Lie;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub(crate) const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// Every grant there is.
pub(crate) const ALL: [&str; 6] =
    ["authorization_code", "refresh_token", "client_credentials", DEVICE, JWT_BEARER, EXCHANGE];

/// What a grant gives.
#[derive(Debug)]
pub(crate) enum Issue {
    Tokens {
        grant: Grant,
        /// The refresh token that was shown.
        refresh: Option<String>,
    },
    /// An answer of another kind.
    Body(Value),
}

type Granted = Result<Issue, &'static str>;

impl State {
    pub(super) fn grant(&mut self, origins: &Origins, form: &Form, shown: &Shown) -> Granted {
        match form.get("grant_type").unwrap_or_default() {
            "authorization_code" => self.redeemed(form, shown),
            "refresh_token" => self.refreshed(form, shown),
            // A client that shows nothing is nobody's.
            "client_credentials" if shown.method == "none" => Err("unauthorized_client"),
            "client_credentials" => Ok(machine(form, shown)),
            DEVICE => self.poll_device(form, shown),
            JWT_BEARER => self.bearer(origins, form, shown),
            EXCHANGE => self.exchanged(origins, form),
            _ => Err("unsupported_grant_type"),
        }
    }

    fn redeemed(&mut self, form: &Form, shown: &Shown) -> Granted {
        let code = self.tokens.redeem(form.get("code").unwrap_or_default()).ok_or("invalid_grant")?;
        let verifier = form.get("code_verifier").unwrap_or_default();
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let same = code.challenge == challenge
            && form.get("redirect_uri") == Some(&code.redirect)
            && code.grant.client == shown.id;
        let grant = code.grant;
        if same { Ok(Issue::Tokens { grant, refresh: None }) } else { Err("invalid_grant") }
    }

    fn refreshed(&mut self, form: &Form, shown: &Shown) -> Granted {
        let token = form.get("refresh_token").unwrap_or_default().to_owned();
        let rotates = self.lies.is(Lie::Refresh, "rotate");
        let mut grant = self.tokens.refresh(&token, rotates).ok_or("invalid_grant")?;
        if grant.client != shown.id {
            return Err("invalid_grant");
        }
        if let Some(scope) = form.get("scope") {
            scope.clone_into(&mut grant.scope);
        }
        Ok(Issue::Tokens { grant, refresh: Some(token) })
    }

    /// An ID-JAG, or the token of a workload, for an access token.
    fn bearer(&mut self, origins: &Origins, form: &Form, shown: &Shown) -> Granted {
        let claims = jwt::claims(form.get("assertion").unwrap_or_default()).ok_or("invalid_grant")?;
        let issuer = metadata::issuer(&self.lies, origins);
        let is_ours = claims["aud"] == json!(issuer) || claims["aud"] == json!([issuer]);
        let lives = claims["exp"].as_i64().is_some_and(|until| until > jwt::now());
        let client = claims["client_id"].as_str().is_none_or(|client| client == shown.id);
        let resource = metadata::resource_name(&self.lies, origins);
        let fits = claims["resource"].as_str().is_none_or(|said| said == resource);
        if is_ours && lives && client && fits { Ok(machine(form, shown)) } else { Err("invalid_grant") }
    }

    /// An id_token for an ID-JAG.
    fn exchanged(&mut self, origins: &Origins, form: &Form) -> Granted {
        let types = (form.get("subject_token_type"), form.get("requested_token_type"));
        let (Some(audience), Some(resource)) = (form.get("audience"), form.get("resource")) else {
            return Err("invalid_request");
        };
        let subject = jwt::claims(form.get("subject_token").unwrap_or_default());
        let (Some(subject), (Some(ID_TOKEN), Some(ID_JAG))) = (subject, types) else {
            return Err("invalid_request");
        };
        let lie = self.lies.text(Lie::IdJag);
        let said =
            |word: &str, truth: &str| if lie == word { format!("{truth}-other") } else { truth.to_owned() };
        let late = if lie == "expired" { -2 * jwt::LIFE } else { 0 };
        let claims = json!({
            "iss": metadata::issuer(&self.lies, origins), "sub": subject["sub"],
            "aud": said("other-audience", audience), "resource": said("other-resource", resource),
            "client_id": said("other-client", mcparley_testkit::STATIC_CLIENT),
            "jti": self.tokens.name("jag"), "scope": form.get("scope").unwrap_or_default(),
            "iat": jwt::now() + late, "exp": jwt::now() + late + jwt::LIFE,
        });
        let kind = if lie == "other-type" { "urn:ietf:params:oauth:token-type:access_token" } else { ID_JAG };
        Ok(Issue::Body(json!({
            "access_token": jwt::unsigned("oauth-id-jag+jwt", &claims),
            "issued_token_type": kind, "token_type": "N_A", "expires_in": jwt::LIFE,
        })))
    }
}

/// What is given without a person: no refresh token.
fn machine(form: &Form, shown: &Shown) -> Issue {
    let scope = form.get("scope").unwrap_or_default().to_owned();
    let resource = form.get("resource").map(str::to_owned);
    let grant = Grant { client: shown.id.clone(), scope, resource, ..Grant::default() };
    Issue::Tokens { grant, refresh: None }
}
