//! The OAuth grants of the token endpoint: validation of each, and the tokens it yields.

use super::clients::ClientCredentials;
use super::form::FormParameters;
use super::tokens::FakeGrant;
use super::{ServerOrigins, State, jwt, metadata};
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

/// All supported grant types.
pub(crate) const ALL: [&str; 6] =
    ["authorization_code", "refresh_token", "client_credentials", DEVICE, JWT_BEARER, EXCHANGE];

/// The result of a grant.
#[derive(Debug)]
pub(crate) enum GrantIssue {
    Tokens {
        grant: FakeGrant,
        /// The refresh token in the request.
        refresh: Option<String>,
    },
    /// A response body without tokens of ours.
    Body(Value),
}

type GrantResult = Result<GrantIssue, &'static str>;

impl State {
    pub(super) fn process_grant(
        &mut self,
        origins: &ServerOrigins,
        form: &FormParameters,
        shown: &ClientCredentials,
    ) -> GrantResult {
        match form.parameter("grant_type").unwrap_or_default() {
            "authorization_code" => self.redeem_code(form, shown),
            "refresh_token" => self.refresh_grant(form, shown),
            // Client credentials need an authenticated client.
            "client_credentials" if shown.method == "none" => Err("unauthorized_client"),
            "client_credentials" => Ok(machine_grant(form, shown)),
            DEVICE => self.poll_device(form, shown),
            JWT_BEARER => self.exchange_assertion(origins, form, shown),
            EXCHANGE => self.exchange_id_token(origins, form),
            _ => Err("unsupported_grant_type"),
        }
    }

    fn redeem_code(&mut self, form: &FormParameters, shown: &ClientCredentials) -> GrantResult {
        let code =
            self.tokens.redeem_code(form.parameter("code").unwrap_or_default()).ok_or("invalid_grant")?;
        let verifier = form.parameter("code_verifier").unwrap_or_default();
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let same = code.challenge == challenge
            && form.parameter("redirect_uri") == Some(&code.redirect)
            && code.grant.client == shown.id;
        let grant = code.grant;
        if same { Ok(GrantIssue::Tokens { grant, refresh: None }) } else { Err("invalid_grant") }
    }

    fn refresh_grant(&mut self, form: &FormParameters, shown: &ClientCredentials) -> GrantResult {
        let token = form.parameter("refresh_token").unwrap_or_default().to_owned();
        let rotates = self.lies.is_word(Lie::Refresh, "rotate");
        let mut grant = self.tokens.use_refresh_token(&token, rotates).ok_or("invalid_grant")?;
        if grant.client != shown.id {
            return Err("invalid_grant");
        }
        if let Some(scope) = form.parameter("scope") {
            scope.clone_into(&mut grant.scope);
        }
        Ok(GrantIssue::Tokens { grant, refresh: Some(token) })
    }

    /// Exchanges an ID-JAG, or a workload token, for an access token.
    fn exchange_assertion(
        &mut self,
        origins: &ServerOrigins,
        form: &FormParameters,
        shown: &ClientCredentials,
    ) -> GrantResult {
        let claims = jwt::claims(form.parameter("assertion").unwrap_or_default()).ok_or("invalid_grant")?;
        let issuer = metadata::issuer(&self.lies, origins);
        let is_ours = claims["aud"] == json!(issuer) || claims["aud"] == json!([issuer]);
        let lives = claims["exp"].as_i64().is_some_and(|until| until > jwt::unix_seconds());
        let client = claims["client_id"].as_str().is_none_or(|client| client == shown.id);
        let resource = metadata::resource_name(&self.lies, origins);
        let fits = claims["resource"].as_str().is_none_or(|said| said == resource);
        if is_ours && lives && client && fits { Ok(machine_grant(form, shown)) } else { Err("invalid_grant") }
    }

    /// Exchanges an id_token for an ID-JAG.
    fn exchange_id_token(&mut self, origins: &ServerOrigins, form: &FormParameters) -> GrantResult {
        let types = (form.parameter("subject_token_type"), form.parameter("requested_token_type"));
        let (Some(audience), Some(resource)) = (form.parameter("audience"), form.parameter("resource"))
        else {
            return Err("invalid_request");
        };
        let subject = jwt::claims(form.parameter("subject_token").unwrap_or_default());
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
            "jti": self.tokens.unique_name("jag"), "scope": form.parameter("scope").unwrap_or_default(),
            "iat": jwt::unix_seconds() + late, "exp": jwt::unix_seconds() + late + jwt::LIFE,
        });
        let kind = if lie == "other-type" { "urn:ietf:params:oauth:token-type:access_token" } else { ID_JAG };
        Ok(GrantIssue::Body(json!({
            "access_token": jwt::unsigned_token("oauth-id-jag+jwt", &claims),
            "issued_token_type": kind, "token_type": "N_A", "expires_in": jwt::LIFE,
        })))
    }
}

/// A grant without a user: it yields no refresh token.
fn machine_grant(form: &FormParameters, shown: &ClientCredentials) -> GrantIssue {
    let scope = form.parameter("scope").unwrap_or_default().to_owned();
    let resource = form.parameter("resource").map(str::to_owned);
    let grant = FakeGrant { client: shown.id.clone(), scope, resource, ..FakeGrant::default() };
    GrantIssue::Tokens { grant, refresh: None }
}
