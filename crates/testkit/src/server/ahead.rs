//! What a lying server sends before its reply: floods and storms of notifications.

use super::{Due, Out, Request, Server, lists};
use mcparley_testkit::Name;
use serde_json::json;
use std::io;

/// Storms go out in writes of about this size.
const CHUNK: usize = 64 * 1024;

const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// The flood that goes out in one write with the reply.
pub(crate) fn flood(due: Due<'_>) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"#;
    let mut lines = String::new();
    for number in 0..due.number(Name::Flood).unwrap_or(0) {
        lines.extend([head, &number.to_string(), "}}\n"]);
    }
    lines.into_bytes()
}

/// Sends the storms that were asked for.
pub(crate) fn storms(server: &Server, request: &Request<'_>) -> io::Result<()> {
    if request.due.has(Name::Watched) && !server.subscriptions.tell_updated(lists::NOTE)? {
        let params = json!({ "uri": lists::NOTE });
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params });
        request.out.send(format!("{told}\n").as_bytes())?;
    }
    if let Some(count) = request.due.number(Name::ListChangedStorm) {
        changes(server, request, count)?;
    }
    if let Some(count) = request.due.number(Name::ProgressStorm) {
        let standard = json!("storm");
        let token = request.message.progress_token().unwrap_or(&standard);
        let head = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":"#
        );
        storm(request.out.as_ref(), count, |number, lines| {
            lines.extend([head.as_str(), &(number + 1).to_string(), "}}\n"]);
        })?;
    }
    Ok(())
}

/// In the new era on the streams that asked for it, if there are any.
fn changes(server: &Server, request: &Request<'_>, count: u64) -> io::Result<()> {
    let subscriptions = server.subscriptions.for_tools();
    for subscription in &subscriptions {
        let line = subscription.tools_changed();
        storm(subscription.out().as_ref(), count, |_, lines| lines.push_str(&line))?;
    }
    match subscriptions.is_empty() {
        true => storm(request.out.as_ref(), count, |_, lines| lines.push_str(CHANGED)),
        false => Ok(()),
    }
}

fn storm(out: &dyn Out, count: u64, add: impl Fn(u64, &mut String)) -> io::Result<()> {
    let mut lines = String::new();
    for number in 0..count {
        add(number, &mut lines);
        if lines.len() >= CHUNK {
            out.send(lines.as_bytes())?;
            lines.clear();
        }
    }
    match lines.is_empty() {
        true => Ok(()),
        false => out.send(lines.as_bytes()),
    }
}
