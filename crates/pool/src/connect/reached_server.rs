//! Reaches a server completely: connected, its lists fetched, and still alive afterwards.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{DOWNLOAD_LOOKED_AT, DOWNLOAD_NOTICED_AFTER};
use mcparley_model::text::Untrusted;
use mcparley_wire::handshake::EstablishedConnection;
use mcparley_wire::peer::Handler;
use mcparley_wire::{Failure, FailurePhase};
use tokio::time::Instant;
use tracing::field::Empty;
use tracing::{Instrument as _, info_span};

use super::runner::PackageRunner;
use super::{ConnectContext, ConnectStage, ConnectTrace, ServerLink};
use crate::connect_error::ConnectError;
use crate::log::ServerLog;
use crate::started_process::StartedProcess;
use crate::surface::Surface;

/// The minimum time for fetching lists, however long the handshake took.
const LEAST_LIST_TIME: Duration = Duration::from_secs(1);

/// A reached server: its connection and its surface.
#[derive(Debug)]
pub struct ReachedServer {
    /// The connection.
    pub connected: EstablishedConnection<ServerLink>,
    /// The surface: tools, prompts and resources.
    pub surface: Surface,
}

impl ConnectContext {
    /// Connects to a server and fetches its lists; `log` follows its output, and `trace` records the stages.
    ///
    /// # Errors
    /// A [`ConnectError`], also if the server exited or became unreachable before all lists were fetched.
    pub async fn reach_server(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &ServerLog,
        trace: &mut ConnectTrace,
    ) -> Result<ReachedServer, ConnectError> {
        let (server, transport) = (self.server_name(), config.kind().as_str());
        let span = info_span!("connect", server, transport, version = Empty, outcome = Empty);
        let reaching = self.reach_unless_sign_in_needed(config, handler, log, trace);
        let reached = reaching.instrument(span.clone()).await;
        if let Ok(arrival) = &reached {
            span.record("version", arrival.connected.session.protocol().version().as_str());
        }
        span.record("outcome", reached.as_ref().err().map_or("connected", |error| error.failure.kind()));
        reached
    }

    /// Reaches a server unless it is known to need a sign-in, and caches the outcome.
    async fn reach_unless_sign_in_needed(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &ServerLog,
        trace: &mut ConnectTrace,
    ) -> Result<ReachedServer, ConnectError> {
        if self.is_known_to_need_sign_in(config).await {
            let failure = Failure::Unauthorized { challenge: None };
            return Err(ConnectError::new(failure, Untrusted::default()));
        }
        let begun = Instant::now();
        // Boxed: the future is large, and many servers are reached at the same time.
        let arrived = Box::pin(self.connect_and_list(config, handler, log, trace)).await;
        match &arrived {
            Ok(_) => self.cache_sign_in_need(config, false).await,
            Err(error) if self.needs_sign_in(config, &error.failure) => {
                self.cache_sign_in_need(config, true).await
            }
            Err(error) => self.cache_failure(config, error, begun.elapsed()).await,
        }
        arrived
    }

    /// Connects within the connect timeout. Time in which a package runner downloads the server does not
    /// count, up to the download timeout; `counted_from` becomes the end of the download.
    async fn connect_with_download_time(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &ServerLog,
        trace: &mut ConnectTrace,
        counted_from: &mut Instant,
    ) -> Result<EstablishedConnection<ServerLink>, ConnectError> {
        let (Some(runner), Some(longer)) = (PackageRunner::from_config(config), self.dialer.download_limit)
        else {
            return Box::pin(self.connect_traced(config, handler, self.dialer.limit, trace)).await;
        };
        let process = trace.process();
        let watchdog = self.watch_download(&runner, &process, log, counted_from);
        let connected = tokio::select! {
            biased;
            connected = Box::pin(self.connect_traced(config, handler, longer.max(self.dialer.limit), trace)) => connected,
            () = watchdog => {
                let failure = Failure::TimedOut { phase: FailurePhase::Connecting, after: self.dialer.limit };
                Err(ConnectError::new(failure, log.redact_text(process.stderr().raw())))
            }
        };
        process.set_downloader(None);
        connected
    }

    /// Watches a package runner and returns once the connect timeout has passed since its last download
    /// activity, or since `counted_from`.
    async fn watch_download(
        &self,
        runner: &PackageRunner,
        process: &StartedProcess,
        log: &ServerLog,
        counted_from: &mut Instant,
    ) {
        tokio::time::sleep(DOWNLOAD_NOTICED_AFTER.min(self.dialer.limit)).await;
        let mut is_told = false;
        loop {
            let is_downloading = runner.is_downloading(process);
            process.set_downloader(is_downloading.then_some(runner.name.as_str()));
            if is_downloading {
                *counted_from = Instant::now();
            }
            if is_downloading && !std::mem::replace(&mut is_told, true) {
                log.add_event(&format!("`{}` is downloading the server", runner.name));
            }
            match self.dialer.limit.saturating_sub(counted_from.elapsed()) {
                Duration::ZERO => return,
                left => tokio::time::sleep(DOWNLOAD_LOOKED_AT.min(left)).await,
            }
        }
    }

    /// Connects and fetches the lists within the rest of the timeout.
    async fn connect_and_list(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &ServerLog,
        trace: &mut ConnectTrace,
    ) -> Result<ReachedServer, ConnectError> {
        let mut counted_from = Instant::now();
        let connected = self.connect_with_download_time(config, handler, log, trace, &mut counted_from).await;
        log.follow_strays(trace.stray_output());
        // Also after a failure, so that the server's last output is in the log.
        log.follow_stderr(trace.process().stderr_record());
        let connected = connected?;
        trace.begin_stage(ConnectStage::List);
        let left = self.dialer.limit.saturating_sub(counted_from.elapsed()).max(LEAST_LIST_TIME);
        let known =
            self.dialer.known_surface.as_deref().filter(|known| known.has_digest(trace.lists.as_deref()));
        let surface = match known {
            Some(known) => known.clone().for_session(&connected.session),
            None => Surface::fetch_within(&connected.session, left).await,
        };
        let surface = surface.map_failures(|failure| log.redact_failure(failure));
        let peer = connected.session.peer();
        if peer.is_ended() {
            // The server exited before its lists were complete, so it counts as not reached.
            return Err(ConnectError::new(peer.wait_until_ended().await, log.stderr()));
        }
        match surface.connection_failure() {
            Some(failure) => Err(ConnectError::new(failure.clone(), log.stderr())),
            None => Ok(ReachedServer { connected, surface }),
        }
    }
}
