//! Keeps the stream of changes open that a server of the new era tells them on (L10).

use std::convert::Infallible;
use std::sync::Arc;

use mcparley_model::limits::{RECONNECT_FIRST, RECONNECT_LONGEST};
use mcparley_wire::{Listen, Session, Spoken};
use serde_json::Value;

use super::ears::Changes;
use crate::surface::Lists;
use crate::task::Owned;

/// Starts listening, where the era and the server offer it.
pub(super) fn start(session: &Session, changes: &Arc<Changes>) -> Option<Owned<Infallible>> {
    let wanted = wanted(session)?;
    let (session, changes) = (session.clone(), Arc::clone(changes));
    Some(Owned::start(async move { listen(&session, &wanted, &changes).await }))
}

/// What the server says it can tell.
fn wanted(session: &Session) -> Option<Listen> {
    match session.spoken() {
        Spoken::Old(_) => return None,
        Spoken::New => {}
    }
    let tells = |list: &str| {
        let capability = session.about().capabilities.get(list);
        capability.and_then(|capability| capability.get("listChanged")) == Some(&Value::Bool(true))
    };
    let wanted = Listen {
        tools: tells("tools"),
        prompts: tells("prompts"),
        resources: tells("resources"),
        ..Listen::default()
    };
    (wanted != Listen::default()).then_some(wanted)
}

/// Listens, and listens again when the stream ends; ever more seldom while that does not work.
async fn listen(session: &Session, wanted: &Listen, changes: &Changes) -> Infallible {
    let mut pause = RECONNECT_FIRST;
    let mut is_first = true;
    loop {
        if let Ok(listening) = session.listen(wanted).await {
            pause = RECONNECT_FIRST;
            if !is_first {
                // Nobody told what changed in between.
                changes.mark(Lists::ALL);
            }
            is_first = false;
            // However it ended, it is opened again; a connection that is gone takes this task with it.
            let _ended = listening.ended().await;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(RECONNECT_LONGEST);
    }
}
