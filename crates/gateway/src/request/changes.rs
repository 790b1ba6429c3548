//! Notifies clients about changes of their lists and resources, debounced: one notification for many changes.

use std::collections::HashSet;
use std::sync::Arc;

use mcparley::model::limits::{LIST_CHANGED_QUIET, LISTEN_ANSWER_TIME, SERVED_RESOURCE_SUBSCRIPTIONS};
use mcparley::pool::surface::AnnouncedChanges;
use mcparley::resource::Subscription;
use mcparley_wire::{Delivery, INVALID_PARAMS, RawJson, Replies, RpcError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::client_abilities::Caller;
use crate::request::subscribe::UPDATED;
use crate::response::item::ToolListItem;
use crate::response::resource_update::{SUBSCRIPTION, UpdateForm};
use crate::session::GatewaySession;
use crate::session::tool_list::ShownTools;
use crate::view::View;

const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The notifications that a client of the new era asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListenFilter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

impl ListenFilter {
    /// Whether the client wants the notification of a method.
    fn wants(&self, method: &str) -> bool {
        match method {
            TOOLS_CHANGED => self.tools_list_changed,
            PROMPTS_CHANGED => self.prompts_list_changed,
            _ => self.resources_list_changed,
        }
    }

    /// The filter as it is acknowledged, with the resources whose servers agreed.
    fn acknowledge_filter(&self, view: &View, subscribed: &[String]) -> Value {
        let mut notifications = Map::new();
        let has = |capability: &str| view.has_capability(capability);
        let kinds = [
            ("toolsListChanged", self.tools_list_changed),
            ("promptsListChanged", self.prompts_list_changed && has("prompts")),
            ("resourcesListChanged", self.resources_list_changed && has("resources")),
        ];
        for (kind, _) in kinds.into_iter().filter(|(_, is_wanted)| *is_wanted) {
            notifications.insert(kind.to_owned(), json!(true));
        }
        if !subscribed.is_empty() {
            notifications.insert("resourceSubscriptions".to_owned(), json!(subscribed));
        }
        notifications.into()
    }
}

impl GatewaySession {
    /// Notifies a client of the old era about every change of its lists. Never returns.
    pub(crate) async fn announce_changes(&self) {
        let mut last = LastAnnounced::default();
        tokio::select! {
            () = self.shared.listing.wait_for_first() => {}
            // The client has its lists from another gateway; they are the same, unless servers change.
            () = self.shared.listing.assumed.notified() => self.assume_lists().await,
        }
        loop {
            let form = (Baseline::ShownLists, self.has_apps());
            let changed = self.wait_for_change(&mut last, form).await;
            if let (true, Some(channel)) = (self.has_handshake(), self.channel()) {
                for method in changed {
                    send_until_delivered(channel, method, None).await;
                }
            }
        }
    }

    /// Answers `subscriptions/listen`: sends notifications until the client cancels the request.
    pub(crate) async fn answer_listen(
        &self,
        caller: &Caller,
        id: &RawJson,
        params: Option<&RawJson>,
        replies: &Replies,
    ) -> Result<RawJson, RpcError> {
        let wanted = params.and_then(|params| params.member("notifications"));
        let is_object = |wanted: &RawJson| wanted.as_str().starts_with('{');
        let Some(wanted) = wanted.filter(is_object).and_then(|wanted| wanted.decode::<ListenFilter>().ok())
        else {
            return Err(RpcError::new(INVALID_PARAMS, "`notifications` is required"));
        };
        let Ok(_place) = self.shared.subscriptions.try_acquire() else {
            return Err(RpcError::new(INVALID_PARAMS, "there are too many subscriptions already"));
        };
        let uris = distinct_resources(&wanted.resource_subscriptions)?;
        let mut last = self.current_lists(caller.has_apps);
        let opened = self.open_subscriptions(caller, &uris).await;
        let subscribed: Vec<String> = opened.iter().map(|(uri, _)| uri.clone()).collect();
        let name: Value = id.decode().unwrap_or_default();
        let meta = json!({ SUBSCRIPTION: name });
        let heard = wanted.acknowledge_filter(&self.shared.gateway.view(), &subscribed);
        let acknowledged = json!({ "_meta": meta, "notifications": heard });
        send_until_delivered(replies, ACKNOWLEDGED, Some(&acknowledged)).await;
        let mut updates = self.forward_updates(opened, replies, &name);
        loop {
            tokio::select! {
                changed = self.wait_for_change(&mut last, (Baseline::LastAnnounced, caller.has_apps)) => {
                    for method in changed.into_iter().filter(|method| wanted.wants(method)) {
                        send_until_delivered(replies, method, Some(&json!({ "_meta": meta }))).await;
                    }
                }
                // A server that ends a subscription ends only that one.
                Some(_ended) = updates.join_next() => {}
            }
        }
    }

    /// Subscribes to resources, with a short timeout for all together; those that are refused are left out.
    async fn open_subscriptions(&self, caller: &Caller, uris: &[String]) -> Vec<(String, Subscription)> {
        let mut opening = JoinSet::new();
        for (place, uri) in uris.iter().cloned().enumerate() {
            let (session, caller) = (self.clone(), *caller);
            opening.spawn(async move {
                let opened = session.open_subscription(&uri, &caller).await.ok();
                opened.map(|opened| (place, uri, opened))
            });
        }
        let deadline = Instant::now() + LISTEN_ANSWER_TIME;
        let mut opened = Vec::new();
        while let Ok(Some(joined)) = tokio::time::timeout_at(deadline, opening.join_next()).await {
            opened.extend(joined.ok().flatten());
        }
        opened.sort_by_key(|(place, ..)| *place);
        opened.into_iter().map(|(_, uri, subscription)| (uri, subscription)).collect()
    }

    /// Forwards the updates of resources to a client, each in a task that ends with the set.
    fn forward_updates(
        &self,
        opened: Vec<(String, Subscription)>,
        replies: &Replies,
        id: &Value,
    ) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for (uri, mut subscription) in opened {
            let form = UpdateForm::new(&self.shared.gateway.view(), &uri, &subscription, Some(id));
            let replies = replies.clone();
            tasks.spawn(async move {
                while let Ok(update) = subscription.next_update().await {
                    retry_until_delivered(&replies, UPDATED, Some(&form.fit_update(update.as_ref()))).await;
                }
            });
        }
        tasks
    }

    /// The lists as they are now, for a client that shows apps or not.
    fn current_lists(&self, has_apps: bool) -> LastAnnounced {
        let view = self.shared.gateway.view();
        LastAnnounced {
            revision: view.catalog.revision(),
            count: 0,
            items: self.visible_items(&view, has_apps),
            prompts: Some(view.prompts_digest()),
            resources: Some(view.resources_digest()),
            passed: passed_changes(&view),
        }
    }

    /// Waits until lists differ from those the client knows, and returns the methods that announce them.
    async fn wait_for_change(
        &self,
        last: &mut LastAnnounced,
        (baseline, has_apps): (Baseline, bool),
    ) -> Vec<&'static str> {
        loop {
            tokio::select! {
                () = self.host().wait_for_new_catalog(last.revision) => {}
                () = self.shared.listing.wait_for_found() => {}
            }
            tokio::time::sleep(LIST_CHANGED_QUIET).await;
            let catalog = self.host().catalog();
            last.revision = catalog.revision();
            let view = self.shared.gateway.view_of(catalog);
            let shown = self.shared.listing.lock_shown().clone();
            let items = self.visible_items(&view, has_apps);
            let changed = last.update_lists(&shown, (items, &view), baseline);
            if !changed.is_empty() {
                return changed;
            }
        }
    }
}

/// The resources of a subscription, each once; an error beyond the limit, before any is opened.
fn distinct_resources(uris: &[String]) -> Result<Vec<String>, RpcError> {
    let mut seen = HashSet::new();
    let distinct: Vec<String> = uris.iter().filter(|uri| seen.insert(uri.as_str())).cloned().collect();
    if distinct.len() > SERVED_RESOURCE_SUBSCRIPTIONS {
        let reason = format!("there are more than {SERVED_RESOURCE_SUBSCRIPTIONS} resources");
        return Err(RpcError::new(INVALID_PARAMS, &reason));
    }
    Ok(distinct)
}

/// Sends a notification of a subscription, with retries while the client does not read.
async fn send_until_delivered(replies: &Replies, method: &str, params: Option<&Value>) {
    let Ok(params) = params.map(RawJson::from_value).transpose() else { return };
    retry_until_delivered(replies, method, params.as_ref()).await;
}

async fn retry_until_delivered(replies: &Replies, method: &str, params: Option<&RawJson>) {
    while replies.notify(method, params) == Delivery::Dropped {
        tokio::time::sleep(LIST_CHANGED_QUIET).await;
    }
}

/// The lists that a change is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Baseline {
    /// The lists that the client got last; lists that it never got are not announced.
    ShownLists,
    /// The lists at the beginning of the subscription, or as announced last.
    LastAnnounced,
}

/// The lists that were announced to a client last.
#[derive(Debug, Default)]
struct LastAnnounced {
    /// The revision of the catalog that was compared last.
    revision: u64,
    /// The number of tool lists that the client had requested by then.
    count: u64,
    /// The announced tools.
    items: Arc<Vec<ToolListItem>>,
    /// The digest of the announced prompts.
    prompts: Option<u64>,
    /// The digest of the announced resources, templates and skills.
    resources: Option<u64>,
    /// The changes that the servers had announced by then.
    passed: Option<AnnouncedChanges>,
}

impl LastAnnounced {
    /// Updates to the current lists; returns the methods that announce their changes.
    fn update_lists(
        &mut self,
        shown: &ShownTools,
        (now, view): (Arc<Vec<ToolListItem>>, &View),
        baseline: Baseline,
    ) -> Vec<&'static str> {
        let passed = self.take_passed(view);
        let mut changed = Vec::new();
        if self.has_new_tools(shown, &now, baseline) || passed.contains(&TOOLS_CHANGED) {
            (self.count, self.items) = (shown.count, now);
            changed.push(TOOLS_CHANGED);
        }
        let others = [
            (&mut self.prompts, shown.prompts, view.prompts_digest(), PROMPTS_CHANGED),
            (&mut self.resources, shown.resources, view.resources_digest(), RESOURCES_CHANGED),
        ];
        for (announced, shown, now, method) in others {
            let is_known = match baseline {
                Baseline::ShownLists => shown.is_none_or(|shown| shown == now),
                Baseline::LastAnnounced => false,
            };
            if (!is_known && *announced != Some(now)) || passed.contains(&method) {
                *announced = Some(now);
                changed.push(method);
            }
        }
        changed
    }

    /// The changes that the servers have announced since the last look. They are passed on even if the lists
    /// are the same, except to models, whose lists should stay in their context.
    fn take_passed(&mut self, view: &View) -> Vec<&'static str> {
        let (before, now) = (self.passed, passed_changes(view));
        self.passed = now;
        let (Some(before), Some(now)) = (before, now) else { return Vec::new() };
        let kinds = [
            (before.tools != now.tools, TOOLS_CHANGED),
            (before.prompts != now.prompts, PROMPTS_CHANGED),
            (before.resources != now.resources, RESOURCES_CHANGED),
        ];
        kinds.into_iter().filter(|(is_news, _)| *is_news).map(|(_, method)| method).collect()
    }

    fn has_new_tools(&self, shown: &ShownTools, now: &Arc<Vec<ToolListItem>>, baseline: Baseline) -> bool {
        match baseline {
            Baseline::ShownLists => {
                let is_news = shown.count > 0 && !are_same(&shown.items, now);
                is_news && !(self.count == shown.count && are_same(&self.items, now))
            }
            Baseline::LastAnnounced => !are_same(&self.items, now),
        }
    }
}

/// The changes that all servers together have announced; `None` where only differences count.
fn passed_changes(view: &View) -> Option<AnnouncedChanges> {
    let announced = view.servers.iter().map(|server| server.surface.announced);
    (!view.mode.for_model).then(|| announced.sum())
}

fn are_same(one: &Arc<Vec<ToolListItem>>, other: &Arc<Vec<ToolListItem>>) -> bool {
    if Arc::ptr_eq(one, other) {
        return true;
    }
    one.len() == other.len() && one.iter().zip(other.iter()).all(|(one, other)| one.is_same(other))
}
