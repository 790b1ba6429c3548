//! The host's own tools: each is answered where its subject is (N9).

use std::sync::Arc;

use mcparley_wire::RawJson;
use serde::Serialize;

use super::error::CallError;
use super::outcome::Outcome;
use super::shape::shape;
use super::wish::Call;
use crate::catalog::BuiltIn;
use crate::host::Host;

impl Host {
    pub(super) async fn own(&self, tool: BuiltIn, call: &Call) -> Result<Outcome, CallError> {
        match tool {
            BuiltIn::ListResources => self.list_resources(call),
            BuiltIn::ReadResource => self.read_resource_for_model(call).await,
            BuiltIn::ReadResult => self.read_result(&call.arguments).await,
            BuiltIn::ToolSearch => self.search_by_tool(&call.arguments).await,
        }
    }
}

/// The answer of a tool of the host's own.
pub(crate) fn answer(result: &impl Serialize) -> Result<Outcome, CallError> {
    let own = |message: String| CallError::Own { message: Arc::from(message) };
    let raw = RawJson::of(result).map_err(|error| own(error.to_string()))?;
    shape(raw).map_err(|failure| own(failure.to_string()))
}
