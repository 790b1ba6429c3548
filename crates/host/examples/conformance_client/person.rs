//! Answers what servers ask a person: yes, with what they suggest.

use mcparley::elicit::{Ask, Elicitation, Form, Reply};
use mcparley::{Boxed, Elicitor};
use serde_json::{Value, json};

use crate::sample;

/// Accepts everything. Pages are not visited: nobody is there to visit them.
pub(crate) struct Agreeable;

impl Elicitor for Agreeable {
    fn ask<'q>(&'q self, question: Elicitation<'q>) -> Boxed<'q, Reply> {
        let content = match question.ask {
            Ask::Form(form) => filled(form),
            _ => json!({}),
        };
        Box::pin(std::future::ready(Reply::Accept(content)))
    }

    fn done<'q>(&'q self, _page: &'q mcparley::elicit::Page) -> Boxed<'q, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The defaults; where these are not enough, what the schema lets one make up.
fn filled(form: &Form) -> Value {
    let defaults = form.defaults();
    match form.check(&defaults) {
        Ok(()) => defaults,
        Err(_) => sample::arguments(&form.schema().decode().unwrap_or_default()),
    }
}
