//! Notifies clients about changes of their tool list, debounced: one notification for many changes.

use mcparley::model::limits::{LIST_CHANGED_QUIET, SERVED_SUBSCRIPTIONS};
use mcparley_wire::{Delivery, INVALID_PARAMS, RawJson, Replies, RpcError};
use serde_json::{Value, json};

use crate::response::item::ToolListItem;
use crate::session::GatewaySession;
use crate::session::tool_list::ShownTools;

const LIST_CHANGED: &str = "notifications/tools/list_changed";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl GatewaySession {
    /// Notifies a client of the old era about every change of its list. Never returns.
    pub(crate) async fn announce_changes(&self) {
        let mut last = LastAnnounced::default();
        loop {
            self.wait_for_change(&mut last).await;
            if self.has_handshake() {
                self.send_notification(LIST_CHANGED, None).await;
            }
        }
    }

    /// Answers `subscriptions/listen`: sends notifications until the client cancels the request.
    pub(crate) async fn answer_listen(
        &self,
        id: &RawJson,
        params: Option<&RawJson>,
        replies: &Replies,
    ) -> Result<RawJson, RpcError> {
        let wanted = params.and_then(|params| params.member("notifications"));
        let Some(Ok(wanted)) = wanted.map(|wanted| wanted.decode::<Value>()) else {
            return Err(RpcError::new(INVALID_PARAMS, "`notifications` is required"));
        };
        let Ok(_place) = self.shared.subscriptions.try_acquire() else {
            let reason = format!("there are {SERVED_SUBSCRIPTIONS} subscriptions already");
            return Err(RpcError::new(INVALID_PARAMS, &reason));
        };
        let wants_tools = wanted.get("toolsListChanged") == Some(&Value::Bool(true));
        let heard = if wants_tools { json!({ "toolsListChanged": true }) } else { json!({}) };
        let name: Value = id.decode().unwrap_or_default();
        let meta = json!({ SUBSCRIPTION: name });
        send_until_delivered(replies, ACKNOWLEDGED, &json!({ "_meta": meta, "notifications": heard })).await;
        if !wants_tools {
            std::future::pending().await
        }
        let mut last = LastAnnounced::default();
        loop {
            self.wait_for_change(&mut last).await;
            send_until_delivered(replies, LIST_CHANGED, &json!({ "_meta": meta })).await;
        }
    }

    /// Waits until the tool list differs from the one the client knows.
    async fn wait_for_change(&self, last: &mut LastAnnounced) {
        self.shared.listing.wait_for_first().await;
        loop {
            tokio::select! {
                () = self.host().wait_for_new_catalog(last.revision) => {}
                () = self.shared.listing.wait_for_found() => {}
            }
            tokio::time::sleep(LIST_CHANGED_QUIET).await;
            let catalog = self.host().catalog();
            last.revision = catalog.revision();
            let shown = self.shared.listing.lock_shown().clone();
            if last.update_list(&shown, self.visible_items(&catalog)) {
                return;
            }
        }
    }
}

/// Sends a notification of a subscription, with retries while the client does not read.
async fn send_until_delivered(replies: &Replies, method: &str, params: &Value) {
    let Ok(params) = RawJson::from_value(params) else { return };
    while replies.notify(method, Some(&params)) == Delivery::Dropped {
        tokio::time::sleep(LIST_CHANGED_QUIET).await;
    }
}

/// The tool list that was announced to a client last.
#[derive(Debug, Default)]
struct LastAnnounced {
    /// The revision of the catalog that was compared last.
    revision: u64,
    /// The number of lists that the client had requested by then.
    count: u64,
    /// The announced list.
    items: Vec<ToolListItem>,
}

impl LastAnnounced {
    /// Updates to the current list; returns whether the change must be announced.
    fn update_list(&mut self, shown: &ShownTools, now: Vec<ToolListItem>) -> bool {
        let is_news = !are_same(&shown.items, &now);
        let was_told = self.count == shown.count && are_same(&self.items, &now);
        if !is_news || was_told {
            return false;
        }
        (self.count, self.items) = (shown.count, now);
        true
    }
}

fn are_same(one: &[ToolListItem], other: &[ToolListItem]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
}
