//! Permission rules: the kind of a rule, the tools it matches, and its condition on the arguments.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::index::RuleIndexKey;
use super::number::Decimal;
use super::subject::{KnownServers, NormalizedSubject, PermissionSubject};
use super::target::{RuleReading, ToolPattern};
use crate::explain::Explain;
use crate::glob::Glob;
use crate::limits::RULE_NAME_LIMIT;
use crate::name::{BETWEEN, PREFIX, ToolNameHash};
use crate::scope::ConfigOrigin;
use crate::text;

/// The effect of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// Allow the call.
    Allow,
    /// Ask the user.
    Ask,
    /// Deny the call.
    Deny,
}

/// The scope of a rule; of several equal rules the one in the first scope is named as the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RuleScope {
    /// The machine's administrator.
    Managed,
    /// A command-line option of this run.
    CommandLine,
    /// The user's own settings.
    User,
    /// The project's shared settings.
    Project,
    /// The user's private settings for the project.
    Local,
}

/// A permission rule with its location and its parsed meaning.
#[derive(Debug)]
pub struct PermissionRule {
    kind: RuleKind,
    text: Box<str>,
    origin: ConfigOrigin,
    scope: RuleScope,
    target: RuleTarget,
    condition: Option<RuleCondition>,
}

#[derive(Debug)]
enum RuleTarget {
    Everything,
    /// One of the host's own tools; the text in parentheses is not interpreted.
    BuiltIn {
        name: Box<str>,
        specified: bool,
    },
    Tools(ToolPattern),
}

/// A condition on an argument: its name, and the pattern for its value.
#[derive(Debug)]
pub(super) struct RuleCondition {
    key: Box<str>,
    value: Glob,
    /// The value as a number, if it is written as one.
    number: Option<Decimal>,
}

impl PermissionRule {
    /// Parses a rule: `mcp__server`, `mcp__server__tool`, `*` in either part, `*` alone, or a built-in
    /// tool's name; a condition `(argument:pattern)` may follow.
    ///
    /// # Errors
    /// A [`RuleError`] if the text is none of these. A valid rule that matches nothing is no error; see
    /// [`super::RuleSet::find_dead_rules`].
    pub fn parse(
        kind: RuleKind,
        text: &str,
        origin: ConfigOrigin,
        scope: RuleScope,
    ) -> Result<Self, RuleError> {
        let text = text.trim();
        let fault = |fault| RuleError { text: text.to_owned(), origin: origin.clone(), fault };
        let (name, specifier) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => {
                (name.trim_end(), Some(rest.strip_suffix(')').ok_or_else(|| fault(RuleFault::Unclosed))?))
            }
        };
        let target = RuleTarget::parse(name, specifier).map_err(fault)?;
        let condition = match (&target, specifier) {
            (RuleTarget::BuiltIn { .. }, _) | (_, None) => None,
            (RuleTarget::Everything | RuleTarget::Tools(_), Some(specifier)) => {
                Some(RuleCondition::parse(specifier).ok_or_else(|| fault(RuleFault::Condition))?)
            }
        };
        Ok(Self { kind, text: Box::from(text), origin, scope, target, condition })
    }

    /// The effect of the rule.
    #[must_use]
    pub fn kind(&self) -> RuleKind {
        self.kind
    }

    /// The rule as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The location of the rule.
    #[must_use]
    pub fn origin(&self) -> &ConfigOrigin {
        &self.origin
    }

    /// The scope of the rule.
    #[must_use]
    pub fn scope(&self) -> RuleScope {
        self.scope
    }

    /// Whether the rule matches this call.
    ///
    /// Where the text could mean several tools because of how servers are named, an allow rule matches none
    /// of them and other rules match all.
    #[must_use]
    pub fn matches_call(&self, subject: &PermissionSubject<'_>, known: &KnownServers) -> bool {
        self.matches_tool(subject, known)
            && self.condition.as_ref().is_none_or(|condition| condition.holds_for(subject.arguments))
    }

    /// Whether the rule matches the call's tool, ignoring the condition on the arguments.
    #[must_use]
    pub fn matches_tool(&self, subject: &PermissionSubject<'_>, known: &KnownServers) -> bool {
        self.matches_normalized(&subject.to_normalized(), known)
    }

    pub(super) fn matches_normalized(&self, subject: &NormalizedSubject<'_>, known: &KnownServers) -> bool {
        match &self.target {
            RuleTarget::Everything => true,
            RuleTarget::BuiltIn { .. } => false,
            RuleTarget::Tools(tools) => tools.matches_subject(self.kind, subject, known),
        }
    }

    /// Whether the rule matches the host's own tool of this name.
    ///
    /// A condition on such a tool cannot be evaluated here, so it keeps an allow rule from matching and no
    /// other.
    #[must_use]
    pub fn matches_built_in(&self, name: &str) -> bool {
        let (means, conditional) = match &self.target {
            RuleTarget::Everything => (true, self.condition.is_some()),
            RuleTarget::BuiltIn { name: own, specified } => (**own == *name, *specified),
            RuleTarget::Tools(_) => (false, false),
        };
        means && !(conditional && self.kind == RuleKind::Allow)
    }

    /// The possible readings of the rule among the known servers.
    ///
    /// More than one reading makes an allow rule useless; each reading suggests an unambiguous rule.
    #[must_use]
    pub fn readings(&self, known: &KnownServers) -> Vec<RuleReading> {
        self.tool_pattern().map_or_else(Vec::new, |tools| tools.readings(known))
    }

    /// Whether the rule matches every tool, apart from its condition.
    pub(super) fn matches_every_tool(&self) -> bool {
        matches!(self.target, RuleTarget::Everything)
    }

    /// The condition on an argument.
    pub(super) fn condition(&self) -> Option<&RuleCondition> {
        self.condition.as_ref()
    }

    /// The index keys; every call of a server's tool that the rule matches has one of them.
    pub(super) fn index_keys(&self) -> BTreeSet<RuleIndexKey> {
        match &self.target {
            RuleTarget::Everything => BTreeSet::from([RuleIndexKey::Tool(String::new())]),
            RuleTarget::BuiltIn { .. } => BTreeSet::new(),
            RuleTarget::Tools(tools) => tools.index_keys(),
        }
    }

    pub(super) fn tool_pattern(&self) -> Option<&ToolPattern> {
        match &self.target {
            RuleTarget::Tools(tools) => Some(tools),
            RuleTarget::Everything | RuleTarget::BuiltIn { .. } => None,
        }
    }
}

impl RuleTarget {
    fn parse(name: &str, specifier: Option<&str>) -> Result<Self, RuleFault> {
        if name == "*" {
            return Ok(Self::Everything);
        }
        if name.len() > RULE_NAME_LIMIT {
            return Err(RuleFault::TooLong);
        }
        if name.starts_with(PREFIX) {
            return ToolPattern::parse(name).map(Self::Tools).ok_or(RuleFault::NoServer);
        }
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        if is_name {
            let name = Box::from(built_in_name(name));
            Ok(Self::BuiltIn { name, specified: specifier.is_some() })
        } else {
            Err(RuleFault::NotAName)
        }
    }
}

/// The name of the host's own tool for a tool of Claude Code, because rules are shared with it.
fn built_in_name(name: &str) -> &str {
    match name {
        "ListMcpResourcesTool" => "ListMcpResources",
        "ReadMcpResourceTool" => "ReadMcpResource",
        other => other,
    }
}

impl RuleCondition {
    fn parse(text: &str) -> Option<Self> {
        let (key, value) = text.split_once(':').filter(|(key, _)| !key.is_empty())?;
        Some(Self { key: Box::from(key), value: Glob::new(value), number: Decimal::parse(value) })
    }

    /// The name of the argument.
    pub(super) fn argument(&self) -> &str {
        &self.key
    }

    /// The literal prefix of every matching value; empty for a number, which has many texts.
    pub(super) fn literal_prefix(&self) -> &str {
        if self.number.is_some() { "" } else { self.value.literal_prefix() }
    }

    /// Whether an argument with this value and text matches the pattern.
    pub(super) fn matches_value(&self, value: &Value, text: &str) -> bool {
        match (&self.number, value) {
            (Some(wanted), Value::Number(number)) => wanted.equals_number(number),
            _ => self.value.matches(text),
        }
    }

    fn holds_for(&self, arguments: Option<&Value>) -> bool {
        let value = arguments.and_then(|arguments| arguments.get(&*self.key));
        value.is_some_and(|value| self.matches_value(value, &value_text(value)))
    }
}

/// An argument's value as text: a string is itself, any other value is its JSON.
pub(super) fn value_text(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed)
}

/// The text of a rule that matches the subject's tool and no other, to be written to a file.
///
/// It is the plain name where that is unambiguous among the known servers, and otherwise the hashed name.
#[must_use]
pub fn exact_rule_text(subject: &PermissionSubject<'_>, known: &KnownServers) -> String {
    let prepared = subject.to_normalized();
    let plain = [PREFIX, &prepared.server, BETWEEN, &prepared.tool].concat();
    let is_clear = |tools: &ToolPattern| tools.matches_subject(RuleKind::Allow, &prepared, known);
    if ToolPattern::parse(&plain).as_ref().is_some_and(is_clear) {
        plain
    } else {
        ToolNameHash::new(subject.server, subject.tool).hashed_name(0)
    }
}

/// The text of a rule that matches exactly the tools of this subject's server.
///
/// `None` where another known server could be meant as well: `mcp__a__b` is also tool `b` of server `a`.
#[must_use]
pub fn server_rule_text(subject: &PermissionSubject<'_>, known: &KnownServers) -> Option<String> {
    let prepared = subject.to_normalized();
    let text = [PREFIX, &prepared.server].concat();
    let tools = ToolPattern::parse(&text)?;
    tools.matches_subject(RuleKind::Allow, &prepared, known).then_some(text)
}

impl PartialEq for PermissionRule {
    /// Compares the written form, because the meaning follows from the text.
    fn eq(&self, other: &Self) -> bool {
        let written = |rule: &Self| (rule.kind, rule.scope);
        written(self) == written(other) && self.text == other.text && self.origin == other.origin
    }
}

impl Eq for PermissionRule {}

impl Serialize for PermissionRule {
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

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rule `{}` ({}, {})", self.kind, text::display_line(&self.text), self.scope, self.origin)
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

/// The error for a text that is not a permission rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a permission rule: {fault}", text::display_line(&text::truncate_text(text, 80)))]
pub struct RuleError {
    /// The text.
    pub text: String,
    /// The location of the text.
    pub origin: ConfigOrigin,
    /// The fault in the text.
    pub fault: RuleFault,
}

/// The fault in the text of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFault {
    /// `mcp__` and nothing else.
    #[error("no server follows `mcp__`")]
    NoServer,
    /// The name is neither a server's tool nor a built-in tool.
    #[error("it does not begin with `mcp__` and is not a tool name")]
    NotAName,
    /// The name is longer than [`RULE_NAME_LIMIT`].
    #[error("its name has more than {RULE_NAME_LIMIT} bytes")]
    TooLong,
    /// A parenthesis is not closed.
    #[error("`(` is never closed")]
    Unclosed,
    /// The text in parentheses is not a condition.
    #[error("the condition is not `(argument:pattern)`")]
    Condition,
}

impl Explain for RuleError {
    fn hint(&self) -> Option<String> {
        Some(match self.fault {
            RuleFault::NoServer => "write `mcp__*` for every server".to_owned(),
            RuleFault::NotAName => "write `mcp__server__tool`, `mcp__server__*` or `mcp__server`".to_owned(),
            RuleFault::TooLong => "use the tool's public name, or `*` for a part of it".to_owned(),
            RuleFault::Unclosed => "end the rule with `)`".to_owned(),
            RuleFault::Condition => "write an argument's name and a pattern: `(sql:SELECT *)`".to_owned(),
        })
    }
}
