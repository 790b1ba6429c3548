//! Asks questions at the client of a call, and lists them meanwhile, so that they can be answered from another
//! terminal.

use std::sync::Arc;

use mcparley::model::name::ServerName;
use mcparley_wire::{RawJson, RpcError};
use tokio::time::Instant;

use super::QuestionRegistry;
use super::answer::TerminalAnswer;
use super::question::{QuestionDetails, QuestionSource};
use crate::question_route::QuestionRoute;

/// A route to the client whose questions are listed. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ListedRoute {
    route: QuestionRoute,
    /// The list of questions.
    pending: Arc<QuestionRegistry>,
    /// The call that the questions belong to.
    source: Arc<QuestionSource>,
}

/// The first answer to a question.
pub(crate) enum QuestionAnswer {
    /// The client's answer or error.
    Client(Result<RawJson, RpcError>),
    /// The answer from another terminal.
    Terminal(TerminalAnswer),
}

impl ListedRoute {
    /// A route whose questions are listed as those of a call.
    pub(crate) fn new(
        route: QuestionRoute,
        pending: &Arc<QuestionRegistry>,
        source: Arc<QuestionSource>,
    ) -> Self {
        Self { route, pending: Arc::clone(pending), source }
    }

    /// Whether the client comes back with the answers in a repeated request.
    pub(crate) fn is_repeated(&self) -> bool {
        self.route.is_repeated()
    }

    /// The time of the last answer from another terminal.
    pub(crate) fn last_answer(&self) -> Option<Instant> {
        self.source.last_answer()
    }

    /// Sends a request of a server, and waits for the first answer, as long as it takes.
    ///
    /// # Errors
    /// The client's error, or that the client is gone.
    pub(crate) async fn send_question(
        &self,
        server: &ServerName,
        (key, method): (&'static str, &'static str),
        params: RawJson,
    ) -> Result<RawJson, RpcError> {
        let Some(details) = QuestionDetails::from_request(method, &params) else {
            return self.route.send_question(key, method, params).await;
        };
        let kind = details.kind();
        let server = Some(server.as_str().to_owned());
        match self.ask_question((server, details), (key, method), params).await {
            QuestionAnswer::Client(answer) => answer,
            QuestionAnswer::Terminal(answer) => answer.into_result(kind),
        }
    }

    /// Asks a question about a call at a server, and waits for the first answer, as long as it takes. An answer
    /// from a terminal withdraws the question at the client.
    pub(crate) async fn ask_question(
        &self,
        (server, details): (Option<String>, QuestionDetails),
        (key, method): (&'static str, &'static str),
        params: RawJson,
    ) -> QuestionAnswer {
        let asking = self.route.send_question(key, method, params);
        let mut listed = self.pending.list_question(&self.source, server, details);
        tokio::select! {
            biased;
            Ok(answer) = &mut listed.answer => QuestionAnswer::Terminal(answer),
            answer = asking => match listed.claim_question() {
                Some(earlier) => QuestionAnswer::Terminal(earlier),
                None => QuestionAnswer::Client(answer),
            },
        }
    }
}
