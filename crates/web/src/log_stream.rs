//! The event stream of a server's log: all stored lines first, then new ones as they are written.

use std::sync::Arc;

use hyper::{Response, StatusCode};
use mcparley::model::name::ServerName;
use mcparley::pool::log::{LogFollower, LogLine};
use mcparley_door::{PageBody, PageRequest};
use serde_json::json;
use tokio::sync::mpsc;

use crate::api::query_value;
use crate::page_state::PageState;
use crate::response::{ErrorResponse, encode_event, error_response, event_response};

/// The number of events that wait for a slow page; then the stream waits.
const UNREAD_EVENTS: usize = 8;
/// The number of the newest lines that a page gets at the beginning.
const FIRST_LINES: usize = 1000;

/// Opens the stream of the log of the server that the query names.
pub(crate) fn open_stream(
    state: &Arc<PageState>,
    request: &PageRequest,
) -> Result<Response<PageBody>, ErrorResponse> {
    let server = ServerName::new(&query_value(request, "server")?);
    let Some(visitor) = state.visitors.admit_stream() else {
        return Err(error_response(StatusCode::TOO_MANY_REQUESTS, "too many pages are open", None));
    };
    let (sender, events) = mpsc::channel(UNREAD_EVENTS);
    let mut follower = LogFollower::new(&state.host.paths(), [server]);
    state.spawn_task(async move {
        let mut first = Some(FIRST_LINES);
        loop {
            let most = first.take();
            let reading = tokio::task::spawn_blocking(move || {
                let lines = read_new_lines(&mut follower, most);
                (lines, follower)
            });
            // Only the end of the runtime cancels such work.
            let Ok((lines, returned)) = reading.await else { break };
            follower = returned;
            if !lines.is_empty() && sender.send(encode_event("lines", json!(lines))).await.is_err() {
                break;
            }
            tokio::select! {
                () = sender.closed() => break,
                () = follower.wait_for_change() => {}
            }
        }
        drop(visitor);
    });
    Ok(event_response(events))
}

/// The new lines of the log; only the newest of them if `most` says so.
fn read_new_lines(follower: &mut LogFollower, most: Option<usize>) -> Vec<LogLine> {
    // A file that cannot be read now is read again after the next change.
    let stored = follower.read_new_lines().unwrap_or_default();
    let mut lines: Vec<LogLine> = stored.into_iter().flat_map(|log| log.lines).collect();
    if let Some(most) = most {
        lines.drain(..lines.len().saturating_sub(most));
    }
    lines
}
