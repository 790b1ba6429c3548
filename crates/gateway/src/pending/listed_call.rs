//! A call with questions that are only listed: its caller reads the list of open questions and answers them
//! there, as a web page does.

use std::sync::{Arc, Mutex};

use mcparley::elicit::{Elicitation, ElicitationReply, Elicitor};
use mcparley::model::text::clean_json;
use mcparley::permission::PermissionSummary;
use mcparley::pool::principal::{Principal, PrincipalId};
use mcparley::pool::sample::{Sampler, SamplingRefusal, SamplingRequest, SamplingResult};
use mcparley::{Approver, BoxedFuture, CallContext, PermissionAnswer, PermissionQuestion};
use mcparley_wire::RawJson;
use serde_json::{Map, Value};

use super::QuestionRegistry;
use super::answer::TerminalAnswer;
use super::question::{QuestionDetails, QuestionSource};
use crate::question;

/// A call of a caller that answers questions from the list of open questions.
#[derive(Clone, Debug)]
pub struct ListedCall {
    /// The id of the caller, unique in the process, such as `ui:1`.
    pub principal: String,
    /// The name of the caller, for people.
    pub client: String,
    /// The tool that is called.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: RawJson,
}

/// Asks the questions of one call by listing them.
#[derive(Debug)]
struct ListedAsker {
    pending: Arc<QuestionRegistry>,
    source: Arc<QuestionSource>,
}

impl ListedCall {
    /// The context of the call; its questions go to this list.
    pub(crate) fn into_context(self, pending: &Arc<QuestionRegistry>) -> CallContext {
        let Self { principal, client, tool, arguments } = self;
        let principal = Arc::new(Principal::new(PrincipalId::new(&principal)));
        let source = QuestionSource {
            tool,
            principal: Arc::clone(&principal),
            client: Some(Arc::from(client)),
            arguments,
            answered: Mutex::default(),
        };
        let asker = Arc::new(ListedAsker { pending: Arc::clone(pending), source: Arc::new(source) });
        let (approver, elicitor) = (Arc::clone(&asker), Arc::clone(&asker));
        CallContext::new(principal, approver, elicitor).with_sampler(asker)
    }
}

impl ListedAsker {
    /// Lists a question and waits for its answer, as long as it takes. Dropping the future withdraws it.
    async fn wait_for_answer(
        &self,
        server: Option<String>,
        details: QuestionDetails,
    ) -> Option<TerminalAnswer> {
        let mut listed = self.pending.list_question(&self.source, server, details);
        (&mut listed.answer).await.ok()
    }
}

impl Approver for ListedAsker {
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        Box::pin(async move {
            let summary = PermissionSummary::from(&question);
            let server = summary.server.clone();
            let answer = self.wait_for_answer(server, QuestionDetails::Permission(Box::new(summary))).await;
            answer.unwrap_or(TerminalAnswer::Cancel).into_permission()
        })
    }
}

impl Elicitor for ListedAsker {
    fn ask<'q>(&'q self, elicitation: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(async move {
            let params = question::elicitation_params(&elicitation, true);
            let params = params.and_then(|params| RawJson::from_value(&params).ok());
            let details =
                params.and_then(|params| QuestionDetails::from_request("elicitation/create", &params));
            let Some(details) = details else { return ElicitationReply::Decline };
            let server = Some(elicitation.server.as_str().to_owned());
            match self.wait_for_answer(server, details).await {
                Some(TerminalAnswer::Accept { content }) => {
                    ElicitationReply::Accept(content.unwrap_or_else(|| Value::Object(Map::new())))
                }
                Some(TerminalAnswer::Decline) => ElicitationReply::Decline,
                // Other answers do not fit a form or a page, so they are never taken.
                Some(_) | None => ElicitationReply::Cancel,
            }
        })
    }
}

impl Sampler for ListedAsker {
    fn sample<'s>(
        &'s self,
        request: &'s SamplingRequest,
    ) -> BoxedFuture<'s, Result<SamplingResult, SamplingRefusal>> {
        Box::pin(async move {
            let params: Value = serde_json::from_str(&clean_json(request.raw.as_str())).unwrap_or_default();
            let server = Some(request.server.as_str().to_owned());
            match self.wait_for_answer(server, QuestionDetails::Sampling(params)).await {
                Some(TerminalAnswer::Accept { content: Some(result) }) => parse_result(&result),
                Some(_) | None => Err(SamplingRefusal::Declined),
            }
        })
    }
}

/// Parses the result of a sampling request in the form of the protocol.
fn parse_result(result: &Value) -> Result<SamplingResult, SamplingRefusal> {
    let text = |member: &str| result.get(member).and_then(Value::as_str).map(str::to_owned);
    let content = match result.get("content") {
        Some(Value::Array(blocks)) => blocks.clone(),
        Some(block @ Value::Object(_)) => vec![block.clone()],
        Some(_) | None => {
            return Err(SamplingRefusal::Failed { reason: "the result has no content".to_owned() });
        }
    };
    let model = text("model").unwrap_or_else(|| "a person".to_owned());
    Ok(SamplingResult { model, content, stop_reason: text("stopReason") })
}
