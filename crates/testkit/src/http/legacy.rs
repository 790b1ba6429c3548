//! The transport of 2024-11-05: a stream that names an endpoint, and replies on the stream.

use super::admission::Admitted;
use super::instead;
use super::request::HttpRequest;
use super::stream::forward;
use super::wire::Wire;
use super::{Next, Site};
use crate::message::Message;
use crate::raw::Raw;
use crate::server::{Answer, Out, Request};
use mcparley_testkit::Name;
use std::io;
use std::sync::Arc;

/// GET: the stream.
pub(crate) fn stream(site: &Site, wire: &Wire, endpoint: &str) -> io::Result<Next> {
    site.stats.count("get");
    let id = site.sessions.open("2024-11-05");
    if endpoint == "no-events" {
        return wire.refuse(200, "nothing to hear here");
    }
    wire.begin_stream(&[])?;
    let origin = match endpoint {
        "no-endpoint" => None,
        "other-origin" => Some(site.other_origin.as_str()),
        "absolute" => Some(site.origin.as_str()),
        _ => Some(""),
    };
    if endpoint == "late" {
        wire.chunk(&Raw::new(": welcome\n\nevent: ping\ndata: 1\n\nevent: message\ndata: not yet\n\n"))?;
    }
    if let Some(origin) = origin {
        wire.chunk(&Raw::new(format!("event: endpoint\ndata: {origin}/messages?session={id}\n\n")))?;
    }
    let next = match site.sessions.take_waiting(&id) {
        Some(waiting) => forward(wire, &waiting),
        None => Ok(Next::Close),
    };
    site.sessions.end(&id);
    next
}

/// POST: a message; its reply comes on the stream.
pub(crate) fn message(site: &Arc<Site>, request: &HttpRequest, wire: &Wire) -> io::Result<Next> {
    let scope = request.query("session").unwrap_or_default();
    let Some(queue) = site.sessions.queue(scope) else {
        return wire.refuse(404, "Session not found");
    };
    let Some(message) = Message::read(&request.body) else {
        return wire.refuse(400, "Parse error");
    };
    site.stats.post(message.method());
    let (Some(method), Some(id)) = (message.method(), message.id()) else {
        site.server.notice(&message, scope);
        return wire.empty(202);
    };
    let due = site.server.due(method);
    let admitted = Admitted { session: Some(scope.to_owned()), greeted: true, modern: false };
    if let Some(next) = instead::of_work(site, &admitted, due, wire)? {
        return Ok(next);
    }
    // The work is done behind the answer, and nothing more is read from this connection meanwhile.
    wire.whole(202, &[("Connection", "close")], &Raw::default())?;
    if due.has(Name::SseCut) {
        site.sessions.end(scope);
        return Ok(Next::Close);
    }
    if method == "initialize" {
        site.stats.count("initialize");
    }
    let out: Arc<dyn Out> = queue;
    let running = site.server.calls.begin(scope, id);
    let (message, running) = (&message, &running);
    let answer =
        site.server.answer(&Request { message, method, id, due, greeted: true, running, out: &out })?;
    if let Answer::Reply(reply) = answer {
        let body = [reply.ahead.as_slice(), &reply.body.to_vec()?].concat();
        (0..reply.copies).try_for_each(|_| out.send(&body))?;
    }
    Ok(Next::Close)
}
