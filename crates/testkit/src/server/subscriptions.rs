//! The streams of `subscriptions/listen`.

use super::{Out, Request};
use crate::lock::lock;
use serde_json::{Map, Value, json};
use std::io;
use std::sync::{Arc, Mutex};

/// Every stream that is open.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<Vec<Subscription>>);

/// One stream.
#[derive(Clone)]
pub(crate) struct Subscription {
    id: Value,
    /// What was agreed on.
    filter: Value,
    out: Arc<dyn Out>,
}

impl Subscriptions {
    /// Acknowledges what the server has: changes of the tools and, where they can be watched, of resources.
    pub(crate) fn open(&self, request: &Request<'_>, watched: bool) -> io::Result<()> {
        let asked = request.message.param("notifications").and_then(Value::as_object);
        let kept = asked
            .into_iter()
            .flatten()
            .filter(|(key, _)| *key == "toolsListChanged" || (watched && *key == "resourceSubscriptions"));
        let kept: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
        let filter = Value::Object(kept);
        let subscription = Subscription { id: request.id.clone(), filter, out: Arc::clone(request.out) };
        let mut params = Map::new();
        params.insert("notifications".to_owned(), subscription.filter.clone());
        let note = subscription.tagged("notifications/subscriptions/acknowledged", params);
        // A call that follows the acknowledgement must find the stream.
        let mut open = lock(&self.0);
        subscription.out.send(note.as_bytes())?;
        open.push(subscription);
        Ok(())
    }

    /// Ends a stream. Ids of different HTTP clients may be equal; there the stream ends with its connection.
    pub(crate) fn forget(&self, scope: &str, id: &Value) {
        if scope.is_empty() {
            lock(&self.0).retain(|subscription| subscription.id != *id);
        }
    }

    /// Ends the streams of a connection that is gone.
    pub(crate) fn forget_stream(&self, out: &Arc<dyn Out>) {
        lock(&self.0).retain(|subscription| !Arc::ptr_eq(&subscription.out, out));
    }

    /// Ends every stream in this manner.
    pub(crate) fn end(&self, manner: &str) -> io::Result<()> {
        for subscription in std::mem::take(&mut *lock(&self.0)) {
            let id = &subscription.id;
            let last = match manner {
                "result" => {
                    let tag = json!({ "io.modelcontextprotocol/subscriptionId": id });
                    json!({ "jsonrpc": "2.0", "id": id, "result": { "resultType": "complete", "_meta": tag } })
                }
                "cancelled" => {
                    let params = json!({ "requestId": id, "reason": "the server shuts down" });
                    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
                }
                _ => {
                    subscription.out.end()?;
                    continue;
                }
            };
            subscription.out.send(format!("{last}\n").as_bytes())?;
        }
        Ok(())
    }

    /// Tells those who watch a resource that it has changed; says whether anybody does.
    pub(crate) fn tell_updated(&self, uri: &str) -> io::Result<bool> {
        let watches = |filter: &Value| {
            filter["resourceSubscriptions"].as_array().is_some_and(|all| all.contains(&json!(uri)))
        };
        let open = lock(&self.0).clone();
        for subscription in open.iter().filter(|subscription| watches(&subscription.filter)) {
            let mut params = Map::new();
            params.insert("uri".to_owned(), json!(uri));
            let line = subscription.tagged("notifications/resources/updated", params);
            subscription.out.send(line.as_bytes())?;
        }
        Ok(!open.is_empty())
    }

    /// Those who want to hear about changes of the tools.
    pub(crate) fn for_tools(&self) -> Vec<Subscription> {
        let wants = |subscription: &&Subscription| subscription.filter["toolsListChanged"] == json!(true);
        lock(&self.0).iter().filter(wants).cloned().collect()
    }
}

impl Subscription {
    /// A line that says that the tools have changed.
    pub(crate) fn tools_changed(&self) -> String {
        self.tagged("notifications/tools/list_changed", Map::new())
    }

    pub(crate) fn out(&self) -> &Arc<dyn Out> {
        &self.out
    }

    fn tagged(&self, method: &str, mut params: Map<String, Value>) -> String {
        let tag = json!({ "io.modelcontextprotocol/subscriptionId": self.id });
        params.insert("_meta".to_owned(), tag);
        format!("{}\n", json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }
}

impl std::fmt::Debug for Subscriptions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<Value> = lock(&self.0).iter().map(|subscription| subscription.id.clone()).collect();
        out.debug_tuple("Subscriptions").field(&ids).finish()
    }
}
