//! Servers that are slow to start: they answer the probe only after `initialize` has been sent too.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley_model::config::Era;
use mcparley_wire::handshake::{Introduction, ServerConnector, connect};
use mcparley_wire::peer::{BoxedFuture, Handler, PingHandler};
use mcparley_wire::transport::memory::{MemoryLink, link_handlers};
use mcparley_wire::{
    AgreedProtocol, Failure, Incoming, METHOD_NOT_FOUND, Notice, ProtocolVersion, RawJson, RpcError,
};
use serde_json::json;
use tokio::sync::Semaphore;

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

type Answer = fn() -> Result<RawJson, RpcError>;

/// Answers the probe and `initialize` once it has both, the one named `first` before the other.
#[derive(Clone)]
struct Slow {
    first: &'static str,
    to_discover: Answer,
    to_initialize: Answer,
    /// Opens when the second request has come, and again when the first response has been sent.
    ready: Arc<Semaphore>,
    answered: Arc<Semaphore>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Slow {
    fn new(first: &'static str, to_discover: Answer, to_initialize: Answer) -> Self {
        let closed = || Arc::new(Semaphore::new(0));
        let (ready, answered) = (closed(), closed());
        Self { first, to_discover, to_initialize, ready, answered, heard: Arc::default() }
    }

    async fn connect(&mut self) -> Result<AgreedProtocol, Failure> {
        let introduction = Introduction { info: json!({"name": "test"}), capabilities: json!({}) };
        let connected = connect(self, Era::Auto, &introduction, Duration::from_secs(30)).await?;
        Ok(connected.session.protocol())
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl ServerConnector for Slow {
    type Link = MemoryLink;

    fn open(&mut self) -> BoxedFuture<'_, Result<MemoryLink, Failure>> {
        Box::pin(async { Ok(link_handlers(Arc::new(PingHandler), Arc::new(self.clone()))) })
    }
}

impl Handler for Slow {
    fn handle_request(
        &self,
        Incoming { method, .. }: Incoming,
    ) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let (server, method) = (self.clone(), String::from(method));
        self.heard.lock().unwrap().push(method.clone());
        Box::pin(async move {
            if method == INITIALIZE {
                server.ready.add_permits(2);
            }
            server.ready.acquire().await.unwrap().forget();
            if method != server.first {
                server.answered.acquire().await.unwrap().forget();
            }
            server.answered.add_permits(1);
            match method.as_str() {
                DISCOVER => (server.to_discover)(),
                INITIALIZE => (server.to_initialize)(),
                _ => Err(RpcError::new(METHOD_NOT_FOUND, "method not found")),
            }
        })
    }

    fn handle_notice(&self, notice: Notice) {
        self.heard.lock().unwrap().push(notice.method.into());
    }
}

fn discovered() -> Result<RawJson, RpcError> {
    Ok(RawJson::from_value(&json!({"supportedVersions": ["2026-07-28"], "capabilities": {}})).unwrap())
}

fn initialized() -> Result<RawJson, RpcError> {
    Ok(RawJson::from_value(&json!({"protocolVersion": "2025-11-25", "capabilities": {}})).unwrap())
}

fn unsupported() -> Result<RawJson, RpcError> {
    Err(RpcError::new(-32022, "the initialize handshake is not accepted"))
}

fn unknown() -> Result<RawJson, RpcError> {
    Err(RpcError::new(METHOD_NOT_FOUND, "method not found"))
}

// T9: like FastMCP 4 when it takes longer to load than the timeout of the probe.
#[tokio::test(start_paused = true)]
async fn a_late_answer_to_the_probe_still_counts() {
    for first in [DISCOVER, INITIALIZE] {
        let mut server = Slow::new(first, discovered, unsupported);
        assert_eq!(server.connect().await.unwrap(), AgreedProtocol::New, "{first} is answered first");
        assert_eq!(server.heard(), [DISCOVER, INITIALIZE]);
    }
}

// T9
#[tokio::test(start_paused = true)]
async fn late_refusal_of_the_probe_keeps_initialize_pending() {
    for first in [DISCOVER, INITIALIZE] {
        let mut server = Slow::new(first, unknown, initialized);
        let spoken = server.connect().await.unwrap();
        assert_eq!(spoken, AgreedProtocol::Old(ProtocolVersion::NEWEST_OLD), "{first} is answered first");
        let greetings = server.heard().into_iter().filter(|method| method == INITIALIZE).count();
        assert_eq!(greetings, 1);
    }
}

// T9
#[tokio::test(start_paused = true)]
async fn server_that_refuses_both_fails_with_its_answer_to_initialize() {
    let refused: Answer = || Err(RpcError::new(-32000, "go away"));
    let error = Slow::new(DISCOVER, unknown, refused).connect().await.unwrap_err();
    assert!(matches!(&error, Failure::ErrorResponse(answer) if answer.code == -32000), "{error:?}");
}
