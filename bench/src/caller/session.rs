//! Calls through a session of `wire`: the protocol engine without plan, catalogue and permissions.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcparley_bench::raw::Called;
use mcparley_model::config::Era;
use mcparley_platform::process::Launch;
use mcparley_wire::handshake::{self, Connect, Connected, Introduction};
use mcparley_wire::peer::{Boxed, CallOptions, Deaf};
use mcparley_wire::transport::stdio::Stdio;
use mcparley_wire::{Failure, Params, Session};
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::{Caller, check};
use crate::stage::Stage;

/// As long as any call here can take.
const LIMIT: Duration = Duration::from_secs(60);

/// A runtime of one thread and a connection that lives on it.
pub(super) struct SessionCaller {
    session: Arc<Session>,
    /// Ends the server when it is dropped, before the runtime is.
    _link: Stdio,
    runtime: Runtime,
}

struct Server(Launch);

impl Connect for Server {
    type Link = Stdio;

    fn open(&mut self) -> Boxed<'_, Result<Stdio, Failure>> {
        Box::pin(Stdio::open(&self.0, Arc::new(Deaf)))
    }
}

impl SessionCaller {
    pub(super) fn new(stage: &Stage) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let program = stage.server.clone().into_os_string();
        let mut server = Server(Launch { program, args: Vec::new(), env: Vec::new(), cwd: None });
        let introduction =
            Introduction { info: json!({ "name": "bench", "version": "1" }), capabilities: json!({}) };
        let connecting = handshake::connect(&mut server, Era::New, &introduction, LIMIT);
        let Connected { link, session } = runtime.block_on(connecting).map_err(io::Error::other)?;
        Ok(Self { session: Arc::new(session), _link: link, runtime })
    }
}

async fn call(session: &Session, size: usize) -> io::Result<()> {
    #[derive(Serialize)]
    struct Echo {
        size: usize,
    }
    let params = Params::new().with("name", &"echo").with("arguments", &Echo { size });
    let options = CallOptions { limit: Some(LIMIT), ..CallOptions::default() };
    let result = session.call("tools/call", params, options).await.map_err(io::Error::other)?;
    let called: Called = result.decode().map_err(io::Error::other)?;
    check(called.length(), size)
}

/// One caller, in a task of its own as in an agent: the future that a runtime blocks on is polled less directly.
async fn times(session: Arc<Session>, size: usize, count: usize) -> io::Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        call(&session, size).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// One of several callers that share `count` calls.
async fn call_until(
    begun: Arc<AtomicUsize>,
    count: usize,
    session: Arc<Session>,
    size: usize,
) -> io::Result<()> {
    while begun.fetch_add(1, Ordering::Relaxed) < count {
        call(&session, size).await?;
    }
    Ok(())
}

impl Caller for SessionCaller {
    fn one_by_one(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>> {
        self.runtime.block_on(async {
            let mut caller = JoinSet::new();
            caller.spawn(times(Arc::clone(&self.session), size, count));
            caller.join_next().await.ok_or(io::ErrorKind::NotFound)?.map_err(io::Error::other)?
        })
    }

    fn at_once(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration> {
        self.runtime.block_on(async {
            let start = Instant::now();
            let begun = Arc::new(AtomicUsize::new(0));
            let mut callers = JoinSet::new();
            for _ in 0..width {
                callers.spawn(call_until(Arc::clone(&begun), count, Arc::clone(&self.session), size));
            }
            while let Some(ended) = callers.join_next().await {
                ended.map_err(io::Error::other)??;
            }
            Ok(start.elapsed())
        })
    }
}
