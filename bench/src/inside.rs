//! Servers inside this program that have many tools, so that nothing but our own work is measured.

use std::io;
use std::sync::Arc;

use mcparley::{Boxed, HostBuilder};
use mcparley_wire::peer::Handler;
use mcparley_wire::{RawJson, RpcError};
use serde_json::{Value, json};

const VERBS: [&str; 8] = ["create", "delete", "list", "update", "find", "send", "export", "archive"];
const THINGS: [&str; 10] =
    ["invoice", "user", "order", "report", "customer", "message", "result", "project", "ticket", "address"];

/// One of the servers.
#[derive(Clone, Debug)]
pub struct Inside {
    name: String,
    /// What it answers when its tools are asked for.
    list: RawJson,
}

impl Inside {
    /// The server of this number: its tools are of usual size, with words that many share.
    ///
    /// # Errors
    /// Only when the list cannot be written.
    pub fn new(number: usize, tools: usize) -> io::Result<Self> {
        let tools: Vec<Value> = (0..tools).map(|tool| definition(number, tool)).collect();
        let list = RawJson::of(&json!({ "tools": tools })).map_err(io::Error::other)?;
        Ok(Self { name: format!("server_{number}"), list })
    }

    /// The size of its list, in bytes of JSON.
    #[must_use]
    pub fn size(&self) -> usize {
        self.list.as_bytes().len()
    }

    /// A host that has it beside its others.
    #[must_use]
    pub fn join(&self, builder: HostBuilder) -> HostBuilder {
        builder.server(&self.name, Arc::new(self.clone()))
    }
}

impl Handler for Inside {
    fn request(&self, method: &str, _params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let discovered = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
        let answer = match method {
            "server/discover" => RawJson::of(&discovered).map_err(|_| RpcError::new(-32603, "no answer")),
            "tools/list" => Ok(self.list.clone()),
            _ => Err(RpcError::new(-32601, "no such method")),
        };
        Box::pin(std::future::ready(answer))
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {}
}

fn definition(server: usize, number: usize) -> Value {
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
