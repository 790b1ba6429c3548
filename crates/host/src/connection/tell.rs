//! Tells a server what has changed here: the folders it is to work in (X6), how much it is to say in its log, and which
//! task nobody waits for any more (X8).
//!
//! In the new era servers ask for folders when they want to know, and every request says how much may be logged.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::REQUEST_LIMIT;
use mcparley_model::log_level::LogLevel;
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Params, Session, Spoken};

use crate::connect::Surroundings;
use crate::log::Level;
use crate::roots::{RootsGate, ServerRoots};
use crate::task::{Owned, select};

/// How long a server may take to hear that a task is given up; nothing depends on it.
const FAREWELL: Duration = Duration::from_secs(5);

/// Starts telling, where there may be something to tell.
pub(super) fn start(
    session: &Session,
    surroundings: &Surroundings,
    (roots, gate): (&ServerRoots, &Arc<RootsGate>),
) -> Option<Owned<Infallible>> {
    let mut level = session.about().offers("logging").then(|| surroundings.log_level()).flatten();
    let session = session.clone();
    match session.spoken() {
        Spoken::Old(_) => {
            let (roots, gate) = (roots.clone(), Arc::clone(gate));
            if !gate.has_asked() {
                // It learns what there is when it asks; only what changes from now on is news.
                gate.tell(roots.version());
            }
            Some(Owned::start(async move { tell(&session, (&roots, &gate), level.as_mut()).await }))
        }
        Spoken::New => {
            let mut level = level?;
            // Before the first request, not soon after it.
            session.set_log_level(level.now());
            Some(Owned::start(async move {
                loop {
                    level.changed().await;
                    session.set_log_level(level.now());
                }
            }))
        }
    }
}

/// Tells a server of the old era. A connection that is gone takes this with it.
async fn tell(
    session: &Session,
    (roots, gate): (&ServerRoots, &RootsGate),
    mut level: Option<&mut Level>,
) -> Infallible {
    let mut said = None;
    loop {
        if let Some(wanted) = level.as_mut().and_then(|level| level.now())
            && said != Some(wanted)
        {
            said = Some(wanted);
            say_level(session, wanted).await;
        }
        let other_level = async {
            match level.as_mut() {
                Some(level) => level.changed().await,
                None => pending().await,
            }
        };
        let other_roots = select! {
            version = roots.changed_from(gate.told()) => Some(version),
            () = other_level => None,
        };
        if let Some(version) = other_roots {
            gate.announce(session, version).await;
        }
    }
}

/// A server that does not take it says what it likes.
async fn say_level(session: &Session, level: LogLevel) {
    let params = Params::new().with("level", &level.as_str());
    let options = CallOptions { limit: Some(REQUEST_LIMIT), ..CallOptions::default() };
    let _refused = session.call("logging/setLevel", params, options).await;
}

/// Nobody waits for a task any more. It may have ended by itself meanwhile.
pub(super) async fn give_up_task(session: &Session, id: &str) {
    let is_possible = match session.spoken() {
        Spoken::New => true,
        Spoken::Old(_) => {
            session.about().capabilities.get("tasks").and_then(|tasks| tasks.get("cancel")).is_some()
        }
    };
    if is_possible {
        let params = Params::new().with("taskId", &id);
        let options = CallOptions { limit: Some(FAREWELL), ..CallOptions::default() };
        let _ended = session.call("tasks/cancel", params, options).await;
    }
}
