//! The event stream of a page: each section as one event, sent when the page connects and whenever the
//! section has changed.
//!
//! Changes of servers, calls and questions wake the stream; bursts of changes become one event. Only the
//! questions of other gateways are looked for at an interval, since they belong to other processes.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{Response, StatusCode};
use mcparley::config::LoadedConfig;
use mcparley::host::ChangeListener;
use mcparley_door::PageBody;
use mcparley_gateway::PendingQuestion;
use mcparley_model::limits::{PAGE_QUIET, PAGE_SURVEY};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{Interval, MissedTickBehavior};

use crate::api::{calls, questions, servers, trust};
use crate::page_state::PageState;
use crate::response::{ErrorResponse, encode_event, error_response, event_response};

/// The number of events that wait for a slow page; then the stream waits, and later changes become one.
const UNREAD_EVENTS: usize = 16;

/// Opens the event stream of a page.
pub(crate) fn open_stream(state: &Arc<PageState>) -> Result<Response<PageBody>, ErrorResponse> {
    let Some(visitor) = state.visitors.admit_stream() else {
        return Err(error_response(StatusCode::TOO_MANY_REQUESTS, "too many pages are open", None));
    };
    let (sender, events) = mpsc::channel(UNREAD_EVENTS);
    let stream = PageStream::new(state, sender);
    state.spawn_task(async move {
        stream.send_events().await;
        drop(visitor);
    });
    Ok(event_response(events))
}

/// The page is gone.
struct PageClosed;

/// One event stream, with the sections as they were sent last.
struct PageStream {
    state: std::sync::Weak<PageState>,
    sender: mpsc::Sender<Bytes>,
    servers: ChangeListener,
    calls: watch::Receiver<u64>,
    questions: watch::Receiver<u64>,
    refreshes: watch::Receiver<u64>,
    notices: broadcast::Receiver<String>,
    survey: Interval,
    sent: SentSections,
}

/// The sections as they were sent last.
#[derive(Default)]
struct SentSections {
    servers: String,
    calls: String,
    questions: String,
    tools: Option<u64>,
    trust: String,
    /// The configuration and the number of refreshes that `trust` was read for.
    trust_source: Option<(Arc<LoadedConfig>, u64)>,
    /// The questions of other gateways.
    others: Vec<PendingQuestion>,
}

/// The reason why the stream woke up.
enum WakeReason {
    Change,
    Survey,
    Notice(String),
    /// The page is gone, or the host has ended.
    End,
}

impl PageStream {
    fn new(state: &Arc<PageState>, sender: mpsc::Sender<Bytes>) -> Self {
        let mut survey = tokio::time::interval(PAGE_SURVEY);
        survey.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            state: Arc::downgrade(state),
            sender,
            servers: state.host.change_listener(),
            calls: state.host.call_changes(),
            questions: state.gateway.question_changes(),
            refreshes: state.refreshes.subscribe(),
            notices: state.subscribe_notices(),
            survey,
            sent: SentSections::default(),
        }
    }

    /// Sends events until the page is gone.
    async fn send_events(mut self) {
        let Some(state) = self.state.upgrade() else { return };
        if self.send_event("about", describe_host(&state)).await.is_err() {
            return;
        }
        drop(state);
        loop {
            let Some(state) = self.state.upgrade() else { return };
            if self.send_changes(&state).await.is_err() {
                return;
            }
            drop(state);
            match self.wait_for_change().await {
                WakeReason::Change => tokio::time::sleep(PAGE_QUIET).await,
                WakeReason::Survey => {
                    let Some(state) = self.state.upgrade() else { return };
                    self.sent.others = questions::survey_gateways(&state).await;
                }
                WakeReason::Notice(text) => {
                    if self.send_event("notice", json!({ "message": text })).await.is_err() {
                        return;
                    }
                }
                WakeReason::End => return,
            }
        }
    }

    async fn wait_for_change(&mut self) -> WakeReason {
        let is_over = |changed: bool| if changed { WakeReason::Change } else { WakeReason::End };
        tokio::select! {
            () = self.sender.closed() => WakeReason::End,
            changed = self.servers.changed() => is_over(changed.is_ok()),
            changed = self.calls.changed() => is_over(changed.is_ok()),
            changed = self.questions.changed() => is_over(changed.is_ok()),
            changed = self.refreshes.changed() => match changed {
                Ok(()) => WakeReason::Survey,
                Err(_) => WakeReason::End,
            },
            _ = self.survey.tick() => WakeReason::Survey,
            notice = self.notices.recv() => match notice {
                Ok(text) => WakeReason::Notice(text),
                Err(RecvError::Lagged(_)) => WakeReason::Change,
                Err(RecvError::Closed) => WakeReason::End,
            },
        }
    }

    /// Sends every section that differs from the one that was sent last.
    async fn send_changes(&mut self, state: &PageState) -> Result<(), PageClosed> {
        let cards = json!({ "servers": servers::list_servers(&state.host) });
        if has_changed(&mut self.sent.servers, &cards) {
            self.send_event("servers", cards).await?;
        }
        let revision = state.host.catalog().revision();
        if self.sent.tools.replace(revision) != Some(revision) {
            self.send_event("tools", json!({ "revision": revision })).await?;
        }
        let open = questions::list_questions(state, &self.sent.others);
        if has_changed(&mut self.sent.questions, &open) {
            self.send_event("questions", open).await?;
        }
        let log = calls::list_calls(&state.host);
        if has_changed(&mut self.sent.calls, &log) {
            self.send_event("calls", log).await?;
        }
        let source = (state.host.loaded_config(), *state.refreshes.borrow());
        let is_same = |(loaded, changes): &(Arc<LoadedConfig>, u64)| {
            Arc::ptr_eq(loaded, &source.0) && *changes == source.1
        };
        if !self.sent.trust_source.as_ref().is_some_and(is_same) {
            self.sent.trust_source = Some(source);
            let items = trust::list_items(state).await;
            if has_changed(&mut self.sent.trust, &items) {
                self.send_event("trust", items).await?;
            }
        }
        Ok(())
    }

    async fn send_event(&self, name: &str, value: Value) -> Result<(), PageClosed> {
        self.sender.send(encode_event(name, value)).await.map_err(|_| PageClosed)
    }
}

/// Facts about the host that do not change.
fn describe_host(state: &PageState) -> Value {
    let paths = state.host.paths();
    json!({ "version": env!("CARGO_PKG_VERSION"), "project": paths.project.to_string_lossy() })
}

fn has_changed(sent: &mut String, value: &Value) -> bool {
    let text = value.to_string();
    let is_new = *sent != text;
    *sent = text;
    is_new
}
