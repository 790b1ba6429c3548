//! POST: one message of a client, from its headers to its answer.

use super::admission::{self, Admitted, Refused};
use super::delivery;
use super::instead;
use super::request::HttpRequest;
use super::stream::PostStream;
use super::wire::Wire;
use super::{Next, Site};
use crate::life::LIFE;
use crate::message::Message;
use crate::options;
use crate::server::{self, Answer, Due, Out, Refusal, Reply, Request};
use mcparley_testkit::Name;
use serde_json::Value;
use std::io;
use std::sync::Arc;

/// Takes one message.
pub(crate) fn take(site: &Arc<Site>, request: &HttpRequest, wire: &Arc<Wire>) -> io::Result<Next> {
    let message = match read(request) {
        Ok(message) => message,
        Err(refused) => return refuse(wire, &refused, None),
    };
    site.stats.post(message.method());
    let method = message.method().unwrap_or_default();
    if site.server.discovered_otherwise(method).is_some() {
        let admitted = Admitted { session: None, greeted: false, modern: true };
        return Post { site, wire, message: &message, admitted, due: site.server.due("") }.work();
    }
    let admitted = match admission::judge(site, request, &message) {
        Ok(admitted) => admitted,
        Err(refused) => return refuse(wire, &refused, message.id()),
    };
    if method == "initialize" {
        site.stats.count("initialize");
    }
    let due = site.server.due(method);
    if let Some(next) = instead::of_work(site, &admitted, due, wire)? {
        return Ok(next);
    }
    Post { site, wire, message: &message, admitted, due }.work()
}

fn read(request: &HttpRequest) -> Result<Message, Refused> {
    let refused = |status, code, text: &str| Refused { status, refusal: Refusal::new(code, text) };
    if !request.lists("accept", "application/json") || !request.lists("accept", "text/event-stream") {
        let text = "Not Acceptable: application/json and text/event-stream must be accepted";
        return Err(refused(406, -32000, text));
    }
    if !request.lists("content-type", "application/json") {
        return Err(refused(415, -32000, "Unsupported Media Type: the body must be application/json"));
    }
    Message::read(&request.body).ok_or_else(|| refused(400, -32700, "Parse error"))
}

fn refuse(wire: &Wire, refused: &Refused, id: Option<&Value>) -> io::Result<Next> {
    wire.json(refused.status, &[], &refused.refusal.to_message(id))
}

/// A message that is worked on.
struct Post<'a> {
    site: &'a Arc<Site>,
    wire: &'a Arc<Wire>,
    message: &'a Message,
    admitted: Admitted,
    due: Due<'a>,
}

impl Post<'_> {
    fn work(&self) -> io::Result<Next> {
        let scope = self.admitted.session.as_deref().unwrap_or("new");
        let (Some(method), Some(id)) = (self.message.method(), self.message.id()) else {
            self.site.server.notice(self.message, scope);
            return self.wire.empty(202);
        };
        let stream = Arc::new(self.stream(method));
        let out: Arc<dyn Out> = Arc::clone(&stream) as Arc<dyn Out>;
        let running = self.site.server.calls.begin(scope, id);
        let request = Request {
            message: self.message,
            method,
            id,
            due: self.due,
            greeted: self.admitted.greeted,
            running: &running,
            out: &out,
        };
        let answer = self.site.server.answer(&request)?;
        match answer {
            Answer::Silence => {
                self.wire.is_gone_within(LIFE);
                self.site.server.subscriptions.forget_stream(&out);
                Ok(Next::Close)
            }
            Answer::Cancelled if stream.has_begun() => self.wire.end_stream(),
            Answer::Cancelled => self.wire.empty(202),
            Answer::Reply(reply) => self.reply(&stream, &reply, method),
        }
    }

    fn stream(&self, method: &str) -> PostStream {
        let sessions = &self.site.sessions;
        let beside = self.admitted.session.as_deref().and_then(|id| sessions.open_queue(id));
        let answer = match method {
            "subscriptions/listen" => options::Answer::Sse,
            _ if self.due.has(Name::JsonAfter) => options::Answer::Json,
            _ => self.site.server.options.answer,
        };
        PostStream::new(self.wire, answer, beside, self.admitted.modern)
    }

    fn reply(&self, stream: &PostStream, reply: &Reply, method: &str) -> io::Result<Next> {
        if let (true, Some(id)) = (self.due.has(Name::ReplyOnGet), self.admitted.session.as_deref()) {
            self.wire.empty(202)?;
            if let Some(queue) = self.site.sessions.queue(id) {
                queue.send(&[reply.ahead.as_slice(), &reply.body.to_vec()?].concat())?;
            }
            return Ok(Next::Keep);
        }
        if let (true, Some(id)) = (reply.code.is_none(), self.message.id())
            && let Some(next) = delivery::by_script(self.wire, self.due, id, reply)?
        {
            return Ok(next);
        }
        let session = self.new_session(method, reply);
        let headers: Vec<_> = session.iter().map(|id| ("Mcp-Session-Id", id.as_str())).collect();
        let streams = self.site.server.options.answer == options::Answer::Sse;
        match self.status(reply) {
            status if status != 200 || !streams && !stream.has_begun() => {
                self.wire.raw_json(status, &headers, &reply.body)
            }
            _ => {
                stream.begin(&headers)?;
                stream.send(&reply.ahead)?;
                (0..reply.copies).try_for_each(|_| stream.event(&reply.body))?;
                self.wire.end_stream()
            }
        }
    }

    /// An agreed greeting of the old era opens a session.
    fn new_session(&self, method: &str, reply: &Reply) -> Option<String> {
        let options = &self.site.server.options;
        let opens = method == "initialize" && reply.code.is_none() && !options.scripts.has(Name::NotFound);
        opens.then(|| self.site.sessions.open(server::agreed(options, self.message).unwrap_or_default()))
    }

    /// Errors of the new era have a status of their own.
    fn status(&self, reply: &Reply) -> u16 {
        let lies = self.message.method().and_then(|method| self.site.server.discovered_otherwise(method));
        match reply.code {
            Some(_) if lies.is_some() && self.site.server.options.answer == options::Answer::Sse => 200,
            Some(-32601) if self.admitted.modern => 404,
            Some(-32600 | -32602 | -32020 | -32021 | -32022) if self.admitted.modern => 400,
            Some(_) | None => 200,
        }
    }
}
