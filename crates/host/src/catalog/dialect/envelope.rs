//! What stands around the schema of a tool in a request, for each API.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::Dialect;
use super::rewrite::{Parameters, Rewritten};
use crate::catalog::Entry;

/// A tool that is listed.
pub(super) struct Shown<'e> {
    pub(super) name: String,
    pub(super) entry: &'e Entry,
    pub(super) rewritten: Arc<Rewritten>,
}

/// The value of `tools` in a request.
pub(super) fn written(dialect: Dialect, shown: &[Shown<'_>]) -> serde_json::Result<Box<RawValue>> {
    match dialect {
        Dialect::Anthropic => list(shown, Anthropic::of),
        Dialect::OpenAi => list(shown, Typed::of),
        Dialect::OpenAiChat => list(shown, |shown| Nested { kind: FUNCTION, function: Function::of(shown) }),
        // A tool without functions is refused.
        Dialect::Gemini if shown.is_empty() => to_raw_value(&[(); 0]),
        Dialect::Gemini => {
            let function_declarations = shown.iter().map(Declaration::of).collect();
            to_raw_value(&[Declarations { function_declarations }])
        }
    }
}

fn list<'s, T: Serialize>(
    shown: &'s [Shown<'s>],
    one: impl Fn(&'s Shown<'s>) -> T,
) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(&shown.iter().map(one).collect::<Vec<T>>())
}

impl Shown<'_> {
    fn schema(&self) -> Option<&RawValue> {
        match &self.rewritten.parameters {
            Parameters::Own => Some(&self.entry.tool.input_schema),
            Parameters::Other(schema) => Some(schema),
            Parameters::None => None,
        }
    }

    /// What it does; its title or name if nothing is said, for an API that must be told something.
    fn described(&self) -> &str {
        let title = self.entry.tool.title.as_deref().filter(|title| !title.is_empty());
        match self.rewritten.description.as_str() {
            "" => title.unwrap_or(self.name.as_str()),
            description => description,
        }
    }
}

#[derive(Serialize)]
struct Anthropic<'s> {
    name: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'s str,
    input_schema: Option<&'s RawValue>,
}

impl<'s> Anthropic<'s> {
    fn of(shown: &'s Shown<'s>) -> Self {
        Self { name: &shown.name, description: &shown.rewritten.description, input_schema: shown.schema() }
    }
}

const FUNCTION: &str = "function";

impl<'s> Typed<'s> {
    fn of(shown: &'s Shown<'s>) -> Self {
        let Function { name, description, parameters, strict } = Function::of(shown);
        Self { kind: FUNCTION, name, description, parameters, strict }
    }
}

/// As the Responses API has it.
#[derive(Serialize)]
struct Typed<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'s str,
    parameters: Option<&'s RawValue>,
    strict: bool,
}

/// As the Chat Completions API has it.
#[derive(Serialize)]
struct Nested<'s> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'s>,
}

#[derive(Serialize)]
struct Function<'s> {
    name: &'s str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'s str,
    parameters: Option<&'s RawValue>,
    /// The Responses API would take it for strict otherwise, and few schemas of servers are.
    strict: bool,
}

impl<'s> Function<'s> {
    fn of(shown: &'s Shown<'s>) -> Self {
        let description = &shown.rewritten.description;
        Self { name: &shown.name, description, parameters: shown.schema(), strict: false }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declarations<'s> {
    function_declarations: Vec<Declaration<'s>>,
}

#[derive(Serialize)]
struct Declaration<'s> {
    name: &'s str,
    description: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'s RawValue>,
}

impl<'s> Declaration<'s> {
    fn of(shown: &'s Shown<'s>) -> Self {
        Self { name: &shown.name, description: shown.described(), parameters: shown.schema() }
    }
}
