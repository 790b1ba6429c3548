//! Decides what one rule says: its kind, the tools it means, and its condition on the arguments.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::index::Key;
use super::number::Decimal;
use super::subject::{KnownServers, Prepared, Subject};
use super::target::{Reading, Tools};
use crate::explain::Explain;
use crate::glob::Glob;
use crate::limits::RULE_NAME_LIMIT;
use crate::name::{BETWEEN, Identity, PREFIX};
use crate::scope::Origin;
use crate::text;

/// What a rule wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// Let the call go ahead.
    Allow,
    /// Ask a person.
    Ask,
    /// Do not let it happen.
    Deny,
}

/// Where a rule comes from; of several equal rules the first scope's is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RuleScope {
    /// The machine's administrator.
    Managed,
    /// An option of this run.
    CommandLine,
    /// The user's own settings.
    User,
    /// The project's shared settings.
    Project,
    /// The user's private settings for the project.
    Local,
}

/// A rule, where it stands and what it means.
#[derive(Debug)]
pub struct Rule {
    kind: RuleKind,
    text: Box<str>,
    origin: Origin,
    scope: RuleScope,
    target: Target,
    condition: Option<Condition>,
}

#[derive(Debug)]
enum Target {
    Everything,
    /// One of the host's own tools; what stands in parentheses is not ours to understand.
    BuiltIn {
        name: Box<str>,
        specified: bool,
    },
    Tools(Tools),
}

/// An argument and the pattern its value must fit.
#[derive(Debug)]
pub(super) struct Condition {
    key: Box<str>,
    value: Glob,
    /// The value as a number, if it is written as one.
    number: Option<Decimal>,
}

impl Rule {
    /// Reads a rule: `mcp__server`, `mcp__server__tool`, `*` in either part, `*` alone, or a built-in tool's
    /// name; a condition `(argument:pattern)` may follow.
    ///
    /// # Errors
    /// A [`RuleError`] if the text is none of these. A rule that is understood but matches nothing is no
    /// error; see [`super::RuleSet::dead`].
    pub fn parse(kind: RuleKind, text: &str, origin: Origin, scope: RuleScope) -> Result<Self, RuleError> {
        let text = text.trim();
        let fault = |fault| RuleError { text: text.to_owned(), origin: origin.clone(), fault };
        let (name, specifier) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => {
                (name.trim_end(), Some(rest.strip_suffix(')').ok_or_else(|| fault(Fault::Unclosed))?))
            }
        };
        let target = Target::parse(name, specifier).map_err(fault)?;
        let condition = match (&target, specifier) {
            (Target::BuiltIn { .. }, _) | (_, None) => None,
            (Target::Everything | Target::Tools(_), Some(specifier)) => {
                Some(Condition::parse(specifier).ok_or_else(|| fault(Fault::Condition))?)
            }
        };
        Ok(Self { kind, text: Box::from(text), origin, scope, target, condition })
    }

    /// What the rule wants done.
    #[must_use]
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    /// The rule as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it stands.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Where it comes from.
    #[must_use]
    pub fn scope(&self) -> RuleScope {
        self.scope
    }

    /// Whether the rule means this call.
    ///
    /// Where the text could mean several tools because of how servers are named, an allow rule means none
    /// of them and the others mean all.
    #[must_use]
    pub fn matches(&self, subject: &Subject<'_>, known: &KnownServers) -> bool {
        self.means(subject, known)
            && self.condition.as_ref().is_none_or(|condition| condition.holds(subject.arguments))
    }

    /// The same, whatever its condition says about the arguments.
    #[must_use]
    pub fn means(&self, subject: &Subject<'_>, known: &KnownServers) -> bool {
        self.means_prepared(&subject.prepare(), known)
    }

    pub(super) fn means_prepared(&self, subject: &Prepared<'_>, known: &KnownServers) -> bool {
        match &self.target {
            Target::Everything => true,
            Target::BuiltIn { .. } => false,
            Target::Tools(tools) => tools.mean(self.kind, subject, known),
        }
    }

    /// Whether the rule means the host's own tool of this name.
    ///
    /// A condition on it cannot be judged here, so it keeps an allow rule from matching and no other.
    #[must_use]
    pub fn matches_built_in(&self, name: &str) -> bool {
        let (means, conditional) = match &self.target {
            Target::Everything => (true, self.condition.is_some()),
            Target::BuiltIn { name: own, specified } => (**own == *name, *specified),
            Target::Tools(_) => (false, false),
        };
        means && !(conditional && self.kind == RuleKind::Allow)
    }

    /// The ways the rule can be understood among the known servers.
    ///
    /// More than one makes an allow rule useless; each says what to write instead.
    #[must_use]
    pub fn readings(&self, known: &KnownServers) -> Vec<Reading> {
        self.tools().map_or_else(Vec::new, |tools| tools.readings(known))
    }

    /// Whether it means every tool there is, as far as its condition lets it.
    pub(super) fn means_everything(&self) -> bool {
        matches!(self.target, Target::Everything)
    }

    /// The argument it looks at and what its value must fit.
    pub(super) fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// What it is filed under; a call of a server's tool that it means has one of these.
    pub(super) fn keys(&self) -> BTreeSet<Key> {
        match &self.target {
            Target::Everything => BTreeSet::from([Key::Tool(String::new())]),
            Target::BuiltIn { .. } => BTreeSet::new(),
            Target::Tools(tools) => tools.keys(),
        }
    }

    pub(super) fn tools(&self) -> Option<&Tools> {
        match &self.target {
            Target::Tools(tools) => Some(tools),
            Target::Everything | Target::BuiltIn { .. } => None,
        }
    }
}

impl Target {
    fn parse(name: &str, specifier: Option<&str>) -> Result<Self, Fault> {
        if name == "*" {
            return Ok(Self::Everything);
        }
        if name.len() > RULE_NAME_LIMIT {
            return Err(Fault::TooLong);
        }
        if name.starts_with(PREFIX) {
            return Tools::parse(name).map(Self::Tools).ok_or(Fault::NoServer);
        }
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        if is_name {
            let name = Box::from(own_name_of(name));
            Ok(Self::BuiltIn { name, specified: specifier.is_some() })
        } else {
            Err(Fault::NotAName)
        }
    }
}

/// What a tool of Claude Code is called here: rules are shared with it.
fn own_name_of(name: &str) -> &str {
    match name {
        "ListMcpResourcesTool" => "ListMcpResources",
        "ReadMcpResourceTool" => "ReadMcpResource",
        other => other,
    }
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        let (key, value) = text.split_once(':').filter(|(key, _)| !key.is_empty())?;
        Some(Self { key: Box::from(key), value: Glob::new(value), number: Decimal::parse(value) })
    }

    /// The argument it looks at.
    pub(super) fn argument(&self) -> &str {
        &self.key
    }

    /// What the text of every value that fits begins with; one number has many texts.
    pub(super) fn head(&self) -> &str {
        if self.number.is_some() { "" } else { self.value.head() }
    }

    /// Whether an argument with this value and text fits.
    pub(super) fn fits(&self, value: &Value, text: &str) -> bool {
        match (&self.number, value) {
            (Some(wanted), Value::Number(number)) => wanted.is_value_of(number),
            _ => self.value.matches(text),
        }
    }

    fn holds(&self, arguments: Option<&Value>) -> bool {
        let value = arguments.and_then(|arguments| arguments.get(&*self.key));
        value.is_some_and(|value| self.fits(value, &value_text(value)))
    }
}

/// An argument's value as conditions see it: a string is itself, anything else is its JSON.
pub(super) fn value_text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

/// The text of a rule that means the subject's tool and no other, for whoever writes one down.
///
/// The plain name where that is clear among the known servers, and else the one with a hash.
#[must_use]
pub fn rule_text(subject: &Subject<'_>, known: &KnownServers) -> String {
    let prepared = subject.prepare();
    let plain = [PREFIX, &prepared.server, BETWEEN, &prepared.tool].concat();
    let is_clear = |tools: &Tools| tools.mean(RuleKind::Allow, &prepared, known);
    if Tools::parse(&plain).as_ref().is_some_and(is_clear) {
        plain
    } else {
        Identity::new(subject.server, subject.tool).hashed(0)
    }
}

impl PartialEq for Rule {
    /// The meaning follows from the text, so what is written is all there is to compare.
    fn eq(&self, other: &Self) -> bool {
        let written = |rule: &Self| (rule.kind, rule.scope);
        written(self) == written(other) && self.text == other.text && self.origin == other.origin
    }
}

impl Eq for Rule {}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut rule = serializer.serialize_struct("Rule", 4)?;
        rule.serialize_field("kind", &self.kind)?;
        rule.serialize_field("text", &self.text)?;
        rule.serialize_field("scope", &self.scope)?;
        rule.serialize_field("origin", &self.origin)?;
        rule.end()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rule `{}` ({}, {})", self.kind, text::display(&self.text), self.scope, self.origin)
    }
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

impl fmt::Display for RuleScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Managed => "managed",
            Self::CommandLine => "command line",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        })
    }
}

/// A text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no permission rule: {fault}", text::display(&text::cut(text, 80)))]
pub struct RuleError {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with the text of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// `mcp__` and nothing else.
    #[error("no server follows `mcp__`")]
    NoServer,
    /// Neither a server's tool nor the name of a built-in one.
    #[error("it neither begins with `mcp__` nor is it a tool's name")]
    NotAName,
    /// The name is longer than [`RULE_NAME_LIMIT`].
    #[error("its name has more than {RULE_NAME_LIMIT} bytes")]
    TooLong,
    /// A parenthesis is open at the end.
    #[error("`(` is never closed")]
    Unclosed,
    /// What stands in parentheses is no condition.
    #[error("the condition is not `(argument:pattern)`")]
    Condition,
}

impl Explain for RuleError {
    fn hint(&self) -> Option<String> {
        Some(match self.fault {
            Fault::NoServer => "write `mcp__*` for every server".to_owned(),
            Fault::NotAName => "write `mcp__server__tool`, `mcp__server__*` or `mcp__server`".to_owned(),
            Fault::TooLong => "use the tool's public name, or `*` for a part of it".to_owned(),
            Fault::Unclosed => "end the rule with `)`".to_owned(),
            Fault::Condition => "write an argument's name and a pattern: `(sql:SELECT *)`".to_owned(),
        })
    }
}
