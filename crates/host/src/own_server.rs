//! The built-in server `mcparley`: through it a model, or a person, looks at the host itself.
//!
//! It needs no configuration and no network, and it is reached like every other server: over a linked pair of
//! peers, through the whole call pipeline.

mod tools;

use std::sync::{OnceLock, Weak};

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::text::Untrusted;
use mcparley_wire::peer::{Boxed, Handler};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, METHOD_NOT_FOUND, RawJson, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::host::{Host, HostInner};
use crate::surface::Surface;

/// Its name.
pub(crate) const NAME: &str = "mcparley";

/// The built-in server.
#[derive(Debug, Default)]
pub(crate) struct OwnServer {
    /// The host that is looked at. Weak, because the host owns this server.
    host: OnceLock<Weak<HostInner>>,
    /// Whether a model is shown its tools.
    is_offered: bool,
}

/// Its entry, which stands in no file.
pub(crate) fn entry() -> ServerConfig {
    ServerConfig::new(Transport::Sdk { name: NAME.to_owned() })
}

/// What it offers, known without asking it.
pub(crate) fn surface(is_offered: bool) -> Surface {
    let tools = tools::list(is_offered);
    let entries = tools.as_array().into_iter().flatten().filter_map(|tool| RawJson::of(tool).ok());
    let instructions = is_offered.then(|| Untrusted::new(INSTRUCTIONS));
    Surface { instructions, ..Surface::of_tools(&entries.collect::<Vec<_>>()) }
}

impl OwnServer {
    /// A server whose tools a model is shown, or not.
    pub(crate) fn new(is_offered: bool) -> Self {
        Self { is_offered, ..Self::default() }
    }

    /// Shows it the host it is part of.
    pub(crate) fn show(&self, host: Weak<HostInner>) {
        // It is shown one host, when that is started.
        let _first = self.host.set(host);
    }

    fn host(&self) -> Option<Host> {
        self.host.get().and_then(Weak::upgrade).map(Host::from_inner)
    }

    fn answer(&self, method: &str, params: Option<&RawJson>) -> Result<Value, RpcError> {
        match method {
            "ping" => Ok(json!({})),
            "server/discover" => Ok(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "instructions": if self.is_offered { INSTRUCTIONS } else { "" },
                "_meta": { "io.modelcontextprotocol/serverInfo": info() },
            })),
            "tools/list" => Ok(json!({ "resultType": "complete", "tools": tools::list(self.is_offered) })),
            "tools/call" => self.call(params),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        }
    }

    fn call(&self, params: Option<&RawJson>) -> Result<Value, RpcError> {
        #[derive(Deserialize)]
        struct Wanted {
            name: String,
            #[serde(default)]
            arguments: Map<String, Value>,
        }
        let wanted = params.and_then(|params| params.decode::<Wanted>().ok());
        let Some(Wanted { name, arguments }) = wanted else {
            return Err(RpcError::new(INVALID_PARAMS, "`name` and `arguments` are needed"));
        };
        let Some(host) = self.host() else {
            return Err(RpcError::new(INTERNAL, "the host has ended"));
        };
        match tools::call(&name, &arguments, &host) {
            None => Err(RpcError::new(INVALID_PARAMS, "there is no such tool")),
            Some(Ok(text)) => Ok(json!({
                "resultType": "complete",
                "content": [{ "type": "text", "text": text }],
            })),
            Some(Err(message)) => Ok(json!({
                "resultType": "complete",
                "content": [{ "type": "text", "text": message }],
                "isError": true,
            })),
        }
    }
}

const INSTRUCTIONS: &str = "Tools to look at the MCP host itself: which servers there are, how they are, why one is \
    missing, and what it logged.";

fn info() -> Value {
    json!({ "name": NAME, "version": env!("CARGO_PKG_VERSION") })
}

impl Handler for OwnServer {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        let answer = self.answer(method, params.as_ref()).and_then(|answer| {
            RawJson::of(&answer).map_err(|_| RpcError::new(INTERNAL, "the answer cannot be written"))
        });
        Box::pin(std::future::ready(answer))
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {}
}
