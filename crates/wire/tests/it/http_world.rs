//! A client of the scripted HTTP server.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_model::secret::Secret;
use mcparley_testkit::{HttpServer, log_lines};
use mcparley_wire::Failure;
use mcparley_wire::authorizer::Authorizer;
use mcparley_wire::handshake::{EstablishedConnection, ServerConnector, connect};
use mcparley_wire::peer::{BoxedFuture, Handler, PingHandler};
use mcparley_wire::transport::http::{HttpTarget, HttpTransport, KeepAlive, Network, NetworkSettings};
use mcparley_wire::transport::sse::SseTransport;
use mcparley_wire::transport::ws::WsTransport;
use serde_json::Value;

use crate::world::{LONG, introduction};

/// The fault catalog says 100 ms for an idle machine; this one runs other tests at the same time.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(1);

/// A server to connect to.
pub(crate) struct Site {
    target: HttpTarget,
    network: Network,
    handler: Arc<dyn Handler>,
}

impl ServerConnector for Site {
    type Link = HttpTransport;

    fn open(&mut self) -> BoxedFuture<'_, Result<HttpTransport, Failure>> {
        Box::pin(std::future::ready(self.open_http()))
    }
}

impl Site {
    pub(crate) fn at(url: &str) -> Self {
        let target = HttpTarget::new(url.parse().unwrap(), Vec::new());
        Self { target, network: Network::default(), handler: Arc::new(PingHandler) }
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.target.headers.push((name.to_owned(), Secret::new(value.to_owned())));
        self
    }

    pub(crate) fn with_authorizer(mut self, authorizer: &Arc<impl Authorizer>) -> Self {
        let authorizer = Arc::clone(authorizer);
        self.target.authorizer = authorizer;
        self
    }

    pub(crate) fn with_handler(mut self, handler: impl Handler) -> Self {
        self.handler = Arc::new(handler);
        self
    }

    /// Uses a network with these variables.
    pub(crate) fn with_variables(mut self, variables: &[(&str, &str)]) -> Self {
        let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let settings =
            NetworkSettings::from_lookup(|name| lookup(name).map(|(_, value)| (*value).to_owned()));
        self.network = Network::new(settings);
        self
    }

    /// Uses a network with a short keep-alive timeout.
    pub(crate) fn with_keep_alive(mut self, keep_alive: KeepAlive) -> Self {
        self.network = Network::new(NetworkSettings { keep_alive, ..NetworkSettings::default() });
        self
    }

    pub(crate) async fn connect_as(
        &mut self,
        era: Era,
    ) -> Result<EstablishedConnection<HttpTransport>, Failure> {
        connect(self, era, &introduction(), LONG).await
    }

    /// Uses the legacy SSE transport.
    pub(crate) async fn open_sse(&self) -> Result<SseTransport, Failure> {
        SseTransport::open(&self.target, &self.network, Arc::clone(&self.handler)).await
    }

    /// Uses the legacy SSE transport, if the server has it.
    pub(crate) async fn probe_sse(&self) -> Result<Option<SseTransport>, Failure> {
        SseTransport::probe(&self.target, &self.network, Arc::clone(&self.handler)).await
    }

    /// Uses a WebSocket.
    pub(crate) async fn open_socket(&self) -> Result<WsTransport, Failure> {
        WsTransport::open(&self.target, &self.network, Arc::clone(&self.handler)).await
    }

    pub(crate) fn open_http(&self) -> Result<HttpTransport, Failure> {
        HttpTransport::open(&self.target, &self.network, Arc::clone(&self.handler))
    }
}

/// Connects to a server in the old era, which its scripts are about.
pub(crate) async fn old(server: &HttpServer) -> EstablishedConnection<HttpTransport> {
    Site::at(server.url()).connect_as(Era::Old).await.unwrap()
}

/// Connects to a server that supports only the new era.
pub(crate) async fn new(server: &HttpServer) -> EstablishedConnection<HttpTransport> {
    Site::at(server.url()).connect_as(Era::New).await.unwrap()
}

/// Options for a server that supports only the new era.
pub(crate) const NEW: [&str; 2] = ["--versions", "2026-07-28"];

/// Fetches the statistics until they are as expected: messages may still be on their way.
pub(crate) async fn until(server: &HttpServer, expected: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let stats = server.stats();
        if expected(&stats) {
            return stats;
        }
        assert!(start.elapsed() < LONG, "{stats}");
        tokio::task::yield_now().await;
    }
}

/// A received message: a method and the headers in lower case, or the body.
pub(crate) fn received(log: &Path) -> Vec<Value> {
    log_lines(log).iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
}
