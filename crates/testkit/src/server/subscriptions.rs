//! The streams of `subscriptions/listen`.

use super::{MessageSink, Request};
use crate::lock::lock;
use serde_json::{Map, Value, json};
use std::io;
use std::sync::{Arc, Mutex};

/// All open streams.
#[derive(Default)]
pub(crate) struct OpenSubscriptions(Mutex<Vec<OpenSubscription>>);

/// One open stream.
#[derive(Clone)]
pub(crate) struct OpenSubscription {
    id: Value,
    /// The acknowledged filter.
    filter: Value,
    out: Arc<dyn MessageSink>,
}

impl OpenSubscriptions {
    /// Opens a stream and acknowledges the supported notifications: tool changes and, if enabled, resource
    /// updates.
    pub(crate) fn open_stream(&self, request: &Request<'_>, watched: bool) -> io::Result<()> {
        let asked = request.message.param("notifications").and_then(Value::as_object);
        let kept = asked
            .into_iter()
            .flatten()
            .filter(|(key, _)| *key == "toolsListChanged" || (watched && *key == "resourceSubscriptions"));
        let kept: Map<String, Value> = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
        let filter = Value::Object(kept);
        let subscription = OpenSubscription { id: request.id.clone(), filter, out: Arc::clone(request.out) };
        let mut params = Map::new();
        params.insert("notifications".to_owned(), subscription.filter.clone());
        let note = subscription.notification_line("notifications/subscriptions/acknowledged", params);
        // A call after the acknowledgement must find the stream.
        let mut open = lock(&self.0);
        subscription.out.send_lines(note.as_bytes())?;
        open.push(subscription);
        Ok(())
    }

    /// Removes a stream. Ids of different HTTP clients may be equal; there the stream ends with its
    /// connection.
    pub(crate) fn remove_stream(&self, scope: &str, id: &Value) {
        if scope.is_empty() {
            lock(&self.0).retain(|subscription| subscription.id != *id);
        }
    }

    /// Removes the streams of a closed connection.
    pub(crate) fn remove_connection(&self, out: &Arc<dyn MessageSink>) {
        lock(&self.0).retain(|subscription| !Arc::ptr_eq(&subscription.out, out));
    }

    /// Ends all streams in the given way.
    pub(crate) fn end_streams(&self, manner: &str) -> io::Result<()> {
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
                    subscription.out.end_stream()?;
                    continue;
                }
            };
            subscription.out.send_lines(format!("{last}\n").as_bytes())?;
        }
        Ok(())
    }

    /// Notifies the subscribers of a resource that it has changed; returns whether any stream is open.
    pub(crate) fn notify_updated(&self, uri: &str) -> io::Result<bool> {
        let watches = |filter: &Value| {
            filter["resourceSubscriptions"].as_array().is_some_and(|all| all.contains(&json!(uri)))
        };
        let open = lock(&self.0).clone();
        for subscription in open.iter().filter(|subscription| watches(&subscription.filter)) {
            let mut params = Map::new();
            params.insert("uri".to_owned(), json!(uri));
            let line = subscription.notification_line("notifications/resources/updated", params);
            subscription.out.send_lines(line.as_bytes())?;
        }
        Ok(!open.is_empty())
    }

    /// The streams that subscribed to tool changes.
    pub(crate) fn tool_subscribers(&self) -> Vec<OpenSubscription> {
        let wants = |subscription: &&OpenSubscription| subscription.filter["toolsListChanged"] == json!(true);
        lock(&self.0).iter().filter(wants).cloned().collect()
    }
}

impl OpenSubscription {
    /// A notification that the tools have changed.
    pub(crate) fn tools_changed_line(&self) -> String {
        self.notification_line("notifications/tools/list_changed", Map::new())
    }

    pub(crate) fn out(&self) -> &Arc<dyn MessageSink> {
        &self.out
    }

    fn notification_line(&self, method: &str, mut params: Map<String, Value>) -> String {
        let tag = json!({ "io.modelcontextprotocol/subscriptionId": self.id });
        params.insert("_meta".to_owned(), tag);
        format!("{}\n", json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }
}

impl std::fmt::Debug for OpenSubscriptions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<Value> = lock(&self.0).iter().map(|subscription| subscription.id.clone()).collect();
        out.debug_tuple("Subscriptions").field(&ids).finish()
    }
}
