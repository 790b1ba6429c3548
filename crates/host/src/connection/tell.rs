//! Tells a server of the old era what has changed here: the folders it is to work in (X6). In the new era it asks when it
//! wants to know.

use std::convert::Infallible;

use mcparley_wire::{Session, Spoken};

use crate::connect::Surroundings;
use crate::task::Owned;

/// Starts telling, where the era has it.
pub(super) fn start(session: &Session, surroundings: &Surroundings) -> Option<Owned<Infallible>> {
    match session.spoken() {
        Spoken::New => return None,
        Spoken::Old(_) => {}
    }
    let (peer, mut roots) = (session.peer().clone(), surroundings.roots().subscribe());
    roots.mark_unchanged();
    Some(Owned::start(async move {
        while roots.changed().await.is_ok() {
            // A connection that is gone takes this task with it.
            let _gone = peer.notify("notifications/roots/list_changed", None).await;
        }
        // Whoever could change them is gone too.
        std::future::pending().await
    }))
}
