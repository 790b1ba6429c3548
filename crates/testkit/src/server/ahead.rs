//! Floods and storms of notifications before a reply.

use super::{DueFaults, MessageSink, Request, ScriptedServer, lists};
use mcparley_testkit::Name;
use serde_json::json;
use std::io;

/// The approximate size of the writes of a storm.
const CHUNK: usize = 64 * 1024;

const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// The flood that is sent in one write with the reply.
pub(crate) fn flood_messages(due: DueFaults<'_>) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"#;
    let mut lines = String::new();
    for number in 0..due.number(Name::Flood).unwrap_or(0) {
        lines.extend([head, &number.to_string(), "}}\n"]);
    }
    lines.into_bytes()
}

/// Sends the requested storms.
pub(crate) fn send_storms(server: &ScriptedServer, request: &Request<'_>) -> io::Result<()> {
    if request.due.has(Name::Watched) && !server.subscriptions.notify_updated(lists::NOTE)? {
        let params = json!({ "uri": lists::NOTE });
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params });
        request.out.send_lines(format!("{told}\n").as_bytes())?;
    }
    if let Some(method) = request.due.text(Name::Notice) {
        let params = match request.message.text("taskId") {
            Some(id) => json!({
                "taskId": id, "status": "working", "ttl": null, "statusMessage": "soon",
                "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z",
            }),
            None => json!({ "own": { "n": 1.5 } }),
        };
        let notice = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        request.out.send_lines(format!("{notice}\n").as_bytes())?;
    }
    if let Some(count) = request.due.number(Name::ListChangedStorm) {
        send_list_changes(server, request, count)?;
    }
    if let Some(count) = request.due.number(Name::ProgressStorm) {
        let standard = json!("storm");
        let token = request.message.progress_token().unwrap_or(&standard);
        let head = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":"#
        );
        send_storm(request.out.as_ref(), count, |number, lines| {
            lines.extend([head.as_str(), &(number + 1).to_string(), "}}\n"]);
        })?;
    }
    Ok(())
}

/// Sends list changes; in the new era to the streams that subscribed, if there are any.
fn send_list_changes(server: &ScriptedServer, request: &Request<'_>, count: u64) -> io::Result<()> {
    let subscriptions = server.subscriptions.tool_subscribers();
    for subscription in &subscriptions {
        let line = subscription.tools_changed_line();
        send_storm(subscription.out().as_ref(), count, |_, lines| lines.push_str(&line))?;
    }
    match subscriptions.is_empty() {
        true => send_storm(request.out.as_ref(), count, |_, lines| lines.push_str(CHANGED)),
        false => Ok(()),
    }
}

fn send_storm(out: &dyn MessageSink, count: u64, add: impl Fn(u64, &mut String)) -> io::Result<()> {
    let mut lines = String::new();
    for number in 0..count {
        add(number, &mut lines);
        if lines.len() >= CHUNK {
            out.send_lines(lines.as_bytes())?;
            lines.clear();
        }
    }
    match lines.is_empty() {
        true => Ok(()),
        false => out.send_lines(lines.as_bytes()),
    }
}
