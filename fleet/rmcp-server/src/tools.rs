//! The tools it offers: one that works, one that fails, one that takes its time, one that goes on by itself.

use std::time::Duration;

use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    CreateTaskResult, GetTaskParams, GetTaskResult, Implementation, ProgressNotificationParam,
    RequestMetaObject, ServerCapabilities, ServerConfig, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, schemars, tool, tool_handler, tool_router};

use crate::chore;

/// How long each step of `slow` takes: long enough that progress comes before the answer.
const STEP: Duration = Duration::from_millis(20);

/// The server; between calls it remembers what goes on by itself.
#[derive(Clone, Default)]
pub(crate) struct Server {
    tasks: TaskManager,
}

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
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        let name = Implementation::new("mcparley-fleet-rmcp", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let knows_tasks = context.client_capabilities().is_some_and(|client| client.supports_tasks());
        if request.name == "chore" && knows_tasks {
            return Ok(CallToolResponse::Task(CreateTaskResult::new(chore::begin(&self.tasks))));
        }
        Self::tool_router().call(ToolCallContext::new(self, request, context)).await
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}

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

    #[tool(description = "Ask for a name in between, where calls can go on by themselves")]
    fn chore(&self) -> String {
        "done at once".to_owned()
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
