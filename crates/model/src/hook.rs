//! What a hook is, and whether it may run (P5).
//!
//! A hook is a command beside every call, so who may write one may run programs. Those of files that a repository can
//! bring wait for the user's word, which is bound to what they are (H05, B26). How settings are read into hooks stands in
//! [`crate::settings`].

mod event;
mod matcher;
mod standing;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::approval::{Item, ItemKind};
use crate::config::{masked_arguments, masked_text};
use crate::scope::Origin;
use crate::secret::Secret;
use crate::settings::{Layer, Warning};
use crate::signature::Definition;

pub use event::Event;
pub use matcher::{Matcher, MatcherError};
pub use standing::{HookStanding, Judged};

/// A command that runs when something happens.
#[derive(Clone, Debug)]
pub struct Hook {
    /// When.
    pub event: Event,
    /// For which tools; for [`Event::Elicitation`] for which servers.
    pub matcher: Matcher,
    /// The command line, for a shell; with `args` the program.
    pub command: Secret<String>,
    /// The program's arguments. Without them a shell reads the command.
    pub args: Option<Vec<Secret<String>>>,
    /// How long it may take.
    pub limit: Duration,
    /// Whose word it is.
    pub layer: Layer,
    /// Where it stands.
    pub origin: Origin,
}

impl Hook {
    /// What an approval is bound to: the event, the matcher and what is run.
    #[must_use]
    pub fn definition(&self) -> Definition {
        let args = self.args.as_deref();
        Definition::of_hook(self.event.as_str(), self.matcher.as_str(), &self.command, args)
    }

    /// The hook as the approval store names it.
    #[must_use]
    pub fn item(&self) -> Item {
        let name = self.event.as_str().to_owned();
        Item { kind: ItemKind::Hook, name, content: self.definition() }
    }

    /// Whether it stands in a file that a repository can bring.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        !self.layer.is_outside()
    }

    /// What is run, on one line, as people may see it: whole where somebody else wrote it.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.needs_approval() {
            let args = self.args.iter().flatten().map(|arg| arg.expose().as_str());
            return std::iter::once(self.command.expose().as_str()).chain(args).collect::<Vec<_>>().join(" ");
        }
        let command = masked_text(self.command.expose());
        match &self.args {
            None => command,
            Some(args) => {
                let args = masked_arguments(args.iter().map(|arg| arg.expose().clone()));
                std::iter::once(command).chain(args).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

impl Serialize for Hook {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Hook", 7)?;
        out.serialize_field("event", &self.event)?;
        out.serialize_field("matcher", self.matcher.as_str())?;
        out.serialize_field("command", &self.shown())?;
        out.serialize_field("timeout", &self.limit.as_secs_f64())?;
        out.serialize_field("layer", &self.layer)?;
        out.serialize_field("origin", &self.origin)?;
        out.serialize_field("definition", &self.definition())?;
        out.end()
    }
}

/// Every hook of all settings, and what was decided about them.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Every hook, in the order it was read: the weakest settings first.
    pub all: Vec<Arc<Hook>>,
    /// The definitions of the project's hooks that may run.
    pub approved: Vec<String>,
    /// The definitions of the project's hooks that the user rejected, and where.
    pub rejected: Vec<(String, Origin)>,
    /// `disableAllHooks`, whose word it is, and where.
    pub off: Vec<(Layer, Origin)>,
    /// `allowManagedHooksOnly`, where it is true.
    pub managed_only: Option<Origin>,
    /// `blockOnHookFailure`: a hook that cannot speak about a call denies it.
    pub block_on_failure: bool,
    /// What is no hook here, and does no harm.
    pub hints: Vec<Warning>,
}
