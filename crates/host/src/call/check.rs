//! Decides whether arguments fit a tool's schema, before the server is bothered (N8).
//!
//! The schema is a stranger's: it is compiled without any network or file, with patterns that take linear time,
//! and only within the bounds of [`bounds`] (H25). One beyond them checks nothing; the server then checks alone.

mod bounds;
mod effort;
mod nulls;
mod reason;
mod refs;
mod simple;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Validator};
use mcparley_model::limits::{EXCERPT_CHARS, MISFITS, PATTERN_BYTES};
use mcparley_model::text::{clean, cut};
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use refs::Refs;
use simple::Simple;

/// A tool's argument schema, compiled once, and only if it has to be.
#[derive(Debug)]
pub(crate) struct Checker {
    schema: Box<RawValue>,
    simple: Option<Simple>,
    compiled: OnceLock<Result<Compiled, String>>,
}

/// How arguments fit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// As they are.
    AsGiven,
    /// Without the optional ones that were null.
    WithoutNulls(Value),
}

/// One value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Where it stands in the arguments, as a JSON pointer; empty for all of them.
    pub path: String,
    /// What was expected; never the value itself, which may be secret or large.
    pub reason: String,
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

#[derive(Debug)]
struct Compiled {
    validator: Validator,
    /// Kept where it has references, through which a small schema can mean a large one.
    schema: Option<Value>,
}

impl Checker {
    /// Takes a schema. Never fails: one that cannot be used checks nothing and says why.
    pub(crate) fn new(schema: &RawValue) -> Self {
        let read = bounds::length(schema.get()).ok().and_then(|()| serde_json::from_str(schema.get()).ok());
        let simple = read.and_then(|schema| Simple::of(&schema));
        Self { schema: schema.to_owned(), simple, compiled: OnceLock::new() }
    }

    /// Why nothing is checked.
    pub(crate) fn blind(&self) -> Option<&str> {
        if self.simple.is_some() { None } else { self.compiled().as_ref().err().map(String::as_str) }
    }

    /// Looks whether `arguments` fit.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Vec<Misfit>> {
        if self.simple.as_ref().is_some_and(|simple| simple.fits(arguments)) {
            return Ok(());
        }
        match self.compiled() {
            Ok(compiled) if !compiled.validator.is_valid(arguments) => Err(compiled.misfits(arguments)),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Looks whether `arguments` fit, with or without the optional ones that are null.
    pub(crate) fn fit(&self, arguments: &Value) -> Result<Fit, Vec<Misfit>> {
        let Err(misfits) = self.check(arguments) else { return Ok(Fit::AsGiven) };
        let schema: Value = serde_json::from_str(self.schema.get()).unwrap_or_default();
        match nulls::without_optional_nulls(&schema, arguments) {
            Some(fewer) => self.check(&fewer).map(|()| Fit::WithoutNulls(fewer)),
            None => Err(misfits),
        }
    }

    fn compiled(&self) -> &Result<Compiled, String> {
        self.compiled.get_or_init(|| Compiled::new(self.schema.get()))
    }
}

impl Compiled {
    fn new(text: &str) -> Result<Self, String> {
        bounds::length(text)?;
        let mut schema: Value = serde_json::from_str(text).map_err(|_| "it is nested too deep to be read")?;
        bounds::parts(&schema)?;
        bounds::layers(&schema)?;
        let draft = draft(&schema);
        // An unknown dialect is taken for the newest, not for a reason to check nothing.
        schema.as_object_mut().and_then(|members| members.shift_remove("$schema"));
        let validator = compile(&mut schema, draft)?;
        let has_references = refs::any(&schema);
        Ok(Self { validator, schema: has_references.then_some(schema) })
    }

    fn misfits(&self, arguments: &Value) -> Vec<Misfit> {
        let is_bearable = self.schema.as_ref().is_none_or(|schema| effort::is_bearable(schema, arguments));
        if !is_bearable {
            // Telling which of countless alternatives failed would take countless steps.
            return vec![Misfit { path: String::new(), reason: "they do not fit the tool's schema".into() }];
        }
        let errors = self.validator.iter_errors(arguments).take(MISFITS);
        let short = |text: &str| cut(&clean(text), EXCERPT_CHARS).into_owned();
        errors
            .map(|error| Misfit {
                path: short(error.instance_path().as_str()),
                reason: short(&reason::of(&error)),
            })
            .collect()
    }
}

/// The dialect a schema names; the protocol's own when it names none.
fn draft(schema: &Value) -> Draft {
    let name = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let known = [
        ("draft-04", Draft::Draft4),
        ("draft-06", Draft::Draft6),
        ("draft-07", Draft::Draft7),
        ("2019-09", Draft::Draft201909),
    ];
    known.into_iter().find(|(part, _)| name.contains(part)).map_or(Draft::Draft202012, |(_, draft)| draft)
}

/// Compiles `schema` without the patterns that cannot run in linear time: the rest is still worth checking.
fn compile(schema: &mut Value, draft: Draft) -> Result<Validator, String> {
    const UNUSABLE_PATTERNS: usize = 8;
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES))
        // Annotations in the newest dialect, and often misused: `uint32`, `path`, `duration` in seconds.
        .should_validate_formats(false)
        .offline();
    for _ in 0..UNUSABLE_PATTERNS {
        let error = match options.build(schema) {
            Ok(validator) => return Ok(validator),
            Err(error) => error,
        };
        let is_pattern =
            matches!(error.kind(), ValidationErrorKind::Format { format } if format.as_str() == "regex");
        let place = match error.instance_path().as_str() {
            "" => error.schema_path().as_str(),
            place => place,
        };
        if !is_pattern || !forget_pattern(schema, place) {
            return Err(bounds::unusable(&error));
        }
    }
    Err("too many of its patterns cannot be used".into())
}

/// Removes the pattern at `place`; tells whether there was one.
fn forget_pattern(schema: &mut Value, place: &str) -> bool {
    let Some(parent) = place.strip_suffix("/pattern") else { return false };
    let parent = schema.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.and_then(|members| members.shift_remove("pattern")).is_some()
}
