//! In-process servers with many tools, so that only our own code is measured.

use std::io;
use std::sync::Arc;

use mcparley::{BoxedFuture, HostBuilder};
use mcparley_wire::peer::Handler;
use mcparley_wire::{Incoming, Notice, RawJson, RpcError};
use serde_json::{Value, json};

const VERBS: [&str; 8] = ["create", "delete", "list", "update", "find", "send", "export", "archive"];
const THINGS: [&str; 10] =
    ["invoice", "user", "order", "report", "customer", "message", "result", "project", "ticket", "address"];

/// An in-process server.
#[derive(Clone, Debug)]
pub struct ManyToolsServer {
    name: String,
    /// The answer to `tools/list`.
    list: RawJson,
}

impl ManyToolsServer {
    /// The server with this number: its tools are of usual size and share many words.
    ///
    /// # Errors
    /// Only when the list cannot be serialized.
    pub fn new(number: usize, tools: usize) -> io::Result<Self> {
        let tools = (0..tools).map(|tool| tool_definition(number, tool)).collect();
        Self::with_tools(&format!("server_{number}"), tools)
    }

    /// A server with these tools.
    ///
    /// # Errors
    /// Only when the list cannot be serialized.
    pub fn with_tools(name: &str, tools: Vec<Value>) -> io::Result<Self> {
        let list = RawJson::from_value(&json!({ "tools": tools })).map_err(io::Error::other)?;
        Ok(Self { name: name.to_owned(), list })
    }

    /// The size of the list, in bytes of JSON.
    #[must_use]
    pub fn list_size(&self) -> usize {
        self.list.as_bytes().len()
    }

    /// Adds the server to a host.
    #[must_use]
    pub fn add_to_host(&self, builder: HostBuilder) -> HostBuilder {
        builder.in_process_handler(&self.name, Arc::new(self.clone()))
    }
}

impl Handler for ManyToolsServer {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let discovered = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
        let answer = match &*incoming.method {
            "server/discover" => {
                RawJson::from_value(&discovered).map_err(|_| RpcError::new(-32603, "no answer"))
            }
            "tools/list" => Ok(self.list.clone()),
            _ => Err(RpcError::new(-32601, "no such method")),
        };
        Box::pin(std::future::ready(answer))
    }

    fn handle_notice(&self, _notice: Notice) {}
}

fn tool_definition(server: usize, number: usize) -> Value {
    let pick = |words: &[&'static str], by: usize| words.get(by % words.len()).copied().unwrap_or_default();
    let (verb, thing) = (pick(&VERBS, number), pick(&THINGS, number / VERBS.len() + server));
    let other = pick(&THINGS, number + 3);
    json!({
        "name": format!("{verb}_{thing}_{number}"),
        "description": format!(
            "Will {verb} the {thing} that belongs to a {other}. Give the number of the {thing}, and of the {other} if it is \
             known; without it all of them are looked at. Returns what has changed, with the date and whoever did it."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                format!("{thing}_id"): { "type": "string", "description": format!("Number of the {thing}") },
                format!("{other}_id"): { "type": "string", "description": format!("Number of the {other}, if known") },
                "since": { "type": "string", "format": "date-time", "description": "Leave out what is older" },
                "fields": { "type": "array", "items": { "type": "string" }, "description": "What to return of each" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 500, "default": 50 },
            },
            "required": [format!("{thing}_id")],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": verb == "list" },
    })
}
