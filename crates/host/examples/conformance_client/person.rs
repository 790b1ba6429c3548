//! Answers elicitations of servers: accepts, with the suggested values.

use mcparley::elicit::{Elicitation, ElicitationForm, ElicitationReply, ElicitationRequest};
use mcparley::{BoxedFuture, Elicitor};
use serde_json::{Value, json};

use crate::sample;

/// Accepts every question. Pages are not visited: there is no browser.
pub(crate) struct Agreeable;

impl Elicitor for Agreeable {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
        let content = match question.request {
            ElicitationRequest::Form(form) => filled(form),
            _ => json!({}),
        };
        Box::pin(std::future::ready(ElicitationReply::Accept(content)))
    }

    fn wait_for_visit<'q>(&'q self, _page: &'q mcparley::elicit::ElicitationPage) -> BoxedFuture<'q, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The default values; for other required fields, sample values that match the schema.
fn filled(form: &ElicitationForm) -> Value {
    let defaults = form.defaults();
    match form.check_content(&defaults) {
        Ok(()) => defaults,
        Err(_) => sample::arguments(&form.schema().decode().unwrap_or_default()),
    }
}
