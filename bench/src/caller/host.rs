//! Calls as an agent makes them: looked up, checked, permitted, made and shaped.

use std::io;
use std::time::Duration;

use mcparley::{Block, Call, Host, HostBuilder, Paths, RunOptions};
use serde_json::json;

use super::check;
use super::door::Door;
use crate::stage::Stage;

/// As long as starting one server can take.
const LIMIT: Duration = Duration::from_secs(60);

/// A host with one server.
#[derive(Clone)]
pub(super) struct HostDoor(Host);

impl HostDoor {
    pub(super) async fn open(stage: &Stage) -> io::Result<Self> {
        Self::with(stage, HostBuilder::whole_results).await
    }

    async fn with(stage: &Stage, change: impl FnOnce(HostBuilder) -> HostBuilder) -> io::Result<Self> {
        let mut paths = Paths::of(stage.home(), stage.home());
        paths.results = Some(stage.home().join("results"));
        let run_options = RunOptions {
            mcp_config: vec![stage.configuration(1)?.to_string_lossy().into_owned()],
            strict: true,
            allowed_tools: vec!["mcp__s00__echo".to_owned()],
            ..RunOptions::default()
        };
        let host = change(Host::builder(&paths, &run_options).without_own_server()).start();
        let readiness = host.ready(LIMIT).await;
        if readiness.is_ready() { Ok(Self(host)) } else { Err(io::Error::other("the server is not ready")) }
    }
}

impl Door for HostDoor {
    async fn call(&self, size: usize) -> io::Result<()> {
        let call = Call::new("mcp__s00__echo", json!({ "size": size }));
        let outcome = self.0.call(call).await.map_err(io::Error::other)?;
        match outcome.content.first() {
            Some(Block::Text(text)) => check(text.len(), size),
            Some(_) | None => Err(io::Error::other("a result without text")),
        }
    }
}

/// The same for a model: a result that is too long is stored.
#[derive(Clone)]
pub(super) struct StoringDoor(HostDoor);

impl StoringDoor {
    pub(super) async fn open(stage: &Stage) -> io::Result<Self> {
        HostDoor::with(stage, |host| host).await.map(Self)
    }
}

impl Door for StoringDoor {
    async fn call(&self, size: usize) -> io::Result<()> {
        let call = Call::new("mcp__s00__echo", json!({ "size": size }));
        let outcome = self.0.0.call(call).await.map_err(io::Error::other)?;
        let stored = outcome.stored.first().and_then(|stored| usize::try_from(stored.bytes).ok());
        check(stored.unwrap_or_default(), size)
    }
}
