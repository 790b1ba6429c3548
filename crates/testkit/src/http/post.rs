//! Handles a POST: one message of a client, from its headers to its response.

use super::admission::{self, AcceptedPost, RejectedPost};
use super::delivery;
use super::instead;
use super::request::HttpRequest;
use super::stream::PostStream;
use super::wire::HttpWire;
use super::{ConnectionNext, TestSite};
use crate::life::LIFE;
use crate::message::ClientMessage;
use crate::options;
use crate::server::{self, DueFaults, MessageSink, Request, RpcRefusal, ServerAnswer, ServerReply};
use mcparley_testkit::Name;
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// Handles one message.
pub(crate) fn handle_post(
    site: &Arc<TestSite>,
    request: &HttpRequest,
    wire: &Arc<HttpWire>,
) -> io::Result<ConnectionNext> {
    site.record_post(request);
    let message = match parse_post(request) {
        Ok(message) => message,
        Err(refused) => return write_rejection(wire, &refused, None),
    };
    site.stats.count_post(message.method());
    let method = message.method().unwrap_or_default();
    if site.server.scripted_discovery(method).is_some() {
        let admitted = AcceptedPost { session: None, greeted: false, modern: true };
        return PostHandler { site, wire, message: &message, admitted, due: site.server.claim_faults("") }
            .execute();
    }
    let admitted = match admission::validate_post(site, request, &message) {
        Ok(admitted) => admitted,
        Err(refused) => return write_rejection(wire, &refused, message.id()),
    };
    if method == "initialize" {
        site.stats.count_event("initialize");
    }
    let due = site.server.claim_faults(method);
    if let Some(next) = instead::fault_for_execution(site, &admitted, due, wire)? {
        return Ok(next);
    }
    PostHandler { site, wire, message: &message, admitted, due }.execute()
}

fn parse_post(request: &HttpRequest) -> Result<ClientMessage, RejectedPost> {
    let refused = |status, code, text: &str| RejectedPost { status, refusal: RpcRefusal::new(code, text) };
    if !request.lists_media_type("accept", "application/json")
        || !request.lists_media_type("accept", "text/event-stream")
    {
        let text = "Not Acceptable: application/json and text/event-stream must be accepted";
        return Err(refused(406, -32000, text));
    }
    if !request.lists_media_type("content-type", "application/json") {
        return Err(refused(415, -32000, "Unsupported Media Type: the body must be application/json"));
    }
    ClientMessage::parse(&request.body).ok_or_else(|| refused(400, -32700, "Parse error"))
}

fn write_rejection(
    wire: &HttpWire,
    refused: &RejectedPost,
    id: Option<&Value>,
) -> io::Result<ConnectionNext> {
    wire.write_json(refused.status, &[], &refused.refusal.to_message(id))
}

/// An accepted message with its connection.
struct PostHandler<'a> {
    site: &'a Arc<TestSite>,
    wire: &'a Arc<HttpWire>,
    message: &'a ClientMessage,
    admitted: AcceptedPost,
    due: DueFaults<'a>,
}

impl PostHandler<'_> {
    fn execute(&self) -> io::Result<ConnectionNext> {
        let scope = self.admitted.session.as_deref().unwrap_or("new");
        let (Some(method), Some(id)) = (self.message.method(), self.message.id()) else {
            self.site.server.handle_notification(self.message, scope);
            return self.wire.write_empty(202);
        };
        let stream = Arc::new(self.response_stream(method));
        let out: Arc<dyn MessageSink> = Arc::clone(&stream) as Arc<dyn MessageSink>;
        let running = self.site.server.calls.register_call(scope, id);
        let request = Request {
            message: self.message,
            method,
            id,
            due: self.due,
            has_handshake: self.admitted.greeted,
            running: &running,
            out: &out,
        };
        let answer = self.site.server.answer_request(&request)?;
        match answer {
            ServerAnswer::Silence => {
                self.wire.is_closed_within(LIFE);
                self.site.server.subscriptions.remove_connection(&out);
                Ok(ConnectionNext::Close)
            }
            ServerAnswer::Cancelled if stream.has_started() => self.wire.end_stream(),
            ServerAnswer::Cancelled => self.wire.write_empty(202),
            ServerAnswer::Reply(reply) => self.write_reply(&stream, &reply, method),
        }
    }

    fn response_stream(&self, method: &str) -> PostStream {
        let sessions = &self.site.sessions;
        let beside = self.admitted.session.as_deref().and_then(|id| sessions.open_queue(id));
        let answer = match method {
            "subscriptions/listen" => options::AnswerFormat::Sse,
            _ if self.due.has(Name::JsonAfter) => options::AnswerFormat::Json,
            _ => self.site.server.options.answer,
        };
        PostStream::new(self.wire, answer, beside, self.admitted.modern)
    }

    fn write_reply(
        &self,
        stream: &PostStream,
        reply: &ServerReply,
        method: &str,
    ) -> io::Result<ConnectionNext> {
        if let (true, Some(id)) = (self.due.has(Name::ReplyOnGet), self.admitted.session.as_deref()) {
            self.wire.write_empty(202)?;
            if let Some(queue) = self.site.sessions.queue(id) {
                queue.send_lines(&[reply.ahead.as_slice(), &reply.body.to_vec()?].concat())?;
            }
            return Ok(ConnectionNext::Keep);
        }
        if let (true, Some(id)) = (reply.code.is_none(), self.message.id())
            && let Some(next) = delivery::deliver_by_script(self.wire, self.due, id, reply)?
        {
            return Ok(next);
        }
        let session = self.new_session(method, reply);
        let headers: Vec<_> = session.iter().map(|id| ("Mcp-Session-Id", id.as_str())).collect();
        let streams = self.site.server.options.answer == options::AnswerFormat::Sse;
        match self.reply_status(reply) {
            status if status != 200 || !streams && !stream.has_started() => {
                self.wire.write_raw_json(status, &headers, &reply.body)
            }
            _ => {
                stream.start(&headers)?;
                stream.send_lines(&reply.ahead)?;
                (0..reply.copies).try_for_each(|_| stream.write_event(&reply.body))?;
                self.wire.end_stream()
            }
        }
    }

    /// Opens a session after a successful handshake of the old era.
    fn new_session(&self, method: &str, reply: &ServerReply) -> Option<String> {
        let options = &self.site.server.options;
        let opens = method == "initialize" && reply.code.is_none() && !options.scripts.has(Name::NotFound);
        opens.then(|| {
            self.site
                .sessions
                .open_session(server::negotiate_version(options, self.message).unwrap_or_default())
        })
    }

    /// The HTTP status of a reply: errors of the new era have their own.
    fn reply_status(&self, reply: &ServerReply) -> u16 {
        let lies = self.message.method().and_then(|method| self.site.server.scripted_discovery(method));
        match reply.code {
            Some(_) if lies.is_some() && self.site.server.options.answer == options::AnswerFormat::Sse => 200,
            Some(-32601) if self.admitted.modern => 404,
            Some(-32600 | -32602 | -32020 | -32021 | -32022) if self.admitted.modern => 400,
            Some(_) | None => 200,
        }
    }
}
