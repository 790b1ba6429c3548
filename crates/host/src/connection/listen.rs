//! Has a server tell what changes: its lists, and the resources that somebody watches (L10, X1).
//!
//! In the new era one stream is kept open for all of it. In the old one lists are told unasked, and each resource is
//! subscribed to by a request of its own.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use mcparley_model::limits::{RECONNECT_FIRST, RECONNECT_LONGEST, REQUEST_LIMIT};
use mcparley_wire::peer::CallOptions;
use mcparley_wire::{Failure, Listen, Listening, Params, RawJson, Session, Spoken};
use serde_json::Value;

use super::notifications::Changes;
use super::watched::Watched;
use crate::surface::Lists;
use crate::task::Owned;

/// Starts listening, where the server offers something to listen to.
pub(super) fn start(
    session: &Session,
    changes: &Arc<Changes>,
    watched: &Arc<Watched>,
) -> Option<Owned<Infallible>> {
    let tells_of_resources = tells_of_resources(session);
    let (changes, watched) = (Arc::clone(changes), Arc::clone(watched));
    let session = session.clone();
    match session.spoken() {
        Spoken::Old(_) => {
            tells_of_resources.then(|| Owned::start(async move { subscribe(&session, &watched).await }))
        }
        Spoken::New => {
            let lists = lists(&session);
            let ear = Ear { session, lists, watched: tells_of_resources.then_some(watched), changes };
            let has_something = ear.lists != Listen::default() || ear.watched.is_some();
            has_something.then(|| Owned::start(ear.listen()))
        }
    }
}

/// Whether the server can tell that a resource has changed.
pub(crate) fn tells_of_resources(session: &Session) -> bool {
    has(session, "resources", "subscribe")
}

fn has(session: &Session, capability: &str, feature: &str) -> bool {
    let capability = session.about().capabilities.get(capability);
    capability.and_then(|capability| capability.get(feature)) == Some(&Value::Bool(true))
}

/// The lists whose changes the server says it can tell.
fn lists(session: &Session) -> Listen {
    let tells = |list: &str| has(session, list, "listChanged");
    Listen {
        tools: tells("tools"),
        prompts: tells("prompts"),
        resources: tells("resources"),
        ..Listen::default()
    }
}

/// The stream of one connection.
struct Ear {
    session: Session,
    lists: Listen,
    watched: Option<Arc<Watched>>,
    changes: Arc<Changes>,
}

impl Ear {
    /// Listens, and listens again when the stream ends or something else is wanted; ever more seldom while that does not
    /// work. A stream is given up only when the next one is open, so that nothing is missed in between.
    async fn listen(self) -> Infallible {
        let mut wishes = self.watched.as_ref().map(|watched| watched.wishes());
        let (mut pause, mut is_first) = (RECONNECT_FIRST, true);
        let mut stream: Option<Listening> = None;
        loop {
            if let Some(wishes) = &mut wishes {
                wishes.mark_unchanged();
            }
            let wanted = self.wanted();
            if wanted == Listen::default() {
                stream = None;
                changed(&mut wishes).await;
                continue;
            }
            match self.session.listen(&wanted).await {
                Ok(listening) => {
                    pause = RECONNECT_FIRST;
                    self.begun(&wanted, &listening, stream.is_none(), is_first);
                    is_first = false;
                    stream = Some(listening);
                }
                Err(failure @ Failure::Answered(_)) => self.refused(&wanted, &failure),
                Err(_) => {}
            }
            let ended = async {
                if let Some(stream) = &mut stream {
                    // However it ended, it is opened again; a connection that is gone takes this task with it.
                    drop(stream.end().await);
                }
            };
            tokio::select! {
                biased;
                () = changed(&mut wishes) => {}
                () = ended => {
                    stream = None;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RECONNECT_LONGEST);
                }
            }
        }
    }

    fn wanted(&self) -> Listen {
        let resource_uris = self.watched.as_ref().map(|watched| watched.uris()).unwrap_or_default();
        Listen { resource_uris, ..self.lists.clone() }
    }

    /// The server tells from now on. Nobody told what changed while there was no stream.
    fn begun(&self, wanted: &Listen, listening: &Listening, missed: bool, is_first: bool) {
        if missed && !is_first {
            self.changes.mark(Lists::ALL);
        }
        let Some(watched) = &self.watched else { return };
        for uri in &wanted.resource_uris {
            if listening.acknowledged().resource_uris.contains(uri) {
                watched.taken(uri, missed);
            } else {
                watched.refused(uri, &Failure::Protocol("it does not tell about this resource".into()));
            }
        }
    }

    /// The server does not tell what it was asked for; without the resources it may.
    fn refused(&self, wanted: &Listen, failure: &Failure) {
        if let Some(watched) = &self.watched {
            wanted.resource_uris.iter().for_each(|uri| watched.refused(uri, failure));
        }
    }
}

/// Waits until something else is to be watched.
async fn changed(wishes: &mut Option<tokio::sync::watch::Receiver<u64>>) {
    let is_over = match wishes {
        Some(wishes) => wishes.changed().await.is_err(),
        None => true,
    };
    if is_over {
        std::future::pending::<()>().await;
    }
}

/// Subscribes to what is watched, one by one, and gives up what is not any more.
async fn subscribe(session: &Session, watched: &Arc<Watched>) -> Infallible {
    let mut wishes = Some(watched.wishes());
    let mut taken = BTreeSet::new();
    loop {
        if let Some(wishes) = &mut wishes {
            wishes.mark_unchanged();
        }
        let wanted: BTreeSet<String> = watched.uris().into_iter().collect();
        for uri in wanted.difference(&taken.clone()) {
            match ask(session, "resources/subscribe", uri).await {
                Ok(_) => {
                    watched.taken(uri, true);
                    taken.insert(uri.clone());
                }
                // The next connection asks again.
                Err(_) if session.peer().is_over() => {}
                Err(failure) => watched.refused(uri, &failure),
            }
        }
        for uri in taken.clone().difference(&wanted) {
            // Whether it goes on telling does not matter: nobody listens.
            let _untold = ask(session, "resources/unsubscribe", uri).await;
            taken.remove(uri);
        }
        changed(&mut wishes).await;
    }
}

async fn ask(session: &Session, method: &str, uri: &str) -> Result<RawJson, Failure> {
    let options = CallOptions { limit: Some(REQUEST_LIMIT), ..CallOptions::default() };
    session.call(method, Params::new().with("uri", &uri), options).await
}
