//! An MCP server inside the program, made of tools that are closures.
//!
//! The host connects to it over a linked pair of peers, through the whole call pipeline, like every other
//! server. Requests of the host are answered in one function, [`InProcessServer::answer_request`].

mod tool_output;

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;

use mcparley_wire::peer::{BoxedFuture, Handler};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use tool_output::ToolOutput;

/// The revision of the new era, which needs no `initialize`.
const NEW_ERA: &str = "2026-07-28";

/// The newest revision of the old era, for clients that name none.
const OLD_ERA: &str = "2025-11-25";

/// The result of a called tool, or the text of its error.
type ToolResult = Result<ToolOutput, String>;

/// A tool's closure with its types erased.
type ToolCall = dyn Fn(Value) -> BoxedFuture<'static, ToolResult> + Send + Sync;

/// An MCP server inside the program, made of tools that are closures.
///
/// ```
/// use mcparley::InProcessServer;
/// use serde_json::{Value, json};
///
/// let schema = json!({
///     "description": "Adds two numbers.",
///     "type": "object",
///     "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
///     "required": ["a", "b"],
/// });
/// let server = InProcessServer::new("calc").tool("add", schema, |arguments: Value| async move {
///     let number = |name: &str| arguments[name].as_f64().ok_or(format!("`{name}` is not a number"));
///     Ok::<_, String>(json!({ "sum": number("a")? + number("b")? }))
/// });
/// ```
///
/// [`HostBuilder::in_process_server`](crate::HostBuilder::in_process_server) adds it to a host.
pub struct InProcessServer {
    name: String,
    version: String,
    instructions: Option<String>,
    tools: Vec<InProcessTool>,
}

/// One tool: its definition and its closure.
struct InProcessTool {
    /// The tool as `tools/list` returns it.
    definition: Value,
    call: Arc<ToolCall>,
}

impl InProcessServer {
    /// A server with this name and no tools yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let (name, version) = (name.to_owned(), "0.0.0".to_owned());
        Self { name, version, instructions: None, tools: Vec::new() }
    }

    /// Sets the version that the server reports.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.version = version.to_owned();
        self
    }

    /// Sets the instructions for a model that uses the server.
    #[must_use]
    pub fn instructions(mut self, instructions: &str) -> Self {
        self.instructions = Some(instructions.to_owned());
        self
    }

    /// Adds a tool with this input schema. The schema's `title` and `description` become those of the tool.
    ///
    /// The closure gets the arguments as any type that can be deserialized, `serde_json::Value` among them.
    /// Its error becomes a result with `isError`, which the model reads.
    #[must_use]
    pub fn tool<A, O, E, F>(
        self,
        name: &str,
        schema: Value,
        call: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        O: Into<ToolOutput>,
        E: Display,
        F: Future<Output = Result<O, E>> + Send + 'static,
    {
        let mut definition = json!({ "name": name });
        for text in ["title", "description"] {
            if let Some(given) = schema.get(text) {
                definition[text] = given.clone();
            }
        }
        definition["inputSchema"] = schema;
        self.tool_from_definition(definition, call)
    }

    /// Adds a tool by its whole definition, as `tools/list` returns it: with annotations, an output schema,
    /// `_meta`.
    #[must_use]
    pub fn tool_from_definition<A, O, E, F>(
        mut self,
        definition: Value,
        call: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        O: Into<ToolOutput>,
        E: Display,
        F: Future<Output = Result<O, E>> + Send + 'static,
    {
        let call = move |arguments: Value| -> BoxedFuture<'static, ToolResult> {
            match serde_json::from_value(arguments).map(&call) {
                Ok(work) => {
                    Box::pin(async move { work.await.map(Into::into).map_err(|error| error.to_string()) })
                }
                Err(error) => Box::pin(std::future::ready(Err(format!("invalid arguments: {error}")))),
            }
        };
        self.tools.push(InProcessTool { definition, call: Arc::new(call) });
        self
    }

    /// The name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tools as `tools/list` returns them.
    pub(crate) fn tool_definitions(&self) -> impl Iterator<Item = &Value> {
        self.tools.iter().map(|tool| &tool.definition)
    }

    /// Answers one request of the host, of either era.
    fn answer_request(
        &self,
        method: &str,
        params: Option<&RawJson>,
    ) -> BoxedFuture<'static, Result<Value, RpcError>> {
        let answer = match method {
            "ping" => Ok(json!({})),
            "server/discover" => Ok(self.add_capabilities(json!({
                "resultType": "complete",
                "supportedVersions": [NEW_ERA],
                "_meta": { "io.modelcontextprotocol/serverInfo": self.server_info() },
            }))),
            "initialize" => Ok(self.add_capabilities(json!({
                "protocolVersion": requested_version(params),
                "serverInfo": self.server_info(),
            }))),
            "tools/list" => {
                Ok(json!({ "resultType": "complete", "tools": self.tool_definitions().collect::<Vec<_>>() }))
            }
            "tools/call" => match self.start_call(params) {
                Ok(call) => return Box::pin(async move { Ok(ToolOutput::into_result(call.await)) }),
                Err(error) => Err(error),
            },
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        };
        Box::pin(std::future::ready(answer))
    }

    fn start_call(&self, params: Option<&RawJson>) -> Result<BoxedFuture<'static, ToolResult>, RpcError> {
        #[derive(Deserialize)]
        struct CallParams {
            name: String,
            #[serde(default)]
            arguments: Map<String, Value>,
        }
        let params = params.and_then(|params| params.decode::<CallParams>().ok());
        let Some(CallParams { name, arguments }) = params else {
            return Err(RpcError::new(INVALID_PARAMS, "`name` and `arguments` are required"));
        };
        let tool = self.tools.iter().find(|tool| tool.definition["name"] == name.as_str());
        let tool = tool.ok_or_else(|| RpcError::new(INVALID_PARAMS, "there is no such tool"))?;
        Ok((tool.call)(Value::Object(arguments)))
    }

    /// Adds capabilities and instructions, which both eras report in the same members.
    fn add_capabilities(&self, mut description: Value) -> Value {
        description["capabilities"] = json!({ "tools": {} });
        if let Some(instructions) = &self.instructions {
            description["instructions"] = json!(instructions);
        }
        description
    }

    fn server_info(&self) -> Value {
        json!({ "name": self.name, "version": self.version })
    }
}

/// The protocol revision that `initialize` requests.
fn requested_version(params: Option<&RawJson>) -> String {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeParams {
        protocol_version: String,
    }
    let params = params.and_then(|params| params.decode::<InitializeParams>().ok());
    params.map_or_else(|| OLD_ERA.to_owned(), |params| params.protocol_version)
}

impl Handler for InProcessServer {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let answer = self.answer_request(&incoming.method, incoming.params.as_ref());
        Box::pin(async move {
            RawJson::from_value(&answer.await?)
                .map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
        })
    }

    fn handle_notice(&self, _notice: Notice) {}
}

impl std::fmt::Debug for InProcessServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tools: Vec<&Value> = self.tool_definitions().map(|definition| &definition["name"]).collect();
        f.debug_struct("InProcessServer").field("name", &self.name).field("tools", &tools).finish()
    }
}

#[cfg(test)]
mod tests;
