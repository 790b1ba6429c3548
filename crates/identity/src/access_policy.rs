//! The access tokens that a gateway accepts, and the check of one token.

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_auth::web::Web;
use mcparley_model::settings::TokenIssuer;
use mcparley_pool::principal::ClientIdentity;
use mcparley_wire::transport::http::Network;
use url::Url;

use crate::access_refusal::AccessRefusal;
use crate::claims::check_claims;
use crate::client_name::client_identity;
use crate::compact::CompactToken;
use crate::issuer_error::IssuerError;
use crate::issuer_keys::IssuerKeys;
use crate::key_source::KeySource;
use crate::protected_resource::ProtectedResource;
use crate::verification_key::SignatureAlgorithm;
use crate::verified_tokens::{TokenHash, VerifiedToken, VerifiedTokens, hash_token};

/// The issuer whose tokens are accepted, and their audience and scopes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssuerSettings {
    /// The issuer, byte for byte as in its tokens.
    pub issuer: String,
    /// The URL of the main endpoint, which tokens must name as their audience.
    pub resource: String,
    /// The scopes that every token needs.
    pub scopes: Vec<String>,
}

impl IssuerSettings {
    /// The settings of an issuer, for the resource that it names or else for this one.
    #[must_use]
    pub fn from_setting(setting: &TokenIssuer, resource: &str) -> Self {
        Self {
            issuer: setting.issuer.clone(),
            resource: setting.audience.clone().unwrap_or_else(|| resource.to_owned()),
            scopes: setting.scopes.clone(),
        }
    }
}

/// The access tokens that a gateway accepts.
#[derive(Debug)]
pub struct AccessPolicy {
    issuer: Arc<str>,
    resource: ProtectedResource,
    keys: Arc<IssuerKeys>,
    verified: VerifiedTokens,
}

impl AccessPolicy {
    /// Accepts the tokens of an issuer.
    ///
    /// # Errors
    /// The issuer or the resource is no usable URL.
    pub fn new(settings: &IssuerSettings, network: &Network) -> Result<Self, IssuerError> {
        let IssuerSettings { issuer, resource, scopes } = settings;
        let wrong = || IssuerError::Url(issuer.clone());
        let url = Url::parse(issuer).map_err(|_| wrong())?;
        let is_plain = url.query().is_none() && url.fragment().is_none() && url.has_host();
        if !is_plain || !matches!(url.scheme(), "http" | "https") {
            return Err(wrong());
        }
        let source = KeySource { web: Web::new(network, &url), issuer: issuer.clone() };
        Ok(Self {
            issuer: Arc::from(issuer.as_str()),
            resource: ProtectedResource::new(resource, issuer, scopes)?,
            keys: IssuerKeys::new(source),
            verified: VerifiedTokens::default(),
        })
    }

    /// Fetches the issuer's keys now, instead of with the first token.
    ///
    /// # Errors
    /// The keys cannot be fetched. Tokens are refused until they can, and each tries again.
    pub async fn fetch_keys(&self) -> Result<(), Arc<IssuerError>> {
        self.keys.fetch_keys().await
    }

    /// The gateway as its issuer knows it.
    #[must_use]
    pub fn resource(&self) -> &ProtectedResource {
        &self.resource
    }

    /// The issuer.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The identity of a token that was verified before and is still good for an endpoint.
    #[must_use]
    pub fn find_verified(&self, token: &str, view: Option<&str>) -> Option<Arc<ClientIdentity>> {
        let found = self.find_token(&hash_token(token), SystemTime::now())?;
        self.check_access(&found, view).ok()
    }

    /// Verifies a token for an endpoint: the main one, or a view.
    ///
    /// # Errors
    /// A [`AccessRefusal`].
    pub async fn verify_token(
        &self,
        token: &str,
        view: Option<&str>,
    ) -> Result<Arc<ClientIdentity>, AccessRefusal> {
        let (hash, now) = (hash_token(token), SystemTime::now());
        if let Some(found) = self.find_token(&hash, now) {
            return self.check_access(&found, view);
        }
        let verified = Arc::new(self.verify_signed(token, now).await?);
        self.verified.add_token(hash, Arc::clone(&verified));
        self.check_access(&verified, view)
    }

    /// Verifies the form, the claims and the signature of a token. The claims come first, so that a token of
    /// another issuer, or an old one, causes no fetch of keys.
    async fn verify_signed(&self, token: &str, now: SystemTime) -> Result<VerifiedToken, AccessRefusal> {
        let compact = CompactToken::parse(token)?;
        let algorithm = SignatureAlgorithm::parse(&compact.header.alg).ok_or(AccessRefusal::Algorithm)?;
        let checked = check_claims(&compact.claims, &self.issuer, now)?;
        let (key, key_version) = self.keys.find_key(compact.header.kid.as_deref(), algorithm).await?;
        if !key.verify_signature(algorithm, compact.signed, &compact.signature) {
            return Err(AccessRefusal::Signature);
        }
        let identity = client_identity(&self.issuer, (&compact.claims, &checked), token);
        Ok(VerifiedToken {
            identity: Arc::new(identity),
            audiences: checked.audiences,
            expires: checked.expires,
            key_version,
        })
    }

    fn find_token(&self, hash: &TokenHash, now: SystemTime) -> Option<Arc<VerifiedToken>> {
        self.verified.find_token(hash, self.keys.fresh_version()?, now)
    }

    /// Checks the audience and the scopes of a verified token.
    fn check_access(
        &self,
        token: &VerifiedToken,
        view: Option<&str>,
    ) -> Result<Arc<ClientIdentity>, AccessRefusal> {
        if !self.resource.is_among(&token.audiences, view) {
            return Err(AccessRefusal::Audience);
        }
        match self.resource.scopes().iter().all(|scope| token.identity.has_scope(scope)) {
            true => Ok(Arc::clone(&token.identity)),
            false => Err(AccessRefusal::Scope),
        }
    }
}
