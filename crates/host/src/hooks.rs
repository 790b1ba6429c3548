//! Hooks: what runs beside calls, and what it may change (P5).
//!
//! There are two kinds, heard alike: commands that settings configure, with JSON on their standard streams, and an
//! embedding program's own [`Hooks`]. All hooks of one event run at the same time. The strictest word wins (deny, ask,
//! allow); of changed arguments and results the last one counts, where an embedding program's hooks come first and the
//! administrator's last. A hook that fails has said nothing, unless `blockOnHookFailure` is set.
//!
//! | what | where |
//! |---|---|
//! | every hook of a host, and what they say together | `board`, `merge` |
//! | those of the settings, and starting them | `force` |
//! | what a command is told | `input` |
//! | running one command to its end | `command` |
//! | what its end and its output mean | `answer` |
//! | what is done with it around a call | `call` |
//! | what hooks told, and what went wrong with them | `notes` |

mod answer;
mod command;
mod force;
mod input;
mod merge;
mod notes;
mod runner;

use mcparley_model::hook::Event;
use mcparley_model::name::{PublicName, ServerName, ToolName};
use mcparley_model::permission::Verdict;
use mcparley_wire::peer::Boxed;
use serde_json::Value;

use crate::call::{CallError, Outcome};
use crate::elicit::{Elicitation, Reply};

pub(crate) use command::run as run_command;
pub(crate) use merge::Said;
pub use notes::HookNote;
pub(crate) use runner::HookRunner;

/// A tool that is about to be used, or was.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolUse<'u> {
    /// The tool's name for a model.
    pub name: &'u PublicName,
    /// The server that answers it, unless the host does.
    pub server: Option<&'u ServerName>,
    /// The tool's name at its server.
    pub tool: &'u ToolName,
    /// What it is used with.
    pub arguments: &'u Value,
    /// What the model calls this use.
    pub use_id: Option<&'u str>,
}

/// What a hook says before a tool is used. Nothing said changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// Whether it may happen. Allowing spares a question, and never outvotes a rule.
    pub verdict: Option<Verdict>,
    /// Why; of a denial the model is told.
    pub reason: Option<String>,
    /// Other arguments. They are checked, and judged by the rules, like any.
    pub arguments: Option<Value>,
    /// What the model is told besides the result.
    pub context: Option<String>,
}

/// How the use of a tool ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended<'e> {
    /// With a result, which may be that the tool failed.
    Outcome(&'e Outcome),
    /// Without one.
    Error(&'e CallError),
}

/// What a hook says after a tool was used. Nothing said changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct After {
    /// Another result in place of what came: a text, or a list of content blocks.
    pub replacement: Option<Value>,
    /// What the model is told besides the result.
    pub context: Option<String>,
}

/// Hooks of an embedding program, beside those that settings configure.
///
/// ```
/// use mcparley::hooks::{Before, HookEvent, Hooks, ToolUse};
/// use mcparley::Boxed;
/// use mcparley::model::permission::Verdict;
///
/// /// Nothing is deleted on this program's watch.
/// struct Keeper;
///
/// impl Hooks for Keeper {
///     fn events(&self) -> &[HookEvent] {
///         &[HookEvent::PreToolUse]
///     }
///
///     fn before<'h>(&'h self, about: ToolUse<'h>) -> Boxed<'h, Before> {
///         let deletes = about.tool.as_str().contains("delete");
///         let verdict = deletes.then_some(Verdict::Deny);
///         let said = Before { verdict, reason: Some("nothing is deleted here".into()), ..Before::default() };
///         Box::pin(std::future::ready(said))
///     }
/// }
/// ```
pub trait Hooks: Send + Sync + 'static {
    /// What it wants to hear of. Servers are told that they can ask when that is among it.
    fn events(&self) -> &[Event];

    /// [`Event::PreToolUse`]: a tool is about to be used.
    fn before<'h>(&'h self, _about: ToolUse<'h>) -> Boxed<'h, Before> {
        Box::pin(std::future::ready(Before::default()))
    }

    /// [`Event::PostToolUse`] and [`Event::PostToolUseFailure`]: it was.
    fn after<'h>(&'h self, _about: ToolUse<'h>, _ended: Ended<'h>) -> Boxed<'h, After> {
        Box::pin(std::future::ready(After::default()))
    }

    /// [`Event::Elicitation`]: a server asks. Nothing leaves the question to the next. An answer to a form has to fit it;
    /// a page can only be declined or put aside, since a person has to see it (H30).
    fn elicitation<'h>(&'h self, _question: Elicitation<'h>) -> Boxed<'h, Option<Reply>> {
        Box::pin(std::future::ready(None))
    }
}

pub use mcparley_model::hook::Event as HookEvent;
