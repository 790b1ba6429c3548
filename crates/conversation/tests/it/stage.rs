//! A host with a server of this test, a scripted model, and the events of a turn.

use std::sync::Arc;

use mcparley::{Host, InProcessServer, Paths, RunOptions};
use mcparley_conversation::{
    Conversation, ConversationEvent, ConversationTurn, FinishedTool, ModelChoice, ModelClient, ModelError,
    TurnSummary,
};
use mcparley_testkit::ModelServer;
use mcparley_wire::transport::http::Network;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Barrier;

/// The providers, by their names.
pub(crate) const PROVIDERS: [&str; 3] = ["anthropic", "openai", "gemini"];

/// A host, a model, and their folder.
pub(crate) struct Stage {
    pub(crate) host: Host,
    pub(crate) model: ModelServer,
    _folder: TempDir,
}

/// The events of a turn, sorted.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) started: Vec<String>,
    pub(crate) finished: Vec<FinishedTool>,
    pub(crate) retries: usize,
    pub(crate) end: Option<Result<TurnSummary, ModelError>>,
}

impl Stage {
    /// A host with this server, and a model that plays these turns.
    pub(crate) async fn new(server: InProcessServer, turns: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        let paths = Paths::new(folder.path(), &project);
        let allowed = vec!["mcp__s".to_owned()];
        let run_options = RunOptions { allowed_tools: allowed, ..RunOptions::default() };
        let builder = Host::builder(&paths, &run_options).without_built_in_server();
        let host = builder.in_process_server(server).start();
        host.wait_until_ready(std::time::Duration::from_secs(60)).await;
        Self { host, model: ModelServer::start(turns), _folder: folder }
    }

    pub(crate) fn client(&self, provider: &str) -> ModelClient {
        let choice = ModelChoice::select(&format!("{provider}:scripted"), |name| match name {
            "ANTHROPIC_API_KEY" | "OPENAI_API_KEY" | "GEMINI_API_KEY" => Some("canary-key".to_owned()),
            "ANTHROPIC_BASE_URL" | "GEMINI_BASE_URL" => Some(self.model.url().to_owned()),
            "OPENAI_BASE_URL" => Some(format!("{}/v1", self.model.url())),
            _ => None,
        });
        ModelClient::new(choice.unwrap(), Network::default())
    }

    pub(crate) fn conversation(&self, provider: &str) -> Conversation {
        Conversation::new(&self.host, self.client(provider))
    }
}

/// Reads a turn to its end.
pub(crate) async fn hear(mut turn: ConversationTurn<'_>) -> Heard {
    let mut heard = Heard::default();
    while let Some(event) = turn.next().await {
        match event {
            ConversationEvent::TextDelta(text) => heard.text.push_str(&text),
            ConversationEvent::ToolStarted(tool) => heard.started.push(tool.label),
            ConversationEvent::ToolFinished(tool) => heard.finished.push(tool),
            ConversationEvent::Retrying { .. } => heard.retries += 1,
            ConversationEvent::Finished(summary) => heard.end = Some(Ok(summary)),
            ConversationEvent::Failed(error) => heard.end = Some(Err(error)),
            _ => {}
        }
    }
    heard
}

impl Heard {
    pub(crate) fn summary(&self) -> &TurnSummary {
        self.end.as_ref().unwrap().as_ref().unwrap()
    }

    pub(crate) fn error(&self) -> &ModelError {
        self.end.as_ref().unwrap().as_ref().unwrap_err()
    }
}

/// A server `s`: `meet` is read-only and waits for a second call of it, `add` adds, `fail` fails, `hang`
/// never answers.
pub(crate) fn server() -> InProcessServer {
    let barrier = Arc::new(Barrier::new(2));
    let read_only = json!({ "name": "meet", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } });
    let numbers =
        json!({ "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "number" } } });
    InProcessServer::new("s")
        .instructions("Prefer add.")
        .tool_from_definition(read_only, move |_: Value| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                Ok::<_, String>(json!("met"))
            }
        })
        .tool("add", numbers, |given: Value| async move {
            let number = |name: &str| given[name].as_f64().ok_or(format!("`{name}` is not a number"));
            Ok::<_, String>(json!({ "sum": number("a")? + number("b")? }))
        })
        .tool("fail", json!({ "type": "object" }), |_: Value| async { Err::<Value, _>("this tool fails") })
        .tool("hang", json!({ "type": "object" }), |_: Value| async {
            std::future::pending::<()>().await;
            Ok::<_, String>(json!(null))
        })
}

/// A call of a tool of the server.
pub(crate) fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": format!("mcp__s__{tool}"), "arguments": arguments })
}
