//! Notifies a server of changes on the client side: its roots, its log level, and canceled tasks.
//!
//! In the new era servers request roots when they need them, and every request carries the log level.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::REQUEST_LIMIT;
use mcparley_model::log_level::LogLevel;
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{AgreedProtocol, ProtocolSession, RequestParams};

use crate::connect::ConnectContext;
use crate::log::{LogLevelGate, ServerLogLevel};
use crate::roots::{RootsGate, ServerRoots};
use crate::task::{AbortOnDropTask, select};

/// The timeout for canceling a task; no other step depends on it.
const TASK_CANCEL_TIME: Duration = Duration::from_secs(5);

/// Starts the task that sends changes to the server, if any can happen.
pub(super) fn start_notifying(
    session: &ProtocolSession,
    context: &ConnectContext,
    (roots, gate): (&ServerRoots, &Arc<RootsGate>),
    levels: &Arc<LogLevelGate>,
) -> Option<AbortOnDropTask<Infallible>> {
    let mut level =
        session.server_description().has_capability("logging").then(|| context.log_level()).flatten();
    let session = session.clone();
    match session.protocol() {
        AgreedProtocol::Old(_) => {
            let (roots, gate, levels) = (roots.clone(), Arc::clone(gate), Arc::clone(levels));
            if !gate.has_requested_roots() {
                // The server gets the current roots when it requests them; only later changes are announced.
                gate.record_version(roots.version());
            }
            Some(AbortOnDropTask::start(async move {
                send_changes(&session, (&roots, &gate), (level.as_mut(), &levels)).await
            }))
        }
        AgreedProtocol::New => {
            let mut level = level?;
            // Set before the first request, which already carries it.
            session.set_log_level(level.current_for_requests());
            Some(AbortOnDropTask::start(async move {
                loop {
                    level.changed().await;
                    session.set_log_level(level.current_for_requests());
                }
            }))
        }
    }
}

/// Sends changed roots and log levels to a server of the old era, until the connection ends.
async fn send_changes(
    session: &ProtocolSession,
    (roots, gate): (&ServerRoots, &RootsGate),
    (mut level, levels): (Option<&mut ServerLogLevel>, &LogLevelGate),
) -> Infallible {
    let mut announced = None;
    loop {
        if let Some(wanted) = level.as_mut().and_then(|level| level.current())
            && announced != Some(wanted)
        {
            announced = Some(wanted);
            send_log_level(session, wanted).await;
            levels.record_level(wanted);
        }
        let other_level = async {
            match level.as_mut() {
                Some(level) => level.changed().await,
                None => pending().await,
            }
        };
        let other_roots = select! {
            version = roots.wait_for_change(gate.sent_version()) => Some(version),
            () = other_level => None,
        };
        if let Some(version) = other_roots {
            gate.announce_change(session, version).await;
        }
    }
}

/// Sets the server's log level. A server that refuses keeps its own.
async fn send_log_level(session: &ProtocolSession, level: LogLevel) {
    let params = RequestParams::new().with_member("level", &level.as_str());
    let options = PeerCallOptions { limit: Some(REQUEST_LIMIT), ..PeerCallOptions::default() };
    let _refused = session.call("logging/setLevel", params, options).await;
}

/// Cancels a task on the server. An error is ignored: the task may have ended by itself.
pub(super) async fn cancel_task(session: &ProtocolSession, id: &str) {
    let is_possible = match session.protocol() {
        AgreedProtocol::New => true,
        AgreedProtocol::Old(_) => session
            .server_description()
            .capabilities
            .get("tasks")
            .and_then(|tasks| tasks.get("cancel"))
            .is_some(),
    };
    if is_possible {
        let params = RequestParams::new().with_member("taskId", &id);
        let options = PeerCallOptions { limit: Some(TASK_CANCEL_TIME), ..PeerCallOptions::default() };
        let _ended = session.call("tasks/cancel", params, options).await;
    }
}
