//! Reads a resource.

use mcparley_model::limits::URI_BYTES;
use mcparley_model::name::ServerName;
use mcparley_wire::{Failure, INVALID_PARAMS, RawJson, RequestParams};
use serde::Serialize;

use super::error::ResourceError;
use super::listed;
use crate::call::{Request, RequestError};
use crate::host::Host;
use mcparley_results::{CallOutcome, ContentBlock, mend_surrogates, resource_outcome};

/// The error code of old servers for an unknown resource.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// The contents of a resource. The text is the server's and untrusted: it never belongs in a system prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResourceContents {
    /// The server of the resource.
    pub server: ServerName,
    /// The URI.
    pub uri: String,
    /// The content, sanitized; bytes are base64, as received. A folder has several blocks.
    #[serde(rename = "contents")]
    pub content: Vec<ContentBlock>,
    /// The raw answer: to forward or to save, never for display.
    #[serde(skip)]
    pub raw: RawJson,
}

impl Host {
    /// Reads a resource of a server, which is connected first if needed.
    ///
    /// # Errors
    /// A [`ResourceError`].
    pub async fn read_resource(
        &self,
        server: &ServerName,
        uri: &str,
    ) -> Result<ResourceContents, ResourceError> {
        let raw = self.fetch_resource(server, uri).await?;
        let damaged = || ResourceError::Damaged { server: server.clone() };
        let contents = raw.member_elements("contents").ok_or_else(damaged)?;
        let content = resource_outcome(&contents).ok_or_else(damaged)?.content;
        Ok(ResourceContents { server: server.clone(), uri: uri.to_owned(), content, raw })
    }

    /// Reads a resource in the form of a tool's result.
    pub(super) async fn read_resource_as_outcome(
        &self,
        server: &ServerName,
        uri: &str,
    ) -> Result<CallOutcome, ResourceError> {
        let damaged = || ResourceError::Damaged { server: server.clone() };
        let contents =
            self.fetch_resource(server, uri).await?.member_elements("contents").ok_or_else(damaged)?;
        resource_outcome(&contents).ok_or_else(damaged)
    }

    async fn fetch_resource(&self, server: &ServerName, uri: &str) -> Result<RawJson, ResourceError> {
        if uri.len() > URI_BYTES {
            return Err(ResourceError::TooLong { limit: URI_BYTES });
        }
        let params = RequestParams::new().with_member("uri", &self.listed_uri(server, uri));
        let request = Request::for_reading("resources/read", "resources", params);
        let answer = self.send_request(server, request).await.map_err(|error| not_found_error(error, uri))?;
        Ok(mend_surrogates(answer))
    }

    /// The server's exact URI for one that was displayed without its hidden characters.
    pub(super) fn listed_uri(&self, server: &ServerName, uri: &str) -> String {
        let surface = self.connection(server).map(|connection| connection.state().surface);
        let known =
            surface.map(|surface| listed::parse_resources(server, &surface.resources)).unwrap_or_default();
        let known = known.into_iter().find(|resource| resource.uri == uri);
        known.map_or_else(|| uri.to_owned(), |resource| resource.raw)
    }
}

/// Recognizes the error of a server that does not have the resource. Old servers have an error code of their
/// own for that, but many use the general one; in the new era that is the rule.
fn not_found_error(error: RequestError, uri: &str) -> ResourceError {
    match error {
        RequestError::Failed { server, failure: Failure::ErrorResponse(said), .. }
            if matches!(said.code, RESOURCE_NOT_FOUND | INVALID_PARAMS) =>
        {
            ResourceError::NotFound { server, uri: uri.to_owned(), said: said.message }
        }
        error => error.into(),
    }
}
