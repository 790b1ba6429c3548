//! The tools that a conversation has been shown. The list only grows at its end, so that the provider's
//! prompt cache stays valid.

use mcparley::catalog::{Budget, ModelTools};
use mcparley::{CallOutcome, Host};
use serde::Deserialize;

use crate::provider::Provider;

/// The tools that the model has been shown.
#[derive(Debug, Default)]
pub(super) struct OfferedTools {
    /// The names of the listed tools, in their order.
    listed: Vec<String>,
    /// The names of tools that `ToolSearch` found.
    found: Vec<String>,
}

impl OfferedTools {
    /// The tools for the next request.
    pub(super) fn offer_tools(&mut self, host: &Host, budget: &Budget, provider: Provider) -> ModelTools {
        let offer = host
            .publish_catalog()
            .model_offer(budget)
            .with_earlier(&self.listed)
            .with_found(self.found.drain(..));
        if !offer.deferred.is_empty() {
            host.prepare_search();
        }
        self.listed = offer.listed.iter().map(|entry| entry.name.to_string()).collect();
        offer.for_model(provider.dialect())
    }

    /// Notes the tools that a search found: the next request lists them.
    pub(super) fn add_found(&mut self, outcome: &CallOutcome) {
        let report = outcome.structured.as_ref().and_then(|json| json.decode::<FoundToolList>().ok());
        let tools = report.map(|report| report.tools).unwrap_or_default();
        self.found.extend(tools.into_iter().map(|tool| tool.name));
    }
}

/// The result of `ToolSearch`, as far as it is needed here.
#[derive(Deserialize)]
struct FoundToolList {
    tools: Vec<FoundTool>,
}

#[derive(Deserialize)]
struct FoundTool {
    name: String,
}
