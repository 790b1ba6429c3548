//! From a planned server to a conversation with it.
//!
//! Local servers only so far. Who keeps a connection alive, and for whom, is not decided here.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::expand::Env;
use mcparley_model::text::Untrusted;
use mcparley_platform::process::Launch;
use mcparley_wire::Failure;
use mcparley_wire::handshake::{self, Connect, Connected, Introduction};
use mcparley_wire::peer::{Boxed, Handler};
use mcparley_wire::transport::stdio::{Stderr, Stdio};
use serde_json::json;

use crate::launch::launch;
use crate::places::Places;

/// Starts a local server and agrees on a protocol with it.
///
/// # Errors
/// A [`ConnectError`]; for a remote server [`Failure::Refused`], since those are not spoken to yet.
pub async fn connect(
    config: &ServerConfig,
    env: &Env,
    places: &Places,
    handler: Arc<dyn Handler>,
    limit: Duration,
) -> Result<Connected<Stdio>, ConnectError> {
    let Transport::Stdio(stdio) = &config.transport else {
        let reason = format!("`{}` servers are not connected to yet", config.kind());
        let failure = Failure::Refused { reason: Arc::from(reason), hint: None };
        return Err(ConnectError { failure, stderr: Untrusted::default() });
    };
    let mut server = Local { launch: launch(stdio, env, places), handler, stderr: None };
    match handshake::connect(&mut server, config.era, &introduction(), limit).await {
        Ok(connected) => Ok(connected),
        Err(failure) => Err(ConnectError { failure, stderr: server.last_words() }),
    }
}

/// A server that could not be connected to.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{failure}")]
pub struct ConnectError {
    /// Why.
    #[source]
    pub failure: Failure,
    /// The end of what it wrote to its standard error: often the real reason.
    pub stderr: Untrusted,
}

/// A local server that can be started, and started again.
struct Local {
    launch: Launch,
    handler: Arc<dyn Handler>,
    /// Of the process started last.
    stderr: Option<Stderr>,
}

impl Local {
    fn last_words(&self) -> Untrusted {
        self.stderr.as_ref().map(|stderr| Untrusted::new(stderr.text())).unwrap_or_default()
    }
}

impl Connect for Local {
    type Link = Stdio;

    fn open(&mut self) -> Boxed<'_, Result<Stdio, Failure>> {
        let started = Stdio::start(&self.launch, Arc::clone(&self.handler));
        if let Ok(server) = &started {
            self.stderr = Some(server.stderr());
        }
        Box::pin(std::future::ready(started))
    }
}

/// Who we are. Only what the host can really answer stands among the capabilities.
fn introduction() -> Introduction {
    Introduction {
        info: json!({ "name": "mcparley", "version": env!("CARGO_PKG_VERSION") }),
        capabilities: json!({}),
    }
}
