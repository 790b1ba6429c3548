//! Being told when a resource changes, in the way of either era and over every reconnection (X1).

use std::time::Duration;

use mcparley_model::limits::{REQUEST_LIMIT, WATCHED_RESOURCES};
use mcparley_model::name::ServerName;
use mcparley_wire::{Failure, Phase};

use super::error::ResourceError;
use crate::call::RequestError;
use crate::connection::{SubscriptionState, Watcher, tells_of_resources};
use crate::host::Host;

const METHOD: &str = "resources/subscribe";

/// A resource that is watched. Several may watch one: the server is asked once, and told to stop when the last
/// subscription is dropped.
#[derive(Debug)]
pub struct Subscription {
    server: ServerName,
    uri: String,
    watcher: Watcher,
    /// How many changes have been told.
    seen: u64,
}

impl Subscription {
    /// The server.
    #[must_use]
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The address.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Waits until the resource has changed since this was asked last, or may have: while a server was away nobody could
    /// tell. Changes that come faster than they are asked for are one. Giving up the waiting loses nothing.
    ///
    /// # Errors
    /// [`ResourceError::NotTold`] when the server is not in use any more, or does not want to tell any more.
    pub async fn updated(&mut self) -> Result<(), ResourceError> {
        let seen = self.seen;
        let news = self
            .watcher
            .news
            .wait_for(|news| news.updates != seen || matches!(news.standing, SubscriptionState::Refused(_)));
        match news.await {
            Ok(news) if news.updates != seen => {
                self.seen = news.updates;
                Ok(())
            }
            Ok(_) | Err(_) => Err(ResourceError::NotTold { server: self.server.clone() }),
        }
    }
}

impl Host {
    /// Watches a resource of a server, which is started for it if it has to be and not stopped while anybody watches.
    ///
    /// # Errors
    /// A [`ResourceError`]: above all [`ResourceError::NotTold`] when the server cannot tell.
    pub async fn subscribe(&self, server: &ServerName, uri: &str) -> Result<Subscription, ResourceError> {
        let connection = self.connection(server).ok_or_else(|| self.no_such_server(server.as_str()))?;
        let unavailable = |why| RequestError::Unavailable { server: server.clone(), why };
        let live = connection.lease().await.map_err(unavailable)?;
        if !tells_of_resources(&live.session) {
            return Err(ResourceError::NotTold { server: server.clone() });
        }
        let raw = self.as_listed(server, uri);
        let too_many = || ResourceError::TooMany { limit: WATCHED_RESOURCES };
        let mut watcher = connection.watched().watch(&raw).ok_or_else(too_many)?;
        let failed = |failure| RequestError::Failed { server: server.clone(), method: METHOD, failure };
        let answered = watcher.news.wait_for(|news| !matches!(news.standing, SubscriptionState::Wished));
        let late = |after: Duration| Failure::TimedOut { phase: Phase::Answering, after };
        let news = tokio::time::timeout(REQUEST_LIMIT, answered).await;
        let news = news.map_err(|_| failed(late(REQUEST_LIMIT)))?;
        let news = news.map_err(|_| ResourceError::NotTold { server: server.clone() })?.clone();
        match news.standing {
            SubscriptionState::Refused(failure) => Err(failed(failure).into()),
            SubscriptionState::Wished | SubscriptionState::Taken => {
                let (server, uri, seen) = (server.clone(), uri.to_owned(), news.updates);
                Ok(Subscription { server, uri, watcher, seen })
            }
        }
    }
}
