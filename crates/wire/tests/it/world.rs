//! A scripted server as a real process, and a client that talks to it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcparley_model::config::Era;
use mcparley_platform::process::ProgramLaunch;
use mcparley_testkit::ScriptedStdio;
use mcparley_wire::handshake::{
    EstablishedConnection, HandshakeStep, Introduction, ServerConnector, connect,
};
use mcparley_wire::peer::{BoxedFuture, Handler, PeerCallOptions, PingHandler};
use mcparley_wire::transport::stdio::StdioTransport;
use mcparley_wire::{Failure, Incoming, Notice, RawJson, RequestParams, RpcError};
use serde_json::json;

/// Longer than any test here takes, so that a hang becomes a failure.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A server to connect to, as often as the handshake demands.
pub(crate) struct Server {
    launch: ProgramLaunch,
    handler: Arc<dyn Handler>,
    /// The number of starts.
    pub(crate) starts: usize,
    /// The steps of the handshake.
    pub(crate) steps: Vec<HandshakeStep>,
}

impl ServerConnector for Server {
    type Link = StdioTransport;

    fn open(&mut self) -> BoxedFuture<'_, Result<StdioTransport, Failure>> {
        self.starts += 1;
        Box::pin(StdioTransport::open(&self.launch, Arc::clone(&self.handler)))
    }

    fn on_step(&mut self, step: HandshakeStep) {
        self.steps.push(step);
    }
}

impl Server {
    pub(crate) fn new(scripted: ScriptedStdio) -> Self {
        let args = scripted.args.into_iter().map(OsString::from).collect();
        let launch = ProgramLaunch {
            program: scripted.program.into_os_string(),
            args,
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("MARK".into(), "here".into())],
            cwd: None,
        };
        Self { launch, handler: Arc::new(PingHandler), starts: 0, steps: Vec::new() }
    }

    pub(crate) fn scripted(scripts: &[&str]) -> Self {
        Self::new(ScriptedStdio::new(scripts))
    }

    pub(crate) fn with_handler(mut self, handler: impl Handler) -> Self {
        self.handler = Arc::new(handler);
        self
    }

    pub(crate) async fn connect(&mut self) -> Result<EstablishedConnection<StdioTransport>, Failure> {
        self.connect_as(Era::Auto, LONG).await
    }

    pub(crate) async fn connect_as(
        &mut self,
        era: Era,
        limit: Duration,
    ) -> Result<EstablishedConnection<StdioTransport>, Failure> {
        connect(self, era, &introduction(), limit).await
    }
}

pub(crate) fn introduction() -> Introduction {
    Introduction { info: json!({"name": "test", "version": "0"}), capabilities: json!({}) }
}

/// Calls a tool.
pub(crate) async fn call<L>(
    connected: &EstablishedConnection<L>,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<RawJson, Failure> {
    let params = RequestParams::new().with_member("name", &tool).with_member("arguments", &arguments);
    let options = PeerCallOptions { limit: Some(LONG), ..PeerCallOptions::default() };
    connected.session.call("tools/call", params, options).await
}

/// The text of a tool's first content block.
pub(crate) fn text(answer: &RawJson) -> String {
    let answer: serde_json::Value = answer.decode().unwrap();
    answer["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A fresh file for a server's log.
pub(crate) fn log_file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("log")
}

/// Returns its roots and counts the messages it receives.
pub(crate) struct Rooted(pub(crate) Arc<AtomicUsize>);

impl Handler for Rooted {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        if &*incoming.method == "roots/list" {
            return Box::pin(std::future::ready(Ok(RawJson::parse(r#"{"roots":[]}"#).unwrap())));
        }
        PingHandler.handle_request(incoming)
    }

    fn handle_notice(&self, _notice: Notice) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
