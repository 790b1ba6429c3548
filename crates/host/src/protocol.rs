//! The parts of the protocol in the signatures of this crate: handlers of in-process servers with their messages, the
//! failures of a server, and a server's description of itself.
//!
//! ```
//! use std::sync::Arc;
//!
//! use mcparley::protocol::{Handler, INTERNAL, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
//! use mcparley::{BoxedFuture, Host, Paths, RunOptions};
//! use serde_json::json;
//!
//! /// A server with one prompt.
//! struct Greeter;
//!
//! impl Handler for Greeter {
//!     fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
//!         let result = match &*incoming.method {
//!             "initialize" => json!({
//!                 "protocolVersion": "2025-11-25", "capabilities": { "prompts": {} },
//!                 "serverInfo": { "name": "greeter", "version": "1.0.0" },
//!             }),
//!             "prompts/list" => json!({ "prompts": [{ "name": "greet" }] }),
//!             method => {
//!                 let error = RpcError::new(METHOD_NOT_FOUND, &format!("`{method}` is unknown"));
//!                 return Box::pin(async { Err(error) });
//!             }
//!         };
//!         let result = RawJson::from_value(&result);
//!         Box::pin(async move { result.map_err(|error| RpcError::new(INTERNAL, &error.to_string())) })
//!     }
//!
//!     fn handle_notice(&self, _notice: Notice) {}
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let project = home.path().join("project");
//! # std::fs::create_dir(&project)?;
//! # let (paths, run_options) = (Paths::new(home.path(), &project), RunOptions::default());
//! let host = Host::builder(&paths, &run_options).in_process_handler("greeter", Arc::new(Greeter)).start();
//! host.wait_until_ready(std::time::Duration::from_secs(10)).await;
//! assert!(host.prompts().get("/mcp__greeter__greet").is_some());
//! # host.shut_down().await;
//! # Ok(())
//! # }
//! ```

pub use mcparley_wire::peer::{Handler, Peer, PeerCallOptions};
pub use mcparley_wire::{
    AgreedProtocol, AskError, Cause, ConnectionLoss, Damage, Delivery, Failure, FailurePhase, INTERNAL,
    INVALID_PARAMS, Incoming, JsonPieces, METHOD_NOT_FOUND, Notice, Obstacle, ProtocolVersion, RawJson,
    Replies, ReplySink, RequestId, RpcError, ServerDescription, ServerExit,
};
