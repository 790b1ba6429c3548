//! Subscriptions to changes on a server: its lists and the watched resources.
//!
//! In the new era one stream is kept open for all changes. In the old era servers announce list changes by
//! themselves, and each resource is subscribed to with a request of its own.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use mcparley_model::limits::{RECONNECT_FIRST, RECONNECT_LONGEST, REQUEST_LIMIT};
use mcparley_wire::peer::PeerCallOptions;
use mcparley_wire::{
    AgreedProtocol, Failure, ListenSubscription, ProtocolSession, RawJson, RequestParams, SubscriptionFilter,
};
use serde_json::Value;

use super::notifications::ListChanges;
use super::resource_watches::ResourceWatches;
use crate::surface::ListSet;
use crate::task::AbortOnDropTask;

/// Starts listening for changes, if the server can announce any.
pub(super) fn start_listening(
    session: &ProtocolSession,
    changes: &Arc<ListChanges>,
    watched: &Arc<ResourceWatches>,
) -> Option<AbortOnDropTask<Infallible>> {
    let tells_of_resources = can_subscribe_resources(session);
    let (changes, watched) = (Arc::clone(changes), Arc::clone(watched));
    let session = session.clone();
    match session.protocol() {
        AgreedProtocol::Old(_) => tells_of_resources
            .then(|| AbortOnDropTask::start(async move { keep_subscriptions(&session, &watched).await })),
        AgreedProtocol::New => {
            let lists = announced_lists(&session);
            let listener =
                ChangeStream { session, lists, watched: tells_of_resources.then_some(watched), changes };
            let has_something = listener.lists != SubscriptionFilter::default() || listener.watched.is_some();
            has_something.then(|| AbortOnDropTask::start(listener.keep_stream_open()))
        }
    }
}

/// Whether the server supports resource subscriptions.
pub fn can_subscribe_resources(session: &ProtocolSession) -> bool {
    has_feature(session, "resources", "subscribe")
}

/// Whether the server declares a feature of a capability.
fn has_feature(session: &ProtocolSession, capability: &str, feature: &str) -> bool {
    let capability = session.server_description().capabilities.get(capability);
    capability.and_then(|capability| capability.get(feature)) == Some(&Value::Bool(true))
}

/// The lists for which the server declares `listChanged`.
fn announced_lists(session: &ProtocolSession) -> SubscriptionFilter {
    let tells = |list: &str| has_feature(session, list, "listChanged");
    SubscriptionFilter {
        tools: tells("tools"),
        prompts: tells("prompts"),
        resources: tells("resources"),
        ..SubscriptionFilter::default()
    }
}

/// The change stream of one connection in the new era.
struct ChangeStream {
    session: ProtocolSession,
    lists: SubscriptionFilter,
    watched: Option<Arc<ResourceWatches>>,
    changes: Arc<ListChanges>,
}

impl ChangeStream {
    /// Keeps the stream open. It is reopened when it ends, with exponential backoff, or when other resources
    /// are watched. The old stream is closed only after the new one is open, so that no change is missed in
    /// between.
    async fn keep_stream_open(self) -> Infallible {
        let mut watch_changes = self.watched.as_ref().map(|watched| watched.subscribe_changes());
        let mut pause = RECONNECT_FIRST;
        let mut stream: Option<ListenSubscription> = None;
        loop {
            if let Some(watch_changes) = &mut watch_changes {
                watch_changes.mark_unchanged();
            }
            let wanted = self.subscriptions();
            if wanted == SubscriptionFilter::default() {
                stream = None;
                wait_for_watch_change(&mut watch_changes).await;
                continue;
            }
            match self.session.open_subscription(&wanted).await {
                Ok(listening) => {
                    pause = RECONNECT_FIRST;
                    self.handle_opened_stream(&wanted, &listening, stream.is_none());
                    stream = Some(listening);
                }
                Err(failure @ Failure::ErrorResponse(_)) => self.mark_resources_refused(&wanted, &failure),
                Err(_) => {}
            }
            let ended = async {
                if let Some(stream) = &mut stream {
                    // The stream is reopened after any end; a closed connection ends this task.
                    drop(stream.wait_for_end().await);
                }
            };
            tokio::select! {
                biased;
                () = wait_for_watch_change(&mut watch_changes) => {}
                () = ended => {
                    stream = None;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RECONNECT_LONGEST);
                }
            }
        }
    }

    /// The subscriptions to request: the lists and the watched resources.
    fn subscriptions(&self) -> SubscriptionFilter {
        let resource_uris = self.watched.as_ref().map(|watched| watched.wanted_uris()).unwrap_or_default();
        SubscriptionFilter { resource_uris, ..self.lists.clone() }
    }

    /// Handles an opened stream. The server could not announce changes before: not between two streams, and not
    /// between the first fetch of its lists and the first stream.
    fn handle_opened_stream(
        &self,
        wanted: &SubscriptionFilter,
        listening: &ListenSubscription,
        missed: bool,
    ) {
        if missed {
            self.changes.mark_missed(self.announced_set());
        }
        let Some(watched) = &self.watched else { return };
        for uri in &wanted.resource_uris {
            if listening.acknowledged_filter().resource_uris.contains(uri) {
                watched.mark_active(uri, missed);
            } else {
                watched.mark_refused(
                    uri,
                    &Failure::Protocol("it does not send updates for this resource".into()),
                );
            }
        }
    }

    /// The lists whose changes the server announces.
    fn announced_set(&self) -> ListSet {
        let SubscriptionFilter { tools, prompts, resources, .. } = &self.lists;
        let lists = [(tools, ListSet::TOOLS), (prompts, ListSet::PROMPTS), (resources, ListSet::RESOURCES)];
        let announced = lists.into_iter().filter(|(is_announced, _)| **is_announced);
        announced.fold(ListSet::from_bits(0), |all, (_, list)| all.union(list))
    }

    /// Marks the watched resources as refused, because the server rejected the stream. Without them it may
    /// accept.
    fn mark_resources_refused(&self, wanted: &SubscriptionFilter, failure: &Failure) {
        if let Some(watched) = &self.watched {
            wanted.resource_uris.iter().for_each(|uri| watched.mark_refused(uri, failure));
        }
    }
}

/// Waits until the set of watched resources changes.
async fn wait_for_watch_change(watch_changes: &mut Option<tokio::sync::watch::Receiver<u64>>) {
    let is_over = match watch_changes {
        Some(watch_changes) => watch_changes.changed().await.is_err(),
        None => true,
    };
    if is_over {
        std::future::pending::<()>().await;
    }
}

/// Subscribes to each watched resource and unsubscribes from those no longer watched. For the old era.
async fn keep_subscriptions(session: &ProtocolSession, watched: &Arc<ResourceWatches>) -> Infallible {
    let mut watch_changes = Some(watched.subscribe_changes());
    let mut taken = BTreeSet::new();
    loop {
        if let Some(watch_changes) = &mut watch_changes {
            watch_changes.mark_unchanged();
        }
        let wanted: BTreeSet<String> = watched.wanted_uris().into_iter().collect();
        for uri in wanted.difference(&taken.clone()) {
            match send_subscription(session, "resources/subscribe", uri).await {
                Ok(_) => {
                    watched.mark_active(uri, true);
                    taken.insert(uri.clone());
                }
                // The next connection subscribes again.
                Err(_) if session.peer().is_ended() => {}
                Err(failure) => watched.mark_refused(uri, &failure),
            }
        }
        for uri in taken.clone().difference(&wanted) {
            // A failure does not matter: further updates are ignored.
            let _untold = send_subscription(session, "resources/unsubscribe", uri).await;
            taken.remove(uri);
        }
        wait_for_watch_change(&mut watch_changes).await;
    }
}

/// Sends a subscribe or unsubscribe request for one resource.
async fn send_subscription(session: &ProtocolSession, method: &str, uri: &str) -> Result<RawJson, Failure> {
    let options = PeerCallOptions { limit: Some(REQUEST_LIMIT), ..PeerCallOptions::default() };
    session.call(method, RequestParams::new().with_member("uri", &uri), options).await
}
