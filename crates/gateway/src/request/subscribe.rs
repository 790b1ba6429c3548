//! Answers `resources/subscribe` and `resources/unsubscribe` of the old era.
//!
//! Subscriptions of all clients to one resource share one request to its server.

use mcparley::model::limits::SERVED_RESOURCE_SUBSCRIPTIONS;
use mcparley::resource::{ResourceError, Subscription};
use mcparley_wire::{INVALID_PARAMS, METHOD_NOT_FOUND, RawJson, Replies, RpcError};
use serde_json::json;

use crate::client_abilities::Caller;
use crate::request::relay::request_error;
use crate::request::resources::{unknown_resource, uri_param};
use crate::response::era::ServerEra;
use crate::response::resource_update::UpdateForm;
use crate::response::serialize_result;
use crate::session::GatewaySession;
use crate::session::shared_values::SUBSCRIPTIONS;

pub(crate) const UPDATED: &str = "notifications/resources/updated";

impl GatewaySession {
    /// Answers `resources/subscribe`.
    pub(crate) async fn subscribe_resource(
        &self,
        caller: &Caller,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let uri = uri_param(params)?;
        let limit = SERVED_RESOURCE_SUBSCRIPTIONS;
        if self.shared.watches.count() >= limit && !self.shared.watches.contains(&uri) {
            return Err(RpcError::new(INVALID_PARAMS, &format!("there are {limit} subscriptions already")));
        }
        self.watch_resource(uri.clone(), caller).await?;
        self.share_items(SUBSCRIPTIONS, &[uri]);
        serialize_result(&json!({}))
    }

    /// Forwards the updates of a resource to the client.
    async fn watch_resource(&self, uri: String, caller: &Caller) -> Result<(), RpcError> {
        let subscription = self.open_subscription(&uri, caller).await?;
        if let Some(channel) = self.channel().cloned() {
            let form = UpdateForm::new(&self.shared.gateway.view(), &uri, &subscription, None);
            self.shared.watches.insert(uri, forward_updates(subscription, channel, form));
        }
        Ok(())
    }

    /// Follows the subscriptions that the client has made at other gateways: its stream may be read here.
    pub(crate) async fn follow_subscriptions(&self, uris: Vec<String>) {
        let Some(caller) = *self.lock_handshake() else { return };
        let room = SERVED_RESOURCE_SUBSCRIPTIONS.saturating_sub(self.shared.watches.count());
        let missing: Vec<String> =
            uris.into_iter().filter(|uri| !self.shared.watches.contains(uri)).take(room).collect();
        for uri in missing {
            if let Err(error) = self.watch_resource(uri, &caller).await {
                tracing::debug!(code = error.code, "a subscription of another gateway is not available here");
            }
        }
    }

    /// Ends the subscription that the client has ended at another gateway.
    pub(crate) fn remove_subscription(&self, is_removed: impl Fn(&str) -> bool) {
        let removed = self.shared.watches.uris().into_iter().find(|uri| is_removed(uri));
        if let Some(uri) = removed {
            self.shared.watches.remove(&uri);
        }
    }

    /// Answers `resources/unsubscribe`.
    pub(crate) fn unsubscribe_resource(&self, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let uri = uri_param(params)?;
        self.shared.watches.remove(&uri);
        self.withdraw_item(SUBSCRIPTIONS, &uri);
        serialize_result(&json!({}))
    }

    /// Subscribes to the resource of a client's address.
    pub(crate) async fn open_subscription(
        &self,
        uri: &str,
        caller: &Caller,
    ) -> Result<Subscription, RpcError> {
        let view = self.shared.gateway.view();
        let (server, original) = view.route_address(uri).ok_or_else(|| unknown_resource(uri, caller))?;
        let opened = self.host().subscribe_to_resource(&server.name, &original).await;
        opened.map_err(|error| match error {
            ResourceError::Request(error) => {
                let era = ServerEra::of_server(&view, &server.name);
                request_error(error, ("resources/subscribe", Some(original.as_str())), caller, era)
            }
            ResourceError::UpdatesNotSupported { .. } => {
                RpcError::new(METHOD_NOT_FOUND, "the server does not offer subscriptions")
            }
            error => RpcError::new(INVALID_PARAMS, &error.to_string()),
        })
    }
}

/// Forwards the updates of a resource until its server ends the subscription.
async fn forward_updates(mut subscription: Subscription, channel: Replies, form: UpdateForm) {
    while let Ok(update) = subscription.next_update().await {
        // A client that does not read loses the update.
        let _delivery = channel.notify(UPDATED, Some(&form.fit_update(update.as_ref())));
    }
}
