//! Dispatches calls of the host's built-in tools to the modules that implement them.

use std::sync::Arc;

use mcparley_wire::RawJson;
use serde::Serialize;

use super::requested_call::Call;
use crate::call_error::CallError;
use crate::host::Host;
use mcparley_catalog::BuiltIn;
use mcparley_results::CallOutcome;
use mcparley_results::shape_outcome;

impl Host {
    pub(super) async fn run_built_in_tool(
        &self,
        tool: BuiltIn,
        call: &Call,
    ) -> Result<CallOutcome, CallError> {
        match tool {
            BuiltIn::ListResources => self.list_resources(call),
            BuiltIn::ReadResource => self.read_resource_for_model(call).await,
            BuiltIn::ReadResult => self.run_read_result(call).await,
            BuiltIn::ToolSearch => self.search_by_tool(&call.arguments).await,
        }
    }
}

/// The outcome of a built-in tool, from its result as JSON.
pub(crate) fn outcome_from_json(result: &impl Serialize) -> Result<CallOutcome, CallError> {
    let own = |message: String| CallError::BuiltInTool { message: Arc::from(message) };
    let raw = RawJson::from_value(result).map_err(|error| own(error.to_string()))?;
    shape_outcome(raw).map_err(|failure| own(failure.to_string()))
}
