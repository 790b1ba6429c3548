//! Asks the person behind a client, about one call of it (G3).
//!
//! What is asked is an elicitation, whatever it is about: clients have no other way to ask a person. One that has none
//! gets a no, and its model a reason that says how to allow it.

use mcparley::elicit::{Ask, Elicitation, Elicitor, Reply};
use mcparley::{Answer, Approver, Boxed, Question};
use mcparley_wire::peer::{CallOptions, Peer};
use mcparley_wire::{RawJson, Spoken};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::caller::{Caller, Can};
use crate::question;

/// The way to the person behind one call.
pub(crate) struct Asker {
    can: Can,
    line: Line,
}

/// How a question reaches the client.
enum Line {
    /// By a request of ours (old era).
    Request(Peer),
    /// By the answer to the call's request, which the client then repeats (new era).
    Repeat(mpsc::Sender<Open>),
    /// Not at all.
    Nobody,
}

/// A question that a client has to come back with.
#[derive(Debug)]
pub(crate) struct Open {
    /// The parameters of the elicitation.
    pub(crate) params: Value,
    /// Where the answer goes.
    pub(crate) reply: oneshot::Sender<RawJson>,
}

/// What comes back.
#[derive(Deserialize)]
struct Answered {
    action: String,
    #[serde(default)]
    content: Option<Value>,
}

impl Asker {
    pub(crate) fn new(caller: Caller, peer: Option<Peer>, questions: mpsc::Sender<Open>) -> Self {
        let line = match (caller.spoken, peer) {
            (Spoken::New, _) => Line::Repeat(questions),
            (Spoken::Old(_), Some(peer)) => Line::Request(peer),
            (Spoken::Old(_), None) => Line::Nobody,
        };
        Self { can: caller.can, line }
    }

    /// Asks, and waits for as long as the person takes. Whatever is no answer counts as put aside.
    async fn elicit(&self, params: Value) -> Reply {
        let answer = match &self.line {
            Line::Request(peer) => {
                let Ok(params) = RawJson::of(&params) else { return Reply::Cancel };
                peer.call("elicitation/create", Some(&params), CallOptions::default()).await.ok()
            }
            Line::Repeat(questions) => {
                let (reply, answer) = oneshot::channel();
                match questions.send(Open { params, reply }).await {
                    Ok(()) => answer.await.ok(),
                    Err(_) => None,
                }
            }
            Line::Nobody => None,
        };
        match answer.and_then(|answer| answer.decode::<Answered>().ok()) {
            Some(Answered { action, content }) => match action.as_str() {
                "accept" => Reply::Accept(content.unwrap_or_else(|| Value::Object(serde_json::Map::new()))),
                "decline" => Reply::Decline,
                _ => Reply::Cancel,
            },
            None => Reply::Cancel,
        }
    }
}

impl Approver for Asker {
    fn ask<'q>(&'q self, question: Question<'q>) -> Boxed<'q, Answer> {
        Box::pin(async move {
            if !self.can.form {
                let why = &question.decision.why;
                return Answer::Deny(format!(
                    "it needs a person's permission ({why}), and this client cannot ask for it"
                ));
            }
            match self.elicit(question::permission(&question)).await {
                Reply::Accept(content) => question::answer(&content),
                // Whether a person did, or a client without one did for itself, cannot be told.
                Reply::Decline => Answer::Deny("the client declined".to_owned()),
                Reply::Cancel => Answer::Deny("the client declined to answer the question".to_owned()),
            }
        })
    }

    fn is_person(&self) -> bool {
        self.can.form
    }
}

impl Elicitor for Asker {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> Boxed<'q, Reply> {
        Box::pin(async move {
            let is_possible = match question.ask {
                Ask::Form(_) => self.can.form,
                Ask::Page(_) => self.can.url,
                _ => false,
            };
            match question::elicitation(&question, matches!(self.line, Line::Request(_))) {
                Some(params) if is_possible => self.elicit(params).await,
                Some(_) | None => Reply::Decline,
            }
        })
    }
}
