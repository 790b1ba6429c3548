//! Subscriptions to changes of a resource, in both protocol eras and across reconnects.

use std::time::Duration;

use mcparley_model::limits::{REQUEST_LIMIT, WATCHED_RESOURCES};
use mcparley_model::name::ServerName;
use mcparley_wire::{Failure, FailurePhase, RawJson};

use super::error::ResourceError;
use crate::call::RequestError;
use crate::host::Host;
use mcparley_pool::connection::{ResourceWatcher, SubscriptionState, can_subscribe_resources};

const METHOD: &str = "resources/subscribe";

/// A subscription to one resource. Subscriptions to the same resource share one request: the server is
/// unsubscribed when the last one is dropped.
#[derive(Debug)]
pub struct Subscription {
    server: ServerName,
    uri: String,
    watcher: ResourceWatcher,
    /// The number of updates that were returned.
    seen: u64,
}

impl Subscription {
    /// The server of the resource.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The URI of the resource.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Waits until the resource has changed since the last call, or may have changed while the server was
    /// disconnected. Several changes between two calls count as one. Cancel-safe.
    ///
    /// # Errors
    /// [`ResourceError::UpdatesNotSupported`] when the server is no longer in use, or ends the subscription.
    pub async fn wait_for_update(&mut self) -> Result<(), ResourceError> {
        self.next_update().await?;
        self.seen = self.watcher.news.borrow().updates;
        Ok(())
    }

    /// Waits for the next update of the resource, or of one below it, and returns the parameters of its
    /// notification; `None` if it was not heard, or too long ago. Cancel-safe.
    ///
    /// # Errors
    /// As [`Subscription::wait_for_update`].
    pub async fn next_update(&mut self) -> Result<Option<RawJson>, ResourceError> {
        let seen = self.seen;
        let news = self.watcher.news.wait_for(|news| {
            news.updates != seen || matches!(news.subscription, SubscriptionState::Refused(_))
        });
        match news.await {
            Ok(news) if news.updates != seen => {
                let (number, params) = news.update_after(seen);
                self.seen = number;
                Ok(params.cloned())
            }
            Ok(_) | Err(_) => Err(ResourceError::UpdatesNotSupported { server: self.server.clone() }),
        }
    }
}

impl Host {
    /// Subscribes to a resource of a server, which is connected first if needed and stays connected while
    /// subscribed.
    ///
    /// # Errors
    /// A [`ResourceError`]: above all [`ResourceError::UpdatesNotSupported`] when the server has no
    /// subscriptions.
    pub async fn subscribe_to_resource(
        &self,
        server: &ServerName,
        uri: &str,
    ) -> Result<Subscription, ResourceError> {
        let connection = self.connection(server).ok_or_else(|| self.no_server_error(server.as_str()))?;
        let unavailable = |why| RequestError::Unavailable { server: server.clone(), why };
        let live = connection.lease().await.map_err(unavailable)?;
        if !can_subscribe_resources(&live.session) {
            return Err(ResourceError::UpdatesNotSupported { server: server.clone() });
        }
        let raw = self.listed_uri(server, uri);
        let too_many = || ResourceError::TooMany { limit: WATCHED_RESOURCES };
        let mut watcher = connection.resource_watches().watch_resource(&raw).ok_or_else(too_many)?;
        let failed =
            |failure| RequestError::Failed { server: server.clone(), method: METHOD.into(), failure };
        let answered =
            watcher.news.wait_for(|news| !matches!(news.subscription, SubscriptionState::Requested));
        let late = |after: Duration| Failure::TimedOut { phase: FailurePhase::Answering, after };
        let news = tokio::time::timeout(REQUEST_LIMIT, answered).await;
        let news = news.map_err(|_| failed(late(REQUEST_LIMIT)))?;
        let news = news.map_err(|_| ResourceError::UpdatesNotSupported { server: server.clone() })?.clone();
        match news.subscription {
            SubscriptionState::Refused(failure) => Err(failed(failure).into()),
            SubscriptionState::Requested | SubscriptionState::Active => {
                let (server, uri, seen) = (server.clone(), uri.to_owned(), news.updates);
                Ok(Subscription { server, uri, watcher, seen })
            }
        }
    }
}
