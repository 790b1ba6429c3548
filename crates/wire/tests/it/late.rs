//! Servers that are slow to start: they answer the probe only after the old greeting has been sent too.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley_model::config::Era;
use mcparley_wire::handshake::{Connect, Introduction, connect};
use mcparley_wire::peer::{Boxed, Deaf, Handler};
use mcparley_wire::transport::memory::{Link, link};
use mcparley_wire::{Failure, METHOD_NOT_FOUND, RawJson, RpcError, Spoken, Version};
use serde_json::json;
use tokio::sync::Semaphore;

const DISCOVER: &str = "server/discover";
const INITIALIZE: &str = "initialize";

type Answer = fn() -> Result<RawJson, RpcError>;

/// Answers both greetings once it has both, the one named `first` before the other.
#[derive(Clone)]
struct Slow {
    first: &'static str,
    to_discover: Answer,
    to_initialize: Answer,
    /// Opens when the second greeting has come, and again when the first answer has been given.
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

    async fn connect(&mut self) -> Result<Spoken, Failure> {
        let introduction = Introduction { info: json!({"name": "test"}), capabilities: json!({}) };
        let connected = connect(self, Era::Auto, &introduction, Duration::from_secs(30)).await?;
        Ok(connected.session.spoken())
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl Connect for Slow {
    type Link = Link;

    fn open(&mut self) -> Boxed<'_, Result<Link, Failure>> {
        Box::pin(async { Ok(link(Arc::new(Deaf), Arc::new(self.clone()))) })
    }
}

impl Handler for Slow {
    fn request(&self, method: &str, _: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        self.heard.lock().unwrap().push(method.to_owned());
        let (server, method) = (self.clone(), method.to_owned());
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

    fn notification(&self, method: &str, _: Option<RawJson>) {
        self.heard.lock().unwrap().push(method.to_owned());
    }
}

fn discovered() -> Result<RawJson, RpcError> {
    Ok(RawJson::of(&json!({"supportedVersions": ["2026-07-28"], "capabilities": {}})).unwrap())
}

fn initialized() -> Result<RawJson, RpcError> {
    Ok(RawJson::of(&json!({"protocolVersion": "2025-11-25", "capabilities": {}})).unwrap())
}

fn unsupported() -> Result<RawJson, RpcError> {
    Err(RpcError::new(-32022, "the initialize handshake is not accepted"))
}

fn unknown() -> Result<RawJson, RpcError> {
    Err(RpcError::new(METHOD_NOT_FOUND, "method not found"))
}

// T9: as FastMCP 4 does when loading it takes longer than the probe may.
#[tokio::test(start_paused = true)]
async fn a_late_answer_to_the_probe_still_counts() {
    for first in [DISCOVER, INITIALIZE] {
        let mut server = Slow::new(first, discovered, unsupported);
        assert_eq!(server.connect().await.unwrap(), Spoken::New, "{first} is answered first");
        assert_eq!(server.heard(), [DISCOVER, INITIALIZE]);
    }
}

// T9
#[tokio::test(start_paused = true)]
async fn a_late_refusal_of_the_probe_leaves_the_old_greeting_as_sent() {
    for first in [DISCOVER, INITIALIZE] {
        let mut server = Slow::new(first, unknown, initialized);
        let spoken = server.connect().await.unwrap();
        assert_eq!(spoken, Spoken::Old(Version::NEWEST_OLD), "{first} is answered first");
        let greetings = server.heard().into_iter().filter(|method| method == INITIALIZE).count();
        assert_eq!(greetings, 1);
    }
}

// T9
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_both_fails_with_its_answer_to_the_old_greeting() {
    let refused: Answer = || Err(RpcError::new(-32000, "go away"));
    let error = Slow::new(DISCOVER, unknown, refused).connect().await.unwrap_err();
    assert!(matches!(&error, Failure::Answered(answer) if answer.code == -32000), "{error:?}");
}
