//! What a request for tokens says: the parameters of each grant, each in one place.

use mcparley_model::secret::Secret;

use super::{Grant, TokenRequest};

/// A parameter. All values are secret: which of them are is not worth a mistake.
pub(crate) type Pair = (&'static str, Secret<String>);

/// The parameters of a request, in the order they are sent.
#[derive(Debug, Default)]
pub(crate) struct Pairs(Vec<Pair>);

impl Pairs {
    /// With `name`.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, Secret::new(value.into())));
        self
    }

    /// With `resource`, if there is one (RFC 8707).
    pub(crate) fn with_resource(self, resource: Option<&str>) -> Self {
        match resource {
            Some(resource) => self.with("resource", resource),
            None => self,
        }
    }

    /// With `scope`, if there are any: an empty one is not the same as none.
    pub(crate) fn with_scopes(self, scopes: &[String]) -> Self {
        if scopes.is_empty() { self } else { self.with("scope", scopes.join(" ")) }
    }

    pub(crate) fn as_slice(&self) -> &[Pair] {
        &self.0
    }
}

pub(super) fn pairs(request: &TokenRequest<'_>) -> Pairs {
    let TokenRequest { grant, resource, scopes, server: _, client: _ } = request;
    let pairs = Pairs::default().with("grant_type", name(grant));
    let pairs = match grant {
        Grant::Code { code, verifier, redirect } => pairs
            .with("code", code.expose())
            .with("code_verifier", verifier.expose())
            .with("redirect_uri", redirect.as_str()),
        // Without `scope` a refreshed token is good for what the old one was, whatever has become of our wishes.
        Grant::Refresh { token } => pairs.with("refresh_token", token.expose()),
        Grant::ClientCredentials => pairs.with_scopes(scopes),
        Grant::Device { code } => pairs.with("device_code", code.expose()),
        Grant::JwtBearer { assertion } => pairs.with("assertion", assertion.expose()).with_scopes(scopes),
    };
    pairs.with_resource(*resource)
}

fn name(grant: &Grant<'_>) -> &'static str {
    match grant {
        Grant::Code { .. } => "authorization_code",
        Grant::Refresh { .. } => "refresh_token",
        Grant::ClientCredentials => "client_credentials",
        Grant::Device { .. } => "urn:ietf:params:oauth:grant-type:device_code",
        Grant::JwtBearer { .. } => "urn:ietf:params:oauth:grant-type:jwt-bearer",
    }
}
