//! Asks the user of a client about one of the client's calls.
//!
//! Every question, permissions included, is sent as an elicitation: clients have no other way to ask the
//! user. For a client without elicitation the question is denied, and its model gets a reason that says how
//! to allow the call.

use mcparley::elicit::{Elicitation, ElicitationReply, ElicitationRequest, Elicitor};
use mcparley::{Approver, BoxedFuture, PermissionAnswer, PermissionQuestion};
use mcparley_wire::{AgreedProtocol, RawJson, Replies};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::client_abilities::{Caller, ClientAbilities};
use crate::question;

/// The connection to the user behind one call.
pub(crate) struct ClientAsker {
    can: ClientAbilities,
    route: QuestionRoute,
}

/// The route of a question to the client.
enum QuestionRoute {
    /// A request to the client, on the stream of the client's own request (old era).
    Request(Replies),
    /// The answer to the call's request, which the client then repeats with the user's answer (new era).
    Repeat(mpsc::Sender<ClientQuestion>),
}

/// A question that waits for the client's repeated request.
#[derive(Debug)]
pub(crate) struct ClientQuestion {
    /// The parameters of the elicitation.
    pub(crate) params: Value,
    /// The channel for the answer.
    pub(crate) reply: oneshot::Sender<RawJson>,
}

/// The client's answer to an elicitation.
#[derive(Deserialize)]
struct ElicitationAnswer {
    action: String,
    #[serde(default)]
    content: Option<Value>,
}

impl ClientAsker {
    pub(crate) fn new(caller: Caller, replies: &Replies, questions: mpsc::Sender<ClientQuestion>) -> Self {
        let route = match caller.spoken {
            AgreedProtocol::New => QuestionRoute::Repeat(questions),
            AgreedProtocol::Old(_) => QuestionRoute::Request(replies.clone()),
        };
        Self { can: caller.abilities, route }
    }

    /// Sends an elicitation and waits as long as the user takes. An invalid answer counts as canceled.
    async fn send_elicitation(&self, params: Value) -> ElicitationReply {
        let answer = match &self.route {
            QuestionRoute::Request(replies) => {
                let Ok(params) = RawJson::from_value(&params) else { return ElicitationReply::Cancel };
                replies.ask("elicitation/create", params).await.ok()
            }
            QuestionRoute::Repeat(questions) => {
                let (reply, answer) = oneshot::channel();
                match questions.send(ClientQuestion { params, reply }).await {
                    Ok(()) => answer.await.ok(),
                    Err(_) => None,
                }
            }
        };
        match answer.and_then(|answer| answer.decode::<ElicitationAnswer>().ok()) {
            Some(ElicitationAnswer { action, content }) => match action.as_str() {
                "accept" => {
                    ElicitationReply::Accept(content.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
                }
                "decline" => ElicitationReply::Decline,
                _ => ElicitationReply::Cancel,
            },
            None => ElicitationReply::Cancel,
        }
    }
}

impl Approver for ClientAsker {
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        Box::pin(async move {
            if !self.can.form {
                let why = &question.decision.why;
                return PermissionAnswer::Deny(format!(
                    "it needs the user's permission ({why}), and this client cannot ask for it"
                ));
            }
            match self.send_elicitation(question::permission_params(&question)).await {
                ElicitationReply::Accept(content) => question::parse_permission_answer(&content),
                // A client may decline by itself without asking the user; the two cases cannot be
                // distinguished.
                ElicitationReply::Decline => PermissionAnswer::Deny("the client declined".to_owned()),
                ElicitationReply::Cancel => {
                    PermissionAnswer::Deny("the client declined to answer the question".to_owned())
                }
            }
        })
    }

    fn is_person(&self) -> bool {
        self.can.form
    }
}

impl Elicitor for ClientAsker {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(async move {
            let is_possible = match question.request {
                ElicitationRequest::Form(_) => self.can.form,
                ElicitationRequest::Page(_) => self.can.url,
            };
            match question::elicitation_params(&question, matches!(self.route, QuestionRoute::Request(_))) {
                Some(params) if is_possible => self.send_elicitation(params).await,
                Some(_) | None => ElicitationReply::Decline,
            }
        })
    }
}
