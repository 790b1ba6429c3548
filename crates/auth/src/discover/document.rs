//! Parses the two kinds of metadata documents from JSON.
//!
//! Fields that sign-in needs must be present and of the right type; any other malformed field counts as
//! absent, because servers publish many fields that sign-in does not use. [`super`] decides whether a
//! document is trusted.

use mcparley_model::limits::OAUTH_NAMES;
use serde_json::{Map, Value};
use url::Url;

use crate::client::ClientAuthMethod;
use crate::metadata::{AuthServerMetadata, MetadataSource, ResourceMetadata};
use crate::scopes::is_scope;

/// The reason why a metadata document cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The document is not a JSON object.
    #[error("it is not a JSON object")]
    NotJson,
    /// A required field is missing.
    #[error("it has no `{field}`")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A required field has the wrong type.
    #[error("its `{field}` is not {wanted}")]
    Wrong {
        /// The field.
        field: &'static str,
        /// The expected type.
        wanted: &'static str,
    },
}

/// Parses protected resource metadata (RFC 9728), which is not trusted yet.
///
/// # Errors
/// When it is no JSON object, or a required field is missing or malformed.
pub fn parse_resource_metadata(body: &[u8]) -> Result<ResourceMetadata, DocumentError> {
    let document = MetadataDocument::parse(body)?;
    Ok(ResourceMetadata {
        resource: document.required_text("resource")?.to_owned(),
        authorization_servers: document.list_field("authorization_servers").unwrap_or_default(),
        scopes: document.supported_scopes(),
        dpop_required: document.flag_field("dpop_bound_access_tokens_required"),
    })
}

/// Parses authorization server metadata (RFC 8414, OpenID Connect Discovery), which is not trusted yet.
///
/// # Errors
/// When it is no JSON object, or a required field is missing or malformed.
pub fn parse_server_metadata(body: &[u8]) -> Result<AuthServerMetadata, DocumentError> {
    let document = MetadataDocument::parse(body)?;
    let token_endpoint = document.required_text("token_endpoint")?;
    let wrong = DocumentError::Wrong { field: "token_endpoint", wanted: "a URL" };
    let methods = document.list_field("code_challenge_methods_supported").unwrap_or_default();
    let proofs = document.list_field("token_endpoint_auth_methods_supported");
    Ok(AuthServerMetadata {
        issuer: document.required_text("issuer")?.to_owned(),
        authorization_endpoint: document.url_field("authorization_endpoint"),
        token_endpoint: Url::parse(token_endpoint).map_err(|_| wrong)?,
        registration_endpoint: document.url_field("registration_endpoint"),
        device_endpoint: document.url_field("device_authorization_endpoint"),
        revocation_endpoint: document.url_field("revocation_endpoint"),
        key_set: document.url_field("jwks_uri"),
        scopes: document.supported_scopes(),
        grants: document.list_field("grant_types_supported"),
        proofs: proofs
            .map(|names| names.iter().filter_map(|name| ClientAuthMethod::from_name(name)).collect()),
        signing: document.list_field("token_endpoint_auth_signing_alg_values_supported"),
        has_s256: methods.iter().any(|method| method == "S256"),
        names_issuer: document.flag_field("authorization_response_iss_parameter_supported"),
        takes_documents: document.flag_field("client_id_metadata_document_supported"),
        dpop: document.list_field("dpop_signing_alg_values_supported").unwrap_or_default(),
        source: MetadataSource::Published,
    })
}

struct MetadataDocument(Map<String, Value>);

impl MetadataDocument {
    fn parse(body: &[u8]) -> Result<Self, DocumentError> {
        serde_json::from_slice(body).map(Self).map_err(|_| DocumentError::NotJson)
    }

    fn required_text(&self, field: &'static str) -> Result<&str, DocumentError> {
        match self.0.get(field) {
            None | Some(Value::Null) => Err(DocumentError::Missing { field }),
            Some(value) => value.as_str().ok_or(DocumentError::Wrong { field, wanted: "text" }),
        }
    }

    fn url_field(&self, field: &str) -> Option<Url> {
        Url::parse(self.0.get(field)?.as_str()?).ok()
    }

    fn flag_field(&self, field: &str) -> bool {
        self.0.get(field).and_then(Value::as_bool).unwrap_or_default()
    }

    fn list_field(&self, field: &str) -> Option<Vec<String>> {
        let items = self.0.get(field)?.as_array()?.iter();
        Some(items.filter_map(Value::as_str).take(OAUTH_NAMES).map(str::to_owned).collect())
    }

    fn supported_scopes(&self) -> Vec<String> {
        let mut scopes = self.list_field("scopes_supported").unwrap_or_default();
        scopes.retain(|scope| is_scope(scope));
        scopes
    }
}

#[cfg(test)]
mod tests;
