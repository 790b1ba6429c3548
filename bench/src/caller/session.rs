//! Calls through a session of `wire`: the protocol engine without plan, catalogue and permissions.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcparley_bench::raw::Called;
use mcparley_model::config::Era;
use mcparley_platform::process::Launch;
use mcparley_wire::handshake::{self, Connect, Connected, Introduction};
use mcparley_wire::peer::{Boxed, CallOptions, Deaf};
use mcparley_wire::transport::stdio::Stdio;
use mcparley_wire::{Failure, Params, Session};
use serde::Serialize;
use serde_json::json;

use super::check;
use super::door::Door;
use crate::stage::Stage;

/// As long as any call here can take.
const LIMIT: Duration = Duration::from_secs(60);

/// A connection.
#[derive(Clone)]
pub(super) struct SessionDoor {
    session: Session,
    /// Ends the server when it is dropped.
    _link: Arc<Stdio>,
}

struct Server(Launch);

impl Connect for Server {
    type Link = Stdio;

    fn open(&mut self) -> Boxed<'_, Result<Stdio, Failure>> {
        Box::pin(Stdio::open(&self.0, Arc::new(Deaf)))
    }
}

impl SessionDoor {
    pub(super) async fn open(stage: &Stage) -> io::Result<Self> {
        let program = stage.server.clone().into_os_string();
        let mut server = Server(Launch { program, args: Vec::new(), env: Vec::new(), cwd: None });
        let introduction =
            Introduction { info: json!({ "name": "bench", "version": "1" }), capabilities: json!({}) };
        let connecting = handshake::connect(&mut server, Era::New, &introduction, LIMIT);
        let Connected { link, session } = connecting.await.map_err(io::Error::other)?;
        Ok(Self { session, _link: Arc::new(link) })
    }
}

impl Door for SessionDoor {
    async fn call(&self, size: usize) -> io::Result<()> {
        #[derive(Serialize)]
        struct Echo {
            size: usize,
        }
        let params = Params::new().with("name", &"echo").with("arguments", &Echo { size });
        let options = CallOptions { limit: Some(LIMIT), ..CallOptions::default() };
        let result = self.session.call("tools/call", params, options).await.map_err(io::Error::other)?;
        let called: Called = result.decode().map_err(io::Error::other)?;
        check(called.length(), size)
    }
}
