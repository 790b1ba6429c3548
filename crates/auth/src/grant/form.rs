//! The form parameters of a token request, by grant.

use mcparley_model::secret::Secret;

use super::{TokenGrant, TokenRequest};

/// The type of an access token in a token exchange.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// A form parameter. All values are secret, so that none is logged by mistake.
pub(crate) type OAuthParameter = (&'static str, Secret<String>);

/// The form parameters of a request, in the order they are sent.
#[derive(Debug, Default)]
pub(crate) struct OAuthParameters(Vec<OAuthParameter>);

impl OAuthParameters {
    /// Adds a parameter.
    pub(crate) fn with_parameter(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, Secret::new(value.into())));
        self
    }

    /// Adds `resource`, if there is one (RFC 8707).
    pub(crate) fn with_resource(self, resource: Option<&str>) -> Self {
        match resource {
            Some(resource) => self.with_parameter("resource", resource),
            None => self,
        }
    }

    /// Adds `scope`, unless there are none: an empty scope differs from an absent one.
    pub(crate) fn with_scopes(self, scopes: &[String]) -> Self {
        if scopes.is_empty() { self } else { self.with_parameter("scope", scopes.join(" ")) }
    }

    pub(crate) fn as_slice(&self) -> &[OAuthParameter] {
        &self.0
    }
}

pub(super) fn token_parameters(request: &TokenRequest<'_>) -> OAuthParameters {
    let TokenRequest { grant, resource, scopes, server: _, client: _ } = request;
    let pairs = OAuthParameters::default().with_parameter("grant_type", grant_type(grant));
    let pairs = match grant {
        TokenGrant::Code { code, verifier, redirect } => pairs
            .with_parameter("code", code.expose())
            .with_parameter("code_verifier", verifier.expose())
            .with_parameter("redirect_uri", redirect.as_str()),
        // Without `scope` the new token has the scopes of the old one, even if the requested scopes have
        // changed since.
        TokenGrant::Refresh { token } => pairs.with_parameter("refresh_token", token.expose()),
        TokenGrant::ClientCredentials => pairs.with_scopes(scopes),
        TokenGrant::Device { code } => pairs.with_parameter("device_code", code.expose()),
        TokenGrant::Exchange { subject, audience } => {
            let pairs = pairs
                .with_parameter("subject_token", subject.expose())
                .with_parameter("subject_token_type", ACCESS_TOKEN)
                .with_parameter("requested_token_type", ACCESS_TOKEN);
            let pairs = match audience {
                Some(audience) => pairs.with_parameter("audience", *audience),
                None => pairs,
            };
            pairs.with_scopes(scopes)
        }
        TokenGrant::JwtBearer { assertion } => {
            pairs.with_parameter("assertion", assertion.expose()).with_scopes(scopes)
        }
    };
    pairs.with_resource(*resource)
}

fn grant_type(grant: &TokenGrant<'_>) -> &'static str {
    match grant {
        TokenGrant::Code { .. } => "authorization_code",
        TokenGrant::Refresh { .. } => "refresh_token",
        TokenGrant::ClientCredentials => "client_credentials",
        TokenGrant::Device { .. } => "urn:ietf:params:oauth:grant-type:device_code",
        TokenGrant::Exchange { .. } => "urn:ietf:params:oauth:grant-type:token-exchange",
        TokenGrant::JwtBearer { .. } => "urn:ietf:params:oauth:grant-type:jwt-bearer",
    }
}
