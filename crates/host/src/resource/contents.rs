//! Reads one resource (X1).

use mcparley_model::limits::URI_BYTES;
use mcparley_model::name::ServerName;
use mcparley_wire::{Failure, INVALID_PARAMS, Params, RawJson};
use serde::Serialize;

use super::error::ResourceError;
use super::listed;
use crate::call::{Block, Outcome, Request, RequestError, mend_surrogates, resource_outcome};
use crate::host::Host;

/// What old servers answer who do not have a resource.
const RESOURCE_NOT_FOUND: i64 = -32002;

/// What a resource holds. The server wrote it, and nobody should take it for more than that: it never belongs into a
/// system prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ResourceContents {
    /// The server that has it.
    pub server: ServerName,
    /// Its address.
    pub uri: String,
    /// What there is to read, cleaned; bytes are base64, as they came. A folder has several.
    #[serde(rename = "contents")]
    pub content: Vec<Block>,
    /// The answer as it came: for passing on and for saving, never for showing.
    #[serde(skip)]
    pub raw: RawJson,
}

impl Host {
    /// Reads a resource of a server, which is started for it if it has to be.
    ///
    /// # Errors
    /// A [`ResourceError`].
    pub async fn read_resource(
        &self,
        server: &ServerName,
        uri: &str,
    ) -> Result<ResourceContents, ResourceError> {
        let raw = self.resource_answer(server, uri).await?;
        let damaged = || ResourceError::Damaged { server: server.clone() };
        let contents = raw.elements("contents").ok_or_else(damaged)?;
        let content = resource_outcome(&contents).ok_or_else(damaged)?.content;
        Ok(ResourceContents { server: server.clone(), uri: uri.to_owned(), content, raw })
    }

    /// The same in the form of a tool's result.
    pub(super) async fn resource_as_outcome(
        &self,
        server: &ServerName,
        uri: &str,
    ) -> Result<Outcome, ResourceError> {
        let damaged = || ResourceError::Damaged { server: server.clone() };
        let contents = self.resource_answer(server, uri).await?.elements("contents").ok_or_else(damaged)?;
        resource_outcome(&contents).ok_or_else(damaged)
    }

    async fn resource_answer(&self, server: &ServerName, uri: &str) -> Result<RawJson, ResourceError> {
        if uri.len() > URI_BYTES {
            return Err(ResourceError::TooLong { limit: URI_BYTES });
        }
        let params = Params::new().with("uri", &self.as_listed(server, uri));
        let request = Request { method: "resources/read", capability: "resources", params };
        let answer = self.request(server, request).await.map_err(|error| not_found(error, uri))?;
        Ok(mend_surrogates(answer))
    }

    /// The address as the server has it, for one that was shown without what is hidden in it.
    pub(super) fn as_listed(&self, server: &ServerName, uri: &str) -> String {
        let surface = self.connection(server).map(|connection| connection.state().surface);
        let known = surface.map(|surface| listed::resources(server, &surface.resources)).unwrap_or_default();
        let known = known.into_iter().find(|resource| resource.uri == uri);
        known.map_or_else(|| uri.to_owned(), |resource| resource.raw)
    }
}

/// Says so when the server does not have it. Old servers have a code of their own for that, and many use the general one;
/// in the new era that is the rule.
fn not_found(error: RequestError, uri: &str) -> ResourceError {
    match error {
        RequestError::Failed { server, failure: Failure::Answered(said), .. }
            if matches!(said.code, RESOURCE_NOT_FOUND | INVALID_PARAMS) =>
        {
            ResourceError::NotFound { server, uri: uri.to_owned(), said: said.message }
        }
        error => error.into(),
    }
}
