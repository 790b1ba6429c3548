//! What it takes for a server to count as reached: it was connected to, has told what it offers, and is still there.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::text::Untrusted;
use mcparley_wire::handshake::Connected;
use mcparley_wire::peer::Handler;
use mcparley_wire::{Failure, Phase};
use tokio::time::Instant;

use super::runner::PackageRunner;
use super::{ConnectError, Link, Stage, Surroundings, Trace};
use crate::log::Log;
use crate::surface::Surface;

/// How long a server may take to tell what it offers, however long connecting to it took.
const LEAST_LIST_TIME: Duration = Duration::from_secs(1);

/// A server that was reached, and what it offers.
pub(crate) struct Arrival {
    pub(crate) connected: Connected<Link>,
    pub(crate) surface: Surface,
}

impl Surroundings {
    /// Reaches a server and asks what it offers; `log` follows it, and what was tried is kept in `trace`.
    ///
    /// # Errors
    /// A [`ConnectError`], also when the server ended or could not be asked any more before it had told everything.
    pub(crate) async fn reach(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &Log,
        trace: &mut Trace,
    ) -> Result<Arrival, ConnectError> {
        if self.is_barred(config).await {
            let failure = Failure::Unauthorized { challenge: None };
            return Err(ConnectError::new(failure, Untrusted::default()));
        }
        let begun = Instant::now();
        // On the heap: it is large, and many are reached at the same time.
        let arrived = Box::pin(self.arrive(config, handler, log, trace)).await;
        match &arrived {
            Ok(_) => self.note_sign_in(config, false).await,
            Err(error) if self.wants_sign_in(config, &error.failure) => self.note_sign_in(config, true).await,
            Err(error) => self.remember_failure(config, error, begun.elapsed()).await,
        }
        arrived
    }

    /// Connects within the usual limit, or the longer one while a package runner downloads the server.
    async fn connect_patiently(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &Log,
        trace: &mut Trace,
    ) -> Result<Connected<Link>, ConnectError> {
        let (Some(runner), Some(longer)) = (PackageRunner::of(config), self.download_limit) else {
            return Box::pin(self.connect_traced(config, handler, self.limit, trace)).await;
        };
        let process = trace.process();
        let watchdog = async {
            tokio::time::sleep(self.limit).await;
            if runner.is_downloading(&process) {
                log.event(&format!("`{}` is still downloading; it has {longer:?} for that", runner.name));
                std::future::pending().await
            }
        };
        tokio::select! {
            biased;
            connected = Box::pin(self.connect_traced(config, handler, longer.max(self.limit), trace)) => connected,
            () = watchdog => {
                let failure = Failure::TimedOut { phase: Phase::Connecting, after: self.limit };
                Err(ConnectError::new(failure, log.tellable_text(process.stderr().raw())))
            }
        }
    }

    async fn arrive(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &Log,
        trace: &mut Trace,
    ) -> Result<Arrival, ConnectError> {
        let until = Instant::now() + self.limit;
        let connected = self.connect_patiently(config, handler, log, trace).await;
        log.follow_strays(trace.strays());
        // Also of one that was not reached: what it said last stands in the log.
        log.follow_stderr(trace.process().stderr_record());
        let connected = connected?;
        trace.begin(Stage::List);
        let left = until.saturating_duration_since(Instant::now()).max(LEAST_LIST_TIME);
        let surface = Surface::fetch_within(&connected.session, left).await;
        let surface = surface.with_failures(|failure| log.tellable(failure));
        let peer = connected.session.peer();
        if peer.is_over() {
            // Gone before it has told what it offers: it was never there.
            return Err(ConnectError::new(peer.ended().await, log.stderr()));
        }
        match surface.broke_off() {
            Some(failure) => Err(ConnectError::new(failure.clone(), log.stderr())),
            None => Ok(Arrival { connected, surface }),
        }
    }
}
