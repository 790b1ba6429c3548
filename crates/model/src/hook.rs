//! Hooks: commands that run beside calls, and whether they may run.
//!
//! A hook runs a program at every call, so the author of a hook can run any program. Hooks from files that
//! a repository can bring wait for the user's approval, which is bound to their content.
//! [`crate::settings`] parses them from settings.

mod event;
mod matcher;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::approval::{ApprovalItem, ItemKind};
use crate::config::{mask_arguments, mask_secrets};
use crate::scope::ConfigOrigin;
use crate::secret::Secret;
use crate::settings::{SettingsLayer, SettingsWarning};
use crate::signature::DefinitionHash;

pub use event::HookEvent;
pub use matcher::{Matcher, MatcherError};
pub use status::{HookStatus, HookWithStatus};

/// A command that runs at an event, such as before a tool call.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The event that triggers the hook.
    pub event: HookEvent,
    /// The names of tools that trigger it; for [`HookEvent::Elicitation`] the names of servers.
    pub matcher: Matcher,
    /// The command line for a shell; the program if `args` is set.
    pub command: Secret<String>,
    /// The program's arguments. Without them a shell runs the command.
    pub args: Option<Vec<Secret<String>>>,
    /// The timeout.
    pub limit: Duration,
    /// The settings layer that defines the hook.
    pub layer: SettingsLayer,
    /// The location of the hook.
    pub origin: ConfigOrigin,
}

impl Hook {
    /// The hash that an approval is bound to: the event, the matcher and the command.
    #[must_use]
    pub fn definition_hash(&self) -> DefinitionHash {
        let args = self.args.as_deref();
        DefinitionHash::from_hook(self.event.as_str(), self.matcher.as_str(), &self.command, args)
    }

    /// The hook as an item of the approval store.
    #[must_use]
    pub fn approval_item(&self) -> ApprovalItem {
        let name = self.event.as_str().to_owned();
        ApprovalItem { kind: ItemKind::Hook, name, content: self.definition_hash() }
    }

    /// Whether the hook is defined in a file that a repository can bring.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        !self.layer.is_outside_project()
    }

    /// The command on one line for display: unmasked if it comes from the project, secrets masked
    /// otherwise.
    #[must_use]
    pub fn display_command(&self) -> String {
        if self.needs_approval() {
            let args = self.args.iter().flatten().map(|arg| arg.expose().as_str());
            return std::iter::once(self.command.expose().as_str()).chain(args).collect::<Vec<_>>().join(" ");
        }
        let command = mask_secrets(self.command.expose());
        match &self.args {
            None => command,
            Some(args) => {
                let args = mask_arguments(args.iter().map(|arg| arg.expose().clone()));
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
        out.serialize_field("command", &self.display_command())?;
        out.serialize_field("timeout", &self.limit.as_secs_f64())?;
        out.serialize_field("layer", &self.layer)?;
        out.serialize_field("origin", &self.origin)?;
        out.serialize_field("definition", &self.definition_hash())?;
        out.end()
    }
}

/// All hooks of all settings, and the decisions about them.
#[derive(Clone, Debug, Default)]
pub struct HookSet {
    /// All hooks in the order they were read: the weakest settings first.
    pub all: Vec<Arc<Hook>>,
    /// The definition hashes of the project's approved hooks.
    pub approved: Vec<String>,
    /// The definition hashes of the project's rejected hooks, with the location of each rejection.
    pub rejected: Vec<(String, ConfigOrigin)>,
    /// The `disableAllHooks` settings, each with its layer and location.
    pub disabled_by: Vec<(SettingsLayer, ConfigOrigin)>,
    /// The location of `allowManagedHooksOnly`, if it is true.
    pub managed_only: Option<ConfigOrigin>,
    /// `blockOnHookFailure`: a hook that fails before a call denies the call.
    pub block_on_failure: bool,
    /// Hints about entries that are not supported here and do no harm.
    pub hints: Vec<SettingsWarning>,
}
