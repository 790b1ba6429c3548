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
    /// The list, and the call that the questions belong to; `None` if the questions are not listed.
    list: Option<(Arc<QuestionRegistry>, Arc<QuestionSource>)>,
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
        Self { route, list: Some((Arc::clone(pending), source)) }
    }

    /// A route whose questions only the client answers.
    pub(crate) fn without_list(route: QuestionRoute) -> Self {
        Self { route, list: None }
    }

    /// Whether the client comes back with the answers in a repeated request.
    pub(crate) fn is_repeated(&self) -> bool {
        self.route.is_repeated()
    }

    /// The time of the last answer from another terminal.
    pub(crate) fn last_answer(&self) -> Option<Instant> {
        self.list.as_ref().and_then(|(_, source)| source.last_answer())
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
        let details = self.list.as_ref().and_then(|_| QuestionDetails::from_request(method, &params));
        let Some(details) = details else { return self.route.send_question(key, method, params).await };
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
        let Some((pending, source)) = &self.list else { return QuestionAnswer::Client(asking.await) };
        let mut listed = pending.list_question(source, server, details);
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
