//! Calls through a session of `wire`: the protocol engine without plan, catalog and permissions.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcparley_bench::raw::CallText;
use mcparley_model::config::Era;
use mcparley_platform::process::ProgramLaunch;
use mcparley_wire::handshake::{self, EstablishedConnection, Introduction, ServerConnector};
use mcparley_wire::peer::{BoxedFuture, PeerCallOptions, PingHandler};
use mcparley_wire::transport::stdio::StdioTransport;
use mcparley_wire::{Failure, ProtocolSession, RequestParams};
use serde::Serialize;
use serde_json::json;

use super::check_length;
use super::door::LibraryLayer;
use crate::stage::BenchStage;

/// The timeout of a call.
const LIMIT: Duration = Duration::from_secs(60);

/// A session with one server.
#[derive(Clone)]
pub(super) struct SessionLayer {
    session: ProtocolSession,
    /// The transport; dropping it ends the server.
    _link: Arc<StdioTransport>,
}

struct BenchConnector(ProgramLaunch);

impl ServerConnector for BenchConnector {
    type Link = StdioTransport;

    fn open(&mut self) -> BoxedFuture<'_, Result<StdioTransport, Failure>> {
        Box::pin(StdioTransport::open(&self.0, Arc::new(PingHandler)))
    }
}

impl SessionLayer {
    pub(super) async fn open(stage: &BenchStage) -> io::Result<Self> {
        let program = stage.server.clone().into_os_string();
        let mut server =
            BenchConnector(ProgramLaunch { program, args: Vec::new(), env: Vec::new(), cwd: None });
        let introduction =
            Introduction { info: json!({ "name": "bench", "version": "1" }), capabilities: json!({}) };
        let connecting = handshake::connect(&mut server, Era::New, &introduction, LIMIT);
        let EstablishedConnection { link, session } = connecting.await.map_err(io::Error::other)?;
        Ok(Self { session, _link: Arc::new(link) })
    }
}

impl LibraryLayer for SessionLayer {
    async fn call(&self, size: usize) -> io::Result<()> {
        #[derive(Serialize)]
        struct SessionEcho {
            size: usize,
        }
        let params =
            RequestParams::new().with_member("name", &"echo").with_member("arguments", &SessionEcho { size });
        let options = PeerCallOptions { limit: Some(LIMIT), ..PeerCallOptions::default() };
        let result = self.session.call("tools/call", params, options).await.map_err(io::Error::other)?;
        let called: CallText = result.decode().map_err(io::Error::other)?;
        check_length(called.text_length(), size)
    }
}
