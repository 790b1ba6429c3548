//! The tools it offers: one that works, one that fails, one that takes its time.

use std::time::Duration;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam, RequestMetaObject};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, schemars, tool, tool_handler, tool_router};

/// How long each step of `slow` takes: long enough that progress comes before the answer.
const STEP: Duration = Duration::from_millis(20);

/// The server; it remembers nothing between calls.
#[derive(Clone, Debug)]
pub(crate) struct Server;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    /// The first number
    a: i64,
    /// The second number
    b: i64,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Complaint {
    /// What the failure says
    message: String,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Steps {
    /// How many steps to take
    steps: u32,
}

#[tool_handler(name = "mcparley-fleet-rmcp")]
impl ServerHandler for Server {}

#[tool_router]
impl Server {
    #[tool(description = "Add two integers", annotations(title = "Addition", read_only_hint = true))]
    fn add(&self, Parameters(Sum { a, b }): Parameters<Sum>) -> Result<String, ErrorData> {
        let sum = a.checked_add(b).ok_or_else(|| ErrorData::invalid_params("the sum is too large", None))?;
        Ok(sum.to_string())
    }

    #[tool(description = "Always fail", annotations(destructive_hint = true))]
    fn fail(&self, Parameters(Complaint { message }): Parameters<Complaint>) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(message)])
    }

    #[tool(description = "Report progress step by step, then finish")]
    async fn slow(
        &self,
        Parameters(Steps { steps }): Parameters<Steps>,
        meta: RequestMetaObject,
        client: Peer<RoleServer>,
    ) -> Result<String, ErrorData> {
        for step in 1..=steps {
            tokio::time::sleep(STEP).await;
            if let Some(token) = meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, step.into()).with_total(steps.into());
                let sent = client.notify_progress(progress).await;
                sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            }
        }
        Ok(format!("{steps} steps"))
    }
}
