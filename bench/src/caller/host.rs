//! Calls as an agent makes them: looked up, validated, permitted, dispatched and shaped.

use std::io;
use std::time::Duration;

use mcparley::{Call, ContentBlock, Host, HostBuilder, Paths, RunOptions};
use serde_json::json;

use super::check_length;
use super::door::LibraryLayer;
use crate::stage::BenchStage;

/// The timeout for starting one server.
const LIMIT: Duration = Duration::from_secs(60);

/// A host with one server.
#[derive(Clone)]
pub(super) struct HostLayer(Host);

impl HostLayer {
    pub(super) async fn open(stage: &BenchStage) -> io::Result<Self> {
        Self::open_with(stage, HostBuilder::without_result_limit).await
    }

    async fn open_with(
        stage: &BenchStage,
        change: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> io::Result<Self> {
        let mut paths = Paths::new(stage.home(), stage.home());
        paths.results = Some(stage.home().join("results"));
        let run_options = RunOptions {
            mcp_config: vec![stage.write_configuration(1)?.to_string_lossy().into_owned()],
            strict: true,
            allowed_tools: vec!["mcp__s00__echo".to_owned()],
            ..RunOptions::default()
        };
        let host = change(Host::builder(&paths, &run_options).without_built_in_server()).start();
        let readiness = host.wait_until_ready(LIMIT).await;
        if readiness.is_ready() { Ok(Self(host)) } else { Err(io::Error::other("the server is not ready")) }
    }
}

impl LibraryLayer for HostLayer {
    async fn call(&self, size: usize) -> io::Result<()> {
        let call = Call::new("mcp__s00__echo", json!({ "size": size }));
        let outcome = self.0.call(call).await.map_err(io::Error::other)?;
        match outcome.content.first() {
            Some(ContentBlock::Text(text)) => check_length(text.len(), size),
            Some(_) | None => Err(io::Error::other("a result without text")),
        }
    }
}

/// A host that serves a model: results that are too long are stored.
#[derive(Clone)]
pub(super) struct StoringLayer(HostLayer);

impl StoringLayer {
    pub(super) async fn open(stage: &BenchStage) -> io::Result<Self> {
        HostLayer::open_with(stage, |host| host).await.map(Self)
    }
}

impl LibraryLayer for StoringLayer {
    async fn call(&self, size: usize) -> io::Result<()> {
        let call = Call::new("mcp__s00__echo", json!({ "size": size }));
        let outcome = self.0.0.call(call).await.map_err(io::Error::other)?;
        let stored = outcome.stored.first().and_then(|stored| usize::try_from(stored.bytes).ok());
        check_length(stored.unwrap_or_default(), size)
    }
}
