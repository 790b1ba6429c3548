//! A call that goes on by itself: it says what it does, and wants to know a name before it ends.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, Task};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use serde_json::json;

/// Long enough that somebody looks before it asks.
const STEP: Duration = Duration::from_millis(200);

/// Begins it.
pub(crate) fn begin(tasks: &TaskManager) -> Task {
    let options = TaskOptions::new().with_poll_interval_ms(50);
    tasks.spawn(options, |context| Box::pin(work(context)))
}

async fn work(context: TaskContext) -> Result<CallToolResult, TaskExit> {
    context.set_status_message("sweeping");
    tokio::time::sleep(STEP).await;
    let schema =
        json!({ "type": "object", "properties": { "name": { "type": "string", "default": "Ada" } } });
    let params = json!({ "mode": "form", "message": "For whom?", "requestedSchema": schema });
    let question = json!({ "method": "elicitation/create", "params": params });
    let question = serde_json::from_value(question)
        .map_err(|error| TaskExit::Error(ErrorData::internal_error(error.to_string(), None)))?;
    let answer = context.request_input("who", question).await?;
    Ok(CallToolResult::success(vec![ContentBlock::text(format!("swept: {answer}"))]))
}
