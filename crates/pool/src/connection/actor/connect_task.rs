//! The task that connects: waits for the predecessor and for a place, reaches the server, and fetches its lists.

use std::sync::Arc;

use mcparley_model::config::ServerConfig;
use tokio::time::Instant;
use tracing::{Instrument as _, info_span};

use super::ConnectionActor;
use crate::connect::{ConnectContext, ConnectTrace, ReachedServer};
use crate::connection::notifications::Notifications;
use crate::connection::phase::{ActorPhase, ConnectFailure, ConnectSuccess};
use crate::log::ServerLog;
use crate::start_gate::StartPlace;
use crate::started_process::StartedProcess;
use crate::task::AbortOnDropTask;

impl ConnectionActor {
    /// Starts the task that connects, and enters the connecting phase.
    pub(super) fn spawn_connect_task(&mut self, attempt: u32) {
        self.sign_ins = self.context.account(&self.config).map(|account| account.watch_sign_ins());
        let (server_requests, changes) = (Arc::clone(&self.server_requests), Arc::clone(&self.changes));
        let notifications = Notifications::new(server_requests, changes, Arc::clone(&self.log))
            .with_watches(Arc::clone(&self.watched));
        let notifications = Arc::new(notifications.with_message_limit(self.context.dialer.message_limit()));
        let (config, mut context) = (Arc::clone(&self.config), self.context.clone());
        context.dialer.known_surface = Some(self.publisher.current_state().surface);
        let (gate, log, predecessor) = (self.gate.clone(), Arc::clone(&self.log), self.predecessor.clone());
        let hosted = self.context.dialer.hosted.as_ref();
        let process = hosted.map_or_else(StartedProcess::default, |hosted| hosted.process.clone());
        let downloader = process.follow_downloader();
        let work = async move {
            if let Some(mut gone) = predecessor {
                // A closed channel also means that the predecessor has ended.
                let _gone = gone.wait_for(|gone| *gone).await;
            }
            let mut place = gate.acquire_place(config.kind()).await;
            open_server(&context, &config, (notifications, process), &log, &mut place).await
        };
        let span = info_span!("start_server", server = self.context.server_name(), attempt);
        let work = AbortOnDropTask::start(work.instrument(span));
        self.phase = ActorPhase::Connecting { attempt, work, downloader };
    }
}

/// Connects to a server and fetches its lists, measuring the time.
async fn open_server(
    context: &ConnectContext,
    config: &ServerConfig,
    (notifications, process): (Arc<Notifications>, StartedProcess),
    log: &ServerLog,
    place: &mut StartPlace,
) -> Result<ConnectSuccess, ConnectFailure> {
    let (begun, gate) = (Instant::now(), Arc::clone(notifications.roots_gate()));
    let mut trace = ConnectTrace::with_process(process.clone());
    let reached = place
        .while_reaching(&process, Box::pin(context.reach_server(config, notifications, log, &mut trace)))
        .await;
    let connect_time = begun.elapsed();
    match reached {
        Ok(ReachedServer { connected, surface }) => {
            Ok(ConnectSuccess::new(connected, surface, gate, connect_time))
        }
        Err(error) => Err(ConnectFailure { error, connect_time }),
    }
}
