//! The HTTP+SSE transport of 2024-11-05: an event stream that names an endpoint and carries the replies.

use super::admission::AcceptedPost;
use super::instead;
use super::request::HttpRequest;
use super::stream::forward_messages;
use super::wire::HttpWire;
use super::{ConnectionNext, TestSite};
use crate::message::ClientMessage;
use crate::raw::RawBytes;
use crate::server::{MessageSink, Request, ServerAnswer};
use mcparley_testkit::Name;
use std::io;
use std::sync::Arc;

/// Serves the event stream (GET).
pub(crate) fn serve_stream(site: &TestSite, wire: &HttpWire, endpoint: &str) -> io::Result<ConnectionNext> {
    site.stats.count_event("get");
    let id = site.sessions.open_session("2024-11-05");
    if endpoint == "no-events" {
        return wire.write_text(200, "nothing to hear here");
    }
    wire.begin_stream(&[])?;
    let origin = match endpoint {
        "no-endpoint" => None,
        "other-origin" => Some(site.other_origin.as_str()),
        "absolute" => Some(site.origin.as_str()),
        _ => Some(""),
    };
    if endpoint == "late" {
        wire.write_chunk(&RawBytes::new(
            ": welcome\n\nevent: ping\ndata: 1\n\nevent: message\ndata: not yet\n\n",
        ))?;
    }
    if let Some(origin) = origin {
        wire.write_chunk(&RawBytes::new(format!(
            "event: endpoint\ndata: {origin}/messages?session={id}\n\n"
        )))?;
    }
    let next = match site.sessions.take_waiting(&id) {
        Some(waiting) => forward_messages(wire, &waiting),
        None => Ok(ConnectionNext::Close),
    };
    site.sessions.end_session(&id);
    next
}

/// Accepts a message (POST); its reply is sent on the stream.
pub(crate) fn accept_message(
    site: &Arc<TestSite>,
    request: &HttpRequest,
    wire: &HttpWire,
) -> io::Result<ConnectionNext> {
    let scope = request.query("session").unwrap_or_default();
    let Some(queue) = site.sessions.queue(scope) else {
        return wire.write_text(404, "Session not found");
    };
    site.record_post(request);
    let Some(message) = ClientMessage::parse(&request.body) else {
        return wire.write_text(400, "Parse error");
    };
    site.stats.count_post(message.method());
    let (Some(method), Some(id)) = (message.method(), message.id()) else {
        site.server.handle_notification(&message, scope);
        return wire.write_empty(202);
    };
    let due = site.server.claim_faults(method);
    let admitted = AcceptedPost { session: Some(scope.to_owned()), greeted: true, modern: false };
    if let Some(next) = instead::fault_for_execution(site, &admitted, due, wire)? {
        return Ok(next);
    }
    // The request is executed after the response, so no further request can be read from this connection.
    wire.write_response(202, &[("Connection", "close")], &RawBytes::default())?;
    if due.has(Name::SseCut) {
        site.sessions.end_session(scope);
        return Ok(ConnectionNext::Close);
    }
    if method == "initialize" {
        site.stats.count_event("initialize");
    }
    let out: Arc<dyn MessageSink> = queue;
    let running = site.server.calls.register_call(scope, id);
    let (message, running) = (&message, &running);
    let answer = site.server.answer_request(&Request {
        message,
        method,
        id,
        due,
        has_handshake: true,
        running,
        out: &out,
    })?;
    if let ServerAnswer::Reply(reply) = answer {
        let body = [reply.ahead.as_slice(), &reply.body.to_vec()?].concat();
        (0..reply.copies).try_for_each(|_| out.send_lines(&body))?;
    }
    Ok(ConnectionNext::Close)
}
