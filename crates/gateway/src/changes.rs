//! Tells clients that their list of tools has changed: one word for many changes (L10, F61).

use mcparley::model::limits::{LIST_CHANGED_QUIET, SERVED_SUBSCRIPTIONS};
use mcparley_wire::{INVALID_PARAMS, RawJson, RpcError};
use serde_json::{Value, json};

use crate::item::Item;
use crate::listing::Shown;
use crate::session::Session;

const LIST_CHANGED: &str = "notifications/tools/list_changed";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Session {
    /// Tells a client of the old era of every change of its list, for ever.
    pub(crate) async fn tell_changes(&self) {
        let mut told = Told::default();
        loop {
            self.list_changed(&mut told).await;
            if self.is_greeted() {
                self.notify(LIST_CHANGED, None).await;
            }
        }
    }

    /// Answers `subscriptions/listen`: tells of changes until the client takes the request back.
    pub(crate) async fn listen(&self, id: &RawJson, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let wanted = params.and_then(|params| params.member("notifications"));
        let Some(Ok(wanted)) = wanted.map(|wanted| wanted.decode::<Value>()) else {
            return Err(RpcError::new(INVALID_PARAMS, "`notifications` says what to listen to"));
        };
        let Ok(_place) = self.shared.subscriptions.try_acquire() else {
            let reason = format!("there are {SERVED_SUBSCRIPTIONS} subscriptions already");
            return Err(RpcError::new(INVALID_PARAMS, &reason));
        };
        let wants_tools = wanted.get("toolsListChanged") == Some(&Value::Bool(true));
        let heard = if wants_tools { json!({ "toolsListChanged": true }) } else { json!({}) };
        let name: Value = id.decode().unwrap_or_default();
        let meta = json!({ SUBSCRIPTION: name });
        self.notify(ACKNOWLEDGED, Some(json!({ "_meta": meta, "notifications": heard }))).await;
        if !wants_tools {
            std::future::pending().await
        }
        let mut told = Told::default();
        loop {
            self.list_changed(&mut told).await;
            self.notify(LIST_CHANGED, Some(json!({ "_meta": meta }))).await;
        }
    }

    /// Waits until the list of tools is another one than the client knows.
    async fn list_changed(&self, told: &mut Told) {
        self.shared.listing.begun().await;
        loop {
            tokio::select! {
                () = self.host().catalog_after(told.revision) => {}
                () = self.shared.listing.news() => {}
            }
            tokio::time::sleep(LIST_CHANGED_QUIET).await;
            let catalog = self.host().catalog();
            told.revision = catalog.revision();
            let shown = self.shared.listing.shown().clone();
            if told.take(&shown, self.items(&catalog)) {
                return;
            }
        }
    }

    /// Tells the client something; one that is gone needs no telling.
    pub(crate) async fn notify(&self, method: &str, params: Option<Value>) {
        let params = params.and_then(|params| RawJson::of(&params).ok());
        if let Some(peer) = self.peer() {
            let _gone = peer.notify(method, params.as_ref()).await;
        }
    }
}

/// What a client has been told.
#[derive(Debug, Default)]
struct Told {
    /// The catalogue that was looked at last.
    revision: u64,
    /// How many lists the client had been given when it was told.
    count: u64,
    /// The list it was told of.
    items: Vec<Item>,
}

impl Told {
    /// Takes a list; says whether the client has to be told of it.
    fn take(&mut self, shown: &Shown, now: Vec<Item>) -> bool {
        let is_news = !are_same(&shown.items, &now);
        let was_told = self.count == shown.count && are_same(&self.items, &now);
        if !is_news || was_told {
            return false;
        }
        (self.count, self.items) = (shown.count, now);
        true
    }
}

fn are_same(one: &[Item], other: &[Item]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
}
