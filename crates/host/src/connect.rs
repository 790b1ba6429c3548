//! From a planned server to a conversation with it.
//!
//! Local servers only so far. Who keeps a connection alive, and for whom, is not decided here.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::expand::Env;
use mcparley_platform::process::Launch;
use mcparley_wire::Failure;
use mcparley_wire::handshake::{self, Connect, Connected, Introduction};
use mcparley_wire::peer::{Boxed, Handler};
use mcparley_wire::transport::stdio::Stdio;
use serde_json::json;

use crate::launch::launch;
use crate::places::Places;

/// Starts a local server and agrees on a protocol with it.
///
/// # Errors
/// A [`Failure`]; for a remote server [`Failure::Refused`], since those are not spoken to yet.
pub async fn connect(
    config: &ServerConfig,
    env: &Env,
    places: &Places,
    handler: Arc<dyn Handler>,
    limit: Duration,
) -> Result<Connected<Stdio>, Failure> {
    let Transport::Stdio(stdio) = &config.transport else {
        let reason = format!("`{}` servers are not connected to yet", config.kind());
        return Err(Failure::Refused { reason: Arc::from(reason), hint: None });
    };
    let mut server = Local { launch: launch(stdio, env, places), handler };
    handshake::connect(&mut server, config.era, &introduction(), limit).await
}

/// A local server that can be started, and started again.
struct Local {
    launch: Launch,
    handler: Arc<dyn Handler>,
}

impl Connect for Local {
    type Link = Stdio;

    fn open(&mut self) -> Boxed<'_, Result<Stdio, Failure>> {
        Box::pin(std::future::ready(Stdio::start(&self.launch, Arc::clone(&self.handler))))
    }
}

/// Who we are. Only what the host can really answer stands among the capabilities.
fn introduction() -> Introduction {
    Introduction {
        info: json!({ "name": "mcparley", "version": env!("CARGO_PKG_VERSION") }),
        capabilities: json!({}),
    }
}
