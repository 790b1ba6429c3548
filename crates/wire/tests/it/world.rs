//! A scripted server as a real process, and a client that talks to it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcparley_model::config::Era;
use mcparley_platform::process::Launch;
use mcparley_testkit::Scripted;
use mcparley_wire::handshake::{Connect, Connected, Introduction, Step, connect};
use mcparley_wire::peer::{Boxed, CallOptions, Deaf, Handler};
use mcparley_wire::transport::stdio::Stdio;
use mcparley_wire::{Failure, Params, RawJson, RpcError};
use serde_json::json;

/// Longer than anything here takes, so that a hang is a failure and not a hang.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A server to connect to, as often as the handshake wants.
pub(crate) struct Server {
    launch: Launch,
    handler: Arc<dyn Handler>,
    /// How often it was started.
    pub(crate) starts: usize,
    /// What was tried.
    pub(crate) steps: Vec<Step>,
}

impl Connect for Server {
    type Link = Stdio;

    fn open(&mut self) -> Boxed<'_, Result<Stdio, Failure>> {
        self.starts += 1;
        Box::pin(Stdio::open(&self.launch, Arc::clone(&self.handler)))
    }

    fn about_to(&mut self, step: Step) {
        self.steps.push(step);
    }
}

impl Server {
    pub(crate) fn new(scripted: Scripted) -> Self {
        let args = scripted.args.into_iter().map(OsString::from).collect();
        let launch = Launch {
            program: scripted.program.into_os_string(),
            args,
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("MARK".into(), "here".into())],
            cwd: None,
        };
        Self { launch, handler: Arc::new(Deaf), starts: 0, steps: Vec::new() }
    }

    pub(crate) fn scripted(scripts: &[&str]) -> Self {
        Self::new(Scripted::stdio(scripts))
    }

    pub(crate) fn with_handler(mut self, handler: impl Handler) -> Self {
        self.handler = Arc::new(handler);
        self
    }

    pub(crate) async fn connect(&mut self) -> Result<Connected<Stdio>, Failure> {
        self.connect_as(Era::Auto, LONG).await
    }

    pub(crate) async fn connect_as(
        &mut self,
        era: Era,
        limit: Duration,
    ) -> Result<Connected<Stdio>, Failure> {
        connect(self, era, &introduction(), limit).await
    }
}

pub(crate) fn introduction() -> Introduction {
    Introduction { info: json!({"name": "test", "version": "0"}), capabilities: json!({}) }
}

/// Calls a tool.
pub(crate) async fn call<L>(
    connected: &Connected<L>,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<RawJson, Failure> {
    let params = Params::new().with("name", &tool).with("arguments", &arguments);
    let options = CallOptions { limit: Some(LONG), ..CallOptions::default() };
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

/// Knows its roots and counts what it hears.
pub(crate) struct Rooted(pub(crate) Arc<AtomicUsize>);

impl Handler for Rooted {
    fn request(&self, method: &str, params: Option<RawJson>) -> Boxed<'static, Result<RawJson, RpcError>> {
        if method == "roots/list" {
            return Box::pin(std::future::ready(Ok(RawJson::parse(r#"{"roots":[]}"#).unwrap())));
        }
        Deaf.request(method, params)
    }

    fn notification(&self, _method: &str, _params: Option<RawJson>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
