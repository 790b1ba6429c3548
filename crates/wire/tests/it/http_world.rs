//! A client of the scripted server behind a URL.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_model::config::Era;
use mcparley_model::secret::Secret;
use mcparley_testkit::{HttpServer, log_lines};
use mcparley_wire::Failure;
use mcparley_wire::authorizer::Authorizer;
use mcparley_wire::handshake::{Connect, Connected, connect};
use mcparley_wire::peer::{Boxed, Deaf, Handler};
use mcparley_wire::transport::http::{Http, HttpTarget, KeepAlive, Network, NetworkSettings};
use mcparley_wire::transport::sse::Sse;
use mcparley_wire::transport::ws::Ws;
use serde_json::Value;

use crate::world::{LONG, introduction};

/// The fault catalogue says 100 ms for an idle machine; this one runs the other tests beside.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(1);

/// A server to connect to.
pub(crate) struct Site {
    target: HttpTarget,
    network: Network,
    handler: Arc<dyn Handler>,
}

impl Connect for Site {
    type Link = Http;

    fn open(&mut self) -> Boxed<'_, Result<Http, Failure>> {
        Box::pin(std::future::ready(self.open_http()))
    }
}

impl Site {
    pub(crate) fn at(url: &str) -> Self {
        let target = HttpTarget::new(url.parse().unwrap(), Vec::new());
        Self { target, network: Network::default(), handler: Arc::new(Deaf) }
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

    /// On a network that these variables describe.
    pub(crate) fn with_variables(mut self, variables: &[(&str, &str)]) -> Self {
        let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name);
        let settings =
            NetworkSettings::from_lookup(|name| lookup(name).map(|(_, value)| (*value).to_owned()));
        self.network = Network::new(settings);
        self
    }

    /// On a network of which one knows sooner that it is gone.
    pub(crate) fn with_keep_alive(mut self, keep_alive: KeepAlive) -> Self {
        self.network = Network::new(NetworkSettings { keep_alive, ..NetworkSettings::default() });
        self
    }

    pub(crate) async fn connect_as(&mut self, era: Era) -> Result<Connected<Http>, Failure> {
        connect(self, era, &introduction(), LONG).await
    }

    /// The oldest transport, known to be the one.
    pub(crate) async fn open_sse(&self) -> Result<Sse, Failure> {
        Sse::open(&self.target, &self.network, Arc::clone(&self.handler)).await
    }

    /// The oldest transport, if the server has it.
    pub(crate) async fn probe_sse(&self) -> Result<Option<Sse>, Failure> {
        Sse::probe(&self.target, &self.network, Arc::clone(&self.handler)).await
    }

    /// A WebSocket.
    pub(crate) async fn open_socket(&self) -> Result<Ws, Failure> {
        Ws::open(&self.target, &self.network, Arc::clone(&self.handler)).await
    }

    pub(crate) fn open_http(&self) -> Result<Http, Failure> {
        Http::open(&self.target, &self.network, Arc::clone(&self.handler))
    }
}

/// Connects to a server in the old way, which is what its scripts are about.
pub(crate) async fn old(server: &HttpServer) -> Connected<Http> {
    Site::at(server.url()).connect_as(Era::Old).await.unwrap()
}

/// Connects to a server that knows only the new way.
pub(crate) async fn new(server: &HttpServer) -> Connected<Http> {
    Site::at(server.url()).connect_as(Era::New).await.unwrap()
}

/// Options for a server that knows only the new way.
pub(crate) const NEW: [&str; 2] = ["--versions", "2026-07-28"];

/// Asks for the figures until they are as expected: what was sent may still be on its way.
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

/// What a server received: a method and the headers in lower case, or the body.
pub(crate) fn received(log: &Path) -> Vec<Value> {
    log_lines(log).iter().map(|line| serde_json::from_str(&line.text).unwrap()).collect()
}
