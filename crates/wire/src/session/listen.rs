//! `subscriptions/listen`: change notifications from a server of the new era.
//!
//! One request that stays open. Its notifications go to the handler like all others; here is only
//! its start and its end. A caller that wants more notifications after the end subscribes again.

use mcparley_model::limits::REQUEST_LIMIT;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;

use super::{AgreedProtocol, ProtocolSession};
use crate::failure::{Failure, FailurePhase};
use crate::params::RequestParams;
use crate::peer::BoxedFuture;
use mcparley_json::RawJson;

/// The notifications that are requested, or acknowledged by the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// Notify when the list of tools has changed.
    pub tools: bool,
    /// Notify when the list of prompts has changed.
    pub prompts: bool,
    /// Notify when the list of resources has changed.
    pub resources: bool,
    /// Notify when the content of one of these resources has changed.
    pub resource_uris: Vec<String>,
}

/// A subscription that the server has acknowledged. Dropping it cancels the subscription.
pub struct ListenSubscription {
    acknowledged: SubscriptionFilter,
    request: BoxedFuture<'static, Result<RawJson, Failure>>,
}

impl ProtocolSession {
    /// Subscribes to change notifications. The subscription has no timeout once the server has acknowledged
    /// it.
    ///
    /// # Errors
    /// A [`Failure`], among them [`Failure::TimedOut`] when the server does not acknowledge in time, and
    /// [`Failure::Protocol`] in the old era, where servers notify without a subscription.
    pub async fn open_subscription(
        &self,
        wanted: &SubscriptionFilter,
    ) -> Result<ListenSubscription, Failure> {
        match self.protocol {
            AgreedProtocol::New => {}
            AgreedProtocol::Old(_) => {
                return Err(Failure::Protocol("its protocol version has no subscriptions".into()));
            }
        }
        let params = wanted.to_params().to_json(&self.current_meta());
        let (sender, acknowledged) = oneshot::channel();
        let request = self.peer.prepare_request();
        let mut request: BoxedFuture<'static, _> = Box::pin(async move {
            request.open_subscription("subscriptions/listen", params.as_ref(), sender).await
        });
        let begun = async {
            tokio::select! {
                // First, because the two may come at once.
                biased;
                Ok(taken) = acknowledged => Ok(taken),
                outcome = &mut request => Err(match outcome {
                    Ok(_) => Failure::Protocol("it ended the subscription without acknowledging it".into()),
                    Err(failure) => failure,
                }),
            }
        };
        let late = Failure::TimedOut { phase: FailurePhase::Answering, after: REQUEST_LIMIT };
        let taken = tokio::time::timeout(REQUEST_LIMIT, begun).await.unwrap_or(Err(late))?;
        Ok(ListenSubscription { acknowledged: SubscriptionFilter::from_acknowledgement(&taken), request })
    }
}

impl ListenSubscription {
    /// The notifications that the server has acknowledged; they may be fewer than requested.
    #[must_use]
    pub fn acknowledged_filter(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// Waits until the server ends the subscription.
    ///
    /// # Errors
    /// A [`Failure`] when the subscription broke off instead of being ended by the server.
    pub async fn wait_until_ended(mut self) -> Result<(), Failure> {
        self.wait_for_end().await
    }

    /// Waits until the server ends the subscription, cancel-safe: the wait may be dropped and repeated, but
    /// not after the end.
    ///
    /// # Errors
    /// As [`ListenSubscription::wait_until_ended`].
    pub async fn wait_for_end(&mut self) -> Result<(), Failure> {
        (&mut self.request).await.map(drop)
    }
}

impl std::fmt::Debug for ListenSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ListenSubscription").field("acknowledged", &self.acknowledged).finish_non_exhaustive()
    }
}

impl SubscriptionFilter {
    /// Encodes the requested notifications; the others are left out.
    fn to_params(&self) -> RequestParams {
        let Self { tools, prompts, resources, resource_uris } = self;
        let mut filter = serde_json::Map::new();
        for (name, wanted) in [
            ("toolsListChanged", tools),
            ("promptsListChanged", prompts),
            ("resourcesListChanged", resources),
        ] {
            if *wanted {
                filter.insert(name.to_owned(), json!(true));
            }
        }
        if !resource_uris.is_empty() {
            filter.insert("resourceSubscriptions".to_owned(), json!(resource_uris));
        }
        RequestParams::new().with_member("notifications", &filter)
    }

    /// Parses the server's acknowledgement. A notification that cannot be parsed counts as not acknowledged.
    fn from_acknowledgement(acknowledgement: &RawJson) -> Self {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct NotificationFilter {
            tools_list_changed: bool,
            prompts_list_changed: bool,
            resources_list_changed: bool,
            resource_subscriptions: Vec<String>,
        }
        let filter = acknowledgement.member("notifications");
        let filter: NotificationFilter = filter.and_then(|filter| filter.decode().ok()).unwrap_or_default();
        Self {
            tools: filter.tools_list_changed,
            prompts: filter.prompts_list_changed,
            resources: filter.resources_list_changed,
            resource_uris: filter.resource_subscriptions,
        }
    }
}
