//! The route of a question to the client of a call: a request to the client in the old era, an input request
//! in the result of the call in the new one.

use mcparley_wire::{AgreedProtocol, AskError, INTERNAL, RawJson, Replies, RpcError};
use tokio::sync::{mpsc, oneshot};

use crate::client_abilities::Caller;

/// The maximum number of questions of one call that wait to be sent. Further ones wait for a place.
pub(crate) const QUESTIONS_AT_ONCE: usize = 16;

/// The route of questions to the client of one call. Cheap to clone.
#[derive(Clone)]
pub(crate) enum QuestionRoute {
    /// A request to the client, on the stream of the client's own request (old era).
    Request(Replies),
    /// The answer to the call's request, which the client then repeats with the answers (new era).
    Repeat(mpsc::Sender<ClientQuestion>),
}

/// A question that waits for the client's repeated request.
#[derive(Debug)]
pub(crate) struct ClientQuestion {
    /// The key in the list of input requests; a key that ends with `-` gets a number.
    pub(crate) key: &'static str,
    /// The method of the request.
    pub(crate) method: &'static str,
    /// The parameters of the request.
    pub(crate) params: RawJson,
    /// The channel for the answer.
    pub(crate) reply: oneshot::Sender<RawJson>,
}

impl QuestionRoute {
    /// The route to the client that makes the call, and the questions that it has to come back with, if it
    /// is of the era that has them.
    pub(crate) fn new(caller: Caller, replies: &Replies) -> (Self, Option<mpsc::Receiver<ClientQuestion>>) {
        match caller.spoken {
            AgreedProtocol::New => {
                let (sender, questions) = mpsc::channel(QUESTIONS_AT_ONCE);
                (Self::Repeat(sender), Some(questions))
            }
            AgreedProtocol::Old(_) => (Self::Request(replies.clone()), None),
        }
    }

    /// Sends a question and waits for the client's answer, as long as its user takes.
    ///
    /// # Errors
    /// The client's error, or that the client is gone.
    pub(crate) async fn send_question(
        &self,
        key: &'static str,
        method: &'static str,
        params: RawJson,
    ) -> Result<RawJson, RpcError> {
        let gone = || RpcError::new(INTERNAL, "the client is gone");
        match self {
            Self::Request(replies) => replies.ask(method, params).await.map_err(|error| match error {
                AskError::Refused(error) => error,
                AskError::Gone => gone(),
                _ => RpcError::new(INTERNAL, "the client gave no valid answer"),
            }),
            Self::Repeat(questions) => {
                let (reply, answer) = oneshot::channel();
                let question = ClientQuestion { key, method, params, reply };
                questions.send(question).await.map_err(|_| gone())?;
                answer.await.map_err(|_| gone())
            }
        }
    }

    /// Whether the client comes back with the answers in a repeated request.
    pub(crate) fn is_repeated(&self) -> bool {
        matches!(self, Self::Repeat(_))
    }
}
