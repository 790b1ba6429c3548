//! From a planned server to a conversation with it.
//!
//! Local servers and those that speak Streamable HTTP, so far. Who keeps a connection alive, and for whom, is
//! not decided here.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::{Remote, ServerConfig, Transport};
use mcparley_model::expand::Env;
use mcparley_model::text::Untrusted;
use mcparley_platform::process::Launch;
use mcparley_wire::handshake::{self, Carrier, Connect, Connected, Introduction};
use mcparley_wire::peer::{Boxed, Handler, Peer};
use mcparley_wire::transport::http::{Http, HttpTarget};
use mcparley_wire::transport::stdio::{Stderr, Stdio};
use mcparley_wire::{Failure, Spoken};
use serde_json::json;

use crate::launch::launch;
use crate::places::Places;

/// A connection to a server, whatever it is made of.
#[derive(Debug)]
#[non_exhaustive]
pub enum Link {
    /// A child process.
    Local(Stdio),
    /// A server behind a URL.
    Remote(Http),
}

impl Link {
    /// Ends it in order: a process and all it started, or a session.
    pub async fn stop(self) {
        match self {
            Self::Local(stdio) => stdio.stop().await,
            Self::Remote(http) => http.stop().await,
        }
    }
}

impl Carrier for Link {
    fn peer(&self) -> &Peer {
        match self {
            Self::Local(stdio) => stdio.peer(),
            Self::Remote(http) => http.peer(),
        }
    }

    fn agreed(&self, spoken: Spoken) {
        match self {
            Self::Local(stdio) => stdio.agreed(spoken),
            Self::Remote(http) => http.agreed(spoken),
        }
    }
}

/// Reaches a server and agrees on a protocol with it.
///
/// # Errors
/// A [`ConnectError`]; for the transports that are not spoken yet [`Failure::Refused`].
pub async fn connect(
    config: &ServerConfig,
    env: &Env,
    places: &Places,
    handler: Arc<dyn Handler>,
    limit: Duration,
) -> Result<Connected<Link>, ConnectError> {
    let target = match &config.transport {
        Transport::Stdio(stdio) => Target::Program(launch(stdio, env, places)),
        Transport::Http(Remote { url, headers, headers_helper: None, oauth: _ }) => {
            Target::Address(HttpTarget { url: url.expose().clone(), headers: headers.clone() })
        }
        Transport::Http(_) => return Err(ConnectError::not_yet("servers with a `headersHelper`")),
        Transport::Sse(_)
        | Transport::Ws(_)
        | Transport::Sdk { .. }
        | Transport::SseIde(_)
        | Transport::WsIde(_)
        | Transport::ClaudeAiProxy { .. } => {
            return Err(ConnectError::not_yet(&format!("`{}` servers", config.kind())));
        }
    };
    let mut server = Server { target, handler, stderr: None };
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

impl ConnectError {
    fn not_yet(what: &str) -> Self {
        let reason = Arc::from(format!("{what} are not connected to yet"));
        Self { failure: Failure::Refused { reason, hint: None }, stderr: Untrusted::default() }
    }
}

/// A server that can be reached, and reached again.
struct Server {
    target: Target,
    handler: Arc<dyn Handler>,
    /// Of the process started last.
    stderr: Option<Stderr>,
}

enum Target {
    Program(Launch),
    Address(HttpTarget),
}

impl Server {
    fn last_words(&self) -> Untrusted {
        self.stderr.as_ref().map(|stderr| Untrusted::new(stderr.text())).unwrap_or_default()
    }

    fn open_now(&mut self) -> Result<Link, Failure> {
        match &self.target {
            Target::Program(launch) => {
                let server = Stdio::start(launch, Arc::clone(&self.handler))?;
                self.stderr = Some(server.stderr());
                Ok(Link::Local(server))
            }
            Target::Address(target) => Http::open(target, Arc::clone(&self.handler)).map(Link::Remote),
        }
    }
}

impl Connect for Server {
    type Link = Link;

    fn open(&mut self) -> Boxed<'_, Result<Link, Failure>> {
        Box::pin(std::future::ready(self.open_now()))
    }
}

/// Who we are. Only what the host can really answer stands among the capabilities.
fn introduction() -> Introduction {
    Introduction {
        info: json!({ "name": "mcparley", "version": env!("CARGO_PKG_VERSION") }),
        capabilities: json!({}),
    }
}
