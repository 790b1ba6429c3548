//! Reads the two kinds of descriptions out of JSON.
//!
//! What sign-in cannot do without must be there and of its kind; whatever else is wrong counts as not said, because servers
//! say much that nobody reads. Whether a description is believed is decided in [`super`].

use mcparley_model::limits::OAUTH_NAMES;
use serde_json::{Map, Value};
use url::Url;

use crate::client::Proof;
use crate::metadata::{Found, Resource, Server};
use crate::scopes::is_scope;

/// Why a description cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is not a JSON object.
    #[error("it is not a JSON object")]
    NotJson,
    /// It leaves something out that sign-in needs.
    #[error("it has no `{field}`")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// Something that sign-in needs is not what it should be.
    #[error("its `{field}` is not {wanted}")]
    Wrong {
        /// The field.
        field: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
}

/// Reads what a protected server says about itself (RFC 9728).
pub(super) fn resource(body: &[u8]) -> Result<Resource, DocumentError> {
    let document = Document::read(body)?;
    Ok(Resource {
        resource: document.text("resource")?.to_owned(),
        authorization_servers: document.list("authorization_servers").unwrap_or_default(),
        scopes: document.scopes(),
        dpop_required: document.flag("dpop_bound_access_tokens_required"),
    })
}

/// Reads what an authorization server says about itself (RFC 8414, OpenID Connect Discovery).
pub(super) fn server(body: &[u8]) -> Result<Server, DocumentError> {
    let document = Document::read(body)?;
    let token_endpoint = document.text("token_endpoint")?;
    let wrong = DocumentError::Wrong { field: "token_endpoint", wanted: "a URL" };
    let methods = document.list("code_challenge_methods_supported").unwrap_or_default();
    let proofs = document.list("token_endpoint_auth_methods_supported");
    Ok(Server {
        issuer: document.text("issuer")?.to_owned(),
        authorization_endpoint: document.url("authorization_endpoint"),
        token_endpoint: Url::parse(token_endpoint).map_err(|_| wrong)?,
        registration_endpoint: document.url("registration_endpoint"),
        device_endpoint: document.url("device_authorization_endpoint"),
        revocation_endpoint: document.url("revocation_endpoint"),
        scopes: document.scopes(),
        grants: document.list("grant_types_supported"),
        proofs: proofs.map(|names| names.iter().filter_map(|name| Proof::named(name)).collect()),
        signing: document.list("token_endpoint_auth_signing_alg_values_supported"),
        has_s256: methods.iter().any(|method| method == "S256"),
        names_issuer: document.flag("authorization_response_iss_parameter_supported"),
        takes_documents: document.flag("client_id_metadata_document_supported"),
        dpop: document.list("dpop_signing_alg_values_supported").unwrap_or_default(),
        found: Found::Described,
    })
}

struct Document(Map<String, Value>);

impl Document {
    fn read(body: &[u8]) -> Result<Self, DocumentError> {
        serde_json::from_slice(body).map(Self).map_err(|_| DocumentError::NotJson)
    }

    fn text(&self, field: &'static str) -> Result<&str, DocumentError> {
        match self.0.get(field) {
            None | Some(Value::Null) => Err(DocumentError::Missing { field }),
            Some(value) => value.as_str().ok_or(DocumentError::Wrong { field, wanted: "text" }),
        }
    }

    fn url(&self, field: &str) -> Option<Url> {
        Url::parse(self.0.get(field)?.as_str()?).ok()
    }

    fn flag(&self, field: &str) -> bool {
        self.0.get(field).and_then(Value::as_bool).unwrap_or_default()
    }

    fn list(&self, field: &str) -> Option<Vec<String>> {
        let items = self.0.get(field)?.as_array()?.iter();
        Some(items.filter_map(Value::as_str).take(OAUTH_NAMES).map(str::to_owned).collect())
    }

    fn scopes(&self) -> Vec<String> {
        let mut scopes = self.list("scopes_supported").unwrap_or_default();
        scopes.retain(|scope| is_scope(scope));
        scopes
    }
}

#[cfg(test)]
mod tests;
