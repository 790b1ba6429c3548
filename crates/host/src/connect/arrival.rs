//! What it takes for a server to count as reached: it was connected to, has told what it offers, and is still there.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{DOWNLOAD_LOOKED_AT, DOWNLOAD_NOTICED_AFTER};
use mcparley_model::text::Untrusted;
use mcparley_wire::handshake::Connected;
use mcparley_wire::peer::Handler;
use mcparley_wire::{Failure, Phase};
use tokio::time::Instant;

use super::runner::PackageRunner;
use super::{ConnectError, Link, Stage, StartedProcess, Surroundings, Trace};
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

    /// Connects within the usual limit. Time in which a package runner downloads the server does not count, up to the
    /// longer limit; `counted_from` becomes the time since which it has not.
    async fn connect_patiently(
        &self,
        config: &ServerConfig,
        handler: Arc<dyn Handler>,
        log: &Log,
        trace: &mut Trace,
        counted_from: &mut Instant,
    ) -> Result<Connected<Link>, ConnectError> {
        let (Some(runner), Some(longer)) = (PackageRunner::of(config), self.download_limit) else {
            return Box::pin(self.connect_traced(config, handler, self.limit, trace)).await;
        };
        let process = trace.process();
        let watchdog = self.outlast_download(&runner, &process, log, counted_from);
        let connected = tokio::select! {
            biased;
            connected = Box::pin(self.connect_traced(config, handler, longer.max(self.limit), trace)) => connected,
            () = watchdog => {
                let failure = Failure::TimedOut { phase: Phase::Connecting, after: self.limit };
                Err(ConnectError::new(failure, log.tellable_text(process.stderr().raw())))
            }
        };
        process.set_downloader(None);
        connected
    }

    /// Watches a package runner until the usual limit has passed since it downloaded last, or since `counted_from`.
    async fn outlast_download(
        &self,
        runner: &PackageRunner,
        process: &StartedProcess,
        log: &Log,
        counted_from: &mut Instant,
    ) {
        tokio::time::sleep(DOWNLOAD_NOTICED_AFTER.min(self.limit)).await;
        let mut is_told = false;
        loop {
            let is_downloading = runner.is_downloading(process);
            process.set_downloader(is_downloading.then_some(runner.name.as_str()));
            if is_downloading {
                *counted_from = Instant::now();
            }
            if is_downloading && !std::mem::replace(&mut is_told, true) {
                log.event(&format!("`{}` is downloading the server", runner.name));
            }
            match self.limit.saturating_sub(counted_from.elapsed()) {
                Duration::ZERO => return,
                left => tokio::time::sleep(DOWNLOAD_LOOKED_AT.min(left)).await,
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
        let mut counted_from = Instant::now();
        let connected = self.connect_patiently(config, handler, log, trace, &mut counted_from).await;
        log.follow_strays(trace.strays());
        // Also of one that was not reached: what it said last stands in the log.
        log.follow_stderr(trace.process().stderr_record());
        let connected = connected?;
        trace.begin(Stage::List);
        let left = self.limit.saturating_sub(counted_from.elapsed()).max(LEAST_LIST_TIME);
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
