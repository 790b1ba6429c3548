//! Asks the user of a client about one of the client's calls.
//!
//! Permissions, too, are asked by an elicitation: clients have no other way to ask the user. For a client
//! without elicitation the question is denied, and its model gets a reason that says how to allow the call.

use mcparley::auth::BrowserPage;
use mcparley::call::PageOpener;
use mcparley::elicit::{Elicitation, ElicitationReply, ElicitationRequest, Elicitor};
use mcparley::model::name::ServerName;
use mcparley::permission::PermissionSummary;
use mcparley::{Approver, BoxedFuture, PermissionAnswer, PermissionQuestion};
use mcparley_wire::{RawJson, RpcError};
use serde::Deserialize;
use serde_json::Value;

use crate::client_abilities::{Caller, ClientAbilities};
use crate::pending::QuestionDetails;
use crate::pending::listed_route::{ListedRoute, QuestionAnswer};
use crate::question;

/// The connection to the user behind one call.
pub(crate) struct ClientAsker {
    can: ClientAbilities,
    route: ListedRoute,
}

/// The client's answer to an elicitation.
#[derive(Deserialize)]
struct ElicitationAnswer {
    action: String,
    #[serde(default)]
    content: Option<Value>,
}

impl ClientAsker {
    pub(crate) fn new(caller: Caller, route: ListedRoute) -> Self {
        Self { can: caller.abilities, route }
    }

    /// Sends an elicitation and waits as long as the user takes. An invalid answer counts as canceled.
    async fn send_elicitation(
        &self,
        server: &ServerName,
        key: &'static str,
        params: Value,
    ) -> ElicitationReply {
        let Ok(params) = RawJson::from_value(&params) else { return ElicitationReply::Cancel };
        parse_reply(self.route.send_question(server, (key, "elicitation/create"), params).await)
    }

    /// Asks for permission; `None` if the question cannot be sent.
    async fn send_permission_question(&self, question: &PermissionQuestion<'_>) -> Option<QuestionAnswer> {
        let params = RawJson::from_value(&question::permission_params(question)).ok()?;
        let summary = PermissionSummary::from(question);
        let about = (summary.server.clone(), QuestionDetails::Permission(Box::new(summary)));
        Some(self.route.ask_question(about, ("mcparley-permission", "elicitation/create"), params).await)
    }
}

/// Parses the client's answer to an elicitation. An invalid one counts as canceled.
fn parse_reply(answer: Result<RawJson, RpcError>) -> ElicitationReply {
    match answer.ok().and_then(|answer| answer.decode::<ElicitationAnswer>().ok()) {
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

impl Approver for ClientAsker {
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        Box::pin(async move {
            if !self.can.form {
                let why = &question.decision.why;
                return PermissionAnswer::Deny(format!(
                    "it needs the user's permission ({why}), and this client cannot ask for it"
                ));
            }
            let reply = match self.send_permission_question(&question).await {
                Some(QuestionAnswer::Terminal(answer)) => return answer.into_permission(),
                Some(QuestionAnswer::Client(answer)) => parse_reply(answer),
                None => ElicitationReply::Cancel,
            };
            match reply {
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

/// Asks to open the page of a sign-in. The page is shown when the user has agreed to open it.
impl PageOpener for ClientAsker {
    fn open_page<'p>(&'p self, server: &'p ServerName, page: &'p BrowserPage) -> BoxedFuture<'p, bool> {
        Box::pin(async move {
            if !self.can.url {
                return false;
            }
            let params = question::sign_in_params(server, page, !self.route.is_repeated());
            let reply = self.send_elicitation(server, "mcparley-sign-in", params).await;
            matches!(reply, ElicitationReply::Accept(_))
        })
    }
}

/// Asks for visits of pages that a call needs before it can be answered. All other requests of servers are
/// relayed by `call_line`.
impl Elicitor for ClientAsker {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        Box::pin(async move {
            let (is_possible, key) = match question.request {
                ElicitationRequest::Form(_) => (self.can.form, "elicitation-"),
                ElicitationRequest::Page(_) => (self.can.url, "page-"),
            };
            match question::elicitation_params(&question, !self.route.is_repeated()) {
                Some(params) if is_possible => self.send_elicitation(question.server, key, params).await,
                Some(_) | None => ElicitationReply::Decline,
            }
        })
    }
}
