//! Hooks: code that runs around calls, and may change or deny them.
//!
//! There are two kinds with equal rights: commands in the settings, with JSON on their standard streams, and
//! the [`Hooks`] of an embedding program. All hooks of one event run concurrently. The strictest verdict
//! wins (deny, ask, allow); of changed arguments and results the last one counts, where the hooks of an
//! embedding program come first and the administrator's last. A hook that fails has no effect, unless
//! `blockOnHookFailure` is set.
//!
//! | part | module |
//! |---|---|
//! | all hooks of a host, and their merged answer | `runner`, `merge` |
//! | the configured hooks, and starting them | `configured_hooks` |
//! | the JSON input of a command | `input` |
//! | running one command with a time limit | `command` |
//! | the meaning of its exit code and output | `answer` |
//! | pre and post hooks of one call | `call::call_hooks` |
//! | messages and failures of hooks | `notes` |

mod answer;
mod command;
mod configured_hooks;
mod input;
mod merge;
mod notes;
mod runner;

use mcparley_model::name::{PublicName, ServerName, ToolName};
use mcparley_model::permission::PermissionVerdict;
use mcparley_wire::peer::BoxedFuture;
use serde_json::Value;

use crate::call_error::CallError;
use mcparley_pool::elicit::{Elicitation, ElicitationReply};
use mcparley_results::CallOutcome;

pub(crate) use command::run_with_limits as run_command;
pub(crate) use merge::MergedPreHooks;
pub use notes::HookNote;
pub(crate) use runner::HookRunner;

/// A tool that is about to be used, or was used.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolUse<'u> {
    /// The tool's name for a model.
    pub name: &'u PublicName,
    /// The tool's server; absent for built-in tools of the host.
    pub server: Option<&'u ServerName>,
    /// The tool's name at its server.
    pub tool: &'u ToolName,
    /// The arguments of the call.
    pub arguments: &'u Value,
    /// The model's id for this use of the tool.
    pub use_id: Option<&'u str>,
}

/// The answer of a hook before a tool is used. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreHookAnswer {
    /// Whether the call is permitted. `Allow` spares a question, and never overrides a rule.
    pub verdict: Option<PermissionVerdict>,
    /// The reason; the model is given the reason of a denial.
    pub reason: Option<String>,
    /// Replacement for the arguments. It is validated, and checked by the rules, like any arguments.
    pub arguments: Option<Value>,
    /// Context that the model is given besides the result.
    pub context: Option<String>,
}

/// The result of a used tool.
#[derive(Clone, Copy, Debug)]
pub enum ToolUseResult<'e> {
    /// The tool returned an outcome, which may be an error of the tool.
    Outcome(&'e CallOutcome),
    /// The call failed without an outcome.
    Error(&'e CallError),
}

/// The answer of a hook after a tool was used. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PostHookAnswer {
    /// Replacement for the result: a text, or a list of content blocks.
    pub replacement: Option<Value>,
    /// Context that the model is given besides the result.
    pub context: Option<String>,
}

/// Hooks of an embedding program, beside those in the settings.
///
/// ```
/// use mcparley::hooks::{HookEvent, Hooks, PreHookAnswer, ToolUse};
/// use mcparley::BoxedFuture;
/// use mcparley::model::permission::PermissionVerdict;
///
/// /// Denies tools that delete.
/// struct NoDeletes;
///
/// impl Hooks for NoDeletes {
///     fn events(&self) -> &[HookEvent] {
///         &[HookEvent::PreToolUse]
///     }
///
///     fn before_tool<'h>(&'h self, tool_use: ToolUse<'h>) -> BoxedFuture<'h, PreHookAnswer> {
///         let deletes = tool_use.tool.as_str().contains("delete");
///         let verdict = deletes.then_some(PermissionVerdict::Deny);
///         let reason = Some("nothing is deleted here".into());
///         let answer = PreHookAnswer { verdict, reason, ..PreHookAnswer::default() };
///         Box::pin(std::future::ready(answer))
///     }
/// }
/// ```
pub trait Hooks: Send + Sync + 'static {
    /// The events that these hooks handle. With [`HookEvent::Elicitation`] among them, the elicitation
    /// capability is declared to servers.
    fn events(&self) -> &[HookEvent];

    /// Handles [`HookEvent::PreToolUse`]: a tool is about to be used.
    fn before_tool<'h>(&'h self, _about: ToolUse<'h>) -> BoxedFuture<'h, PreHookAnswer> {
        Box::pin(std::future::ready(PreHookAnswer::default()))
    }

    /// Handles [`HookEvent::PostToolUse`] and [`HookEvent::PostToolUseFailure`]: a tool was used.
    fn after_tool<'h>(
        &'h self,
        _about: ToolUse<'h>,
        _ended: ToolUseResult<'h>,
    ) -> BoxedFuture<'h, PostHookAnswer> {
        Box::pin(std::future::ready(PostHookAnswer::default()))
    }

    /// Handles [`HookEvent::Elicitation`]: a server asks the user. `None` leaves the question to the next hook,
    /// or to the user. An answer to a form must match its schema; accepting a page declares it handled, and no
    /// page is opened then.
    fn on_elicitation<'h>(&'h self, _question: Elicitation<'h>) -> BoxedFuture<'h, Option<ElicitationReply>> {
        Box::pin(std::future::ready(None))
    }
}

pub use mcparley_model::hook::HookEvent;
