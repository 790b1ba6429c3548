//! Reads settings files: who may say what about servers, permissions and policy.
//!
//! The same keys mean different things in different files, because the files have different authors. A
//! [`Layer`] names the author; what a layer may not say is left out with a warning, never silently.

mod audit;
mod classifier;
mod folder;
mod hooks;
mod identity;
mod pin;

use std::sync::Arc;

use serde::Serialize;

use crate::approval::{Choices, WaitingItem};
use crate::config::Spanned;
use crate::document::Node;
use crate::hook::Hooks;
use crate::name::ServerName;
use crate::permission::{Mode, Rule, RuleKind, RuleScope};
use crate::policy::{Owner, Policy, Rules};
use crate::scope::Origin;
use crate::secret::Secret;

pub use audit::Audit;
pub use classifier::ClassifierCommand;
pub use identity::IdentityProvider;
pub use pin::Pins;

/// Whose settings a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// The machine's administrator.
    Managed,
    /// `--settings` and other options of this run.
    CommandLine,
    /// The user, everywhere.
    User,
    /// The user, for this project, in a file outside of it (`projects` of `~/.claude.json`).
    Private,
    /// A file below the project folder that is meant for one user (`.claude/settings.local.json`).
    Local,
    /// Whoever wrote the repository (`.claude/settings.json`).
    Project,
}

impl Layer {
    /// Whether a yes from this layer counts, be it to a server, to a mode or to a plugin: nobody who sends a
    /// folder can write these.
    #[must_use]
    pub fn is_outside(self) -> bool {
        match self {
            Self::Managed | Self::CommandLine | Self::User | Self::Private => true,
            Self::Local | Self::Project => false,
        }
    }

    fn rule_scope(self) -> RuleScope {
        match self {
            Self::Managed => RuleScope::Managed,
            Self::CommandLine => RuleScope::CommandLine,
            Self::User => RuleScope::User,
            Self::Private | Self::Local => RuleScope::Local,
            Self::Project => RuleScope::Project,
        }
    }
}

/// Everything the settings say, added up.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Approvals and rejections of project servers.
    pub choices: Choices,
    /// `disabledMcpServers`: servers switched off.
    pub disabled: Vec<Spanned<ServerName>>,
    /// `permissions.allow`, `.ask` and `.deny`.
    pub rules: Vec<Arc<Rule>>,
    /// `permissions.allow` of files below the project folder, until [`Settings::settle_folder_items`] decides.
    pub folder_rules: Vec<Arc<Rule>>,
    /// Variables and allow rules of the folder that wait for approval.
    pub waiting: Vec<WaitingItem>,
    /// `permissions.defaultMode`; a layer read later wins.
    pub mode: Option<Spanned<Mode>>,
    /// `autoClassifier`: the command that decides in mode `auto`.
    pub classifier: Option<Spanned<ClassifierCommand>>,
    /// `toolPin`: what is done about tools that have become others.
    pub pins: Pins,
    /// `allowedMcpServers`, `deniedMcpServers`, `allowManagedMcpServersOnly`, `requirePinnedPackages`.
    pub policy: Policy,
    /// `plugins`: folders to load plugins from, and whose word each is.
    pub plugins: Vec<(Layer, Spanned<String>)>,
    /// `enabledPlugins`: installed plugins that were switched on or off, the strongest word last.
    pub enabled_plugins: Vec<(String, bool)>,
    /// `connectors.url`: where the organisation's connectors are listed, and whose word that is.
    pub connectors: Option<(Layer, Spanned<String>)>,
    /// `xaaIdp`: who knows the person, for servers that are signed in to across applications.
    pub identity: Option<Spanned<IdentityProvider>>,
    /// `hooks`: commands beside calls.
    pub hooks: Hooks,
    /// `audit`: whether calls are recorded, and where.
    pub audit: Option<Spanned<Audit>>,
    /// `env`: variables for expansion and for our own limits.
    pub env: Vec<Variable>,
    /// What was left out, and why.
    pub warnings: Vec<Warning>,
    /// A managed rule that cannot be understood; what it would have forbidden is not known.
    pub broken_policy: Option<Warning>,
}

/// A variable that settings set.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Secret<String>,
    /// Whose word it is.
    pub layer: Layer,
    /// Where it is set.
    pub origin: Origin,
}

/// Something in a settings file that does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What, and why.
    pub text: String,
    /// Where.
    pub origin: Origin,
}

impl Settings {
    /// Adds what `root` says. Read layers from the weakest to the strongest.
    pub fn read(&mut self, root: Node<'_>, layer: Layer) {
        let Some(members) = root.as_object() else {
            return self.warn(root, format!("settings are an object, not {}", root.kind()));
        };
        for member in members {
            let value = member.value;
            match member.name {
                "enabledMcpjsonServers" => self.read_enabled(value, layer),
                "disabledMcpjsonServers" => {
                    let rejected = self.names("disabledMcpjsonServers", value);
                    self.choices.rejected.extend(rejected);
                }
                "hasTrustDialogAccepted" if layer == Layer::Private && value.as_bool() == Some(true) => {
                    self.choices.claude_code.trusted = Some(value.origin());
                }
                "enableAllProjectMcpServers" => self.read_enable_all(value, layer),
                "disabledMcpServers" => {
                    let disabled = self.names("disabledMcpServers", value);
                    self.disabled.extend(disabled);
                }
                "permissions" => self.read_permissions(value, layer),
                "toolPin" => self.read_pin(value, layer),
                "autoClassifier" => self.read_classifier(value, layer),
                key if Policy::KEYS.contains(&key) => self.read_policy(key, value, layer),
                "plugins" => self.read_plugins(value, layer),
                "enabledPlugins" => self.read_enabled_plugins(value, layer),
                "connectors" => self.read_connectors(value, layer),
                "xaaIdp" => self.read_identity(value, layer),
                "env" => self.read_env(value, layer),
                "audit" => self.read_audit(value, layer),
                key if Hooks::KEYS.contains(&key) => self.read_about_hooks(key, value, layer),
                _ => {}
            }
        }
    }

    fn read_enabled(&mut self, value: Node<'_>, layer: Layer) {
        let names = self.names("enabledMcpjsonServers", value);
        match layer {
            Layer::Managed => self.choices.managed.extend(names),
            Layer::Private => self.choices.claude_code.enabled.extend(names),
            Layer::CommandLine | Layer::User => self.choices.by_name.extend(names),
            Layer::Local | Layer::Project => self.choices.claimed.extend(names),
        }
        if layer == Layer::Project {
            self.warn(value, "a repository cannot approve its own servers".to_owned());
        }
    }

    fn read_enable_all(&mut self, value: Node<'_>, layer: Layer) {
        match (value.as_bool(), layer) {
            (Some(true), Layer::Managed) => self.choices.enable_all = Some(value.origin()),
            (Some(true), Layer::CommandLine | Layer::User | Layer::Private) => self.warn(
                value,
                "`enableAllProjectMcpServers` counts only in managed settings; see `mcparley trust`"
                    .to_owned(),
            ),
            (Some(true), Layer::Local | Layer::Project) => self.warn(
                value,
                "a file in the project's folder cannot approve the project's servers".to_owned(),
            ),
            (Some(false), _) => {}
            (None, _) => {
                self.warn(value, "`enableAllProjectMcpServers` is neither true nor false".to_owned());
            }
        }
    }

    fn read_permissions(&mut self, value: Node<'_>, layer: Layer) {
        for (key, kind) in [("allow", RuleKind::Allow), ("ask", RuleKind::Ask), ("deny", RuleKind::Deny)] {
            if let Some(list) = value.get(key) {
                self.read_rules(list, kind, layer);
            }
        }
        if let Some(mode) = value.get("defaultMode") {
            self.read_mode(mode, layer);
        }
    }

    fn read_rules(&mut self, list: Node<'_>, kind: RuleKind, layer: Layer) {
        let Some(elements) = list.as_array() else {
            return self.warn(list, "permission rules are an array of strings".to_owned());
        };
        for element in elements {
            let Some(text) = element.as_str() else {
                self.warn(element, format!("a permission rule is a string, not {}", element.kind()));
                continue;
            };
            match Rule::parse(kind, text, element.origin(), layer.rule_scope()) {
                Ok(rule) if kind == RuleKind::Allow && !layer.is_outside() => {
                    self.folder_rules.push(Arc::new(rule));
                }
                Ok(rule) => self.rules.push(Arc::new(rule)),
                Err(error) => self.warn(element, error.to_string()),
            }
        }
    }

    fn read_mode(&mut self, value: Node<'_>, layer: Layer) {
        let Some(mode) = value.as_str().and_then(|word| Mode::parse(word).ok()) else {
            return self.warn(value, "`permissions.defaultMode` is no known mode".to_owned());
        };
        if !layer.is_outside() && !matches!(mode, Mode::Default | Mode::Plan) {
            let text = format!("a file in the project's folder cannot choose the permission mode `{mode}`");
            return self.warn(value, text);
        }
        self.mode = Some(Spanned { value: mode, origin: value.origin() });
    }

    fn read_policy(&mut self, key: &str, value: Node<'_>, layer: Layer) {
        let owner = match layer {
            Layer::Managed => Owner::Managed,
            Layer::User => Owner::User,
            Layer::CommandLine | Layer::Private | Layer::Local | Layer::Project => {
                return self.warn(value, format!("`{key}` counts only in managed and user settings"));
            }
        };
        if key == "allowManagedMcpServersOnly" {
            return self.read_managed_only(value, owner);
        }
        if key == "requirePinnedPackages" {
            return self.read_required_pins(value, owner);
        }
        if owner == Owner::Managed && value.as_array().is_none() {
            return self.break_policy(value, format!("`{key}` is {}, not a list", value.kind()));
        }
        let (rules, dropped) = Rules::read(value);
        match key {
            "allowedMcpServers" => self.policy.allow(owner, rules),
            _ => self.policy.deny(rules),
        }
        let warnings = dropped.into_iter();
        self.warnings.extend(warnings.map(|warning| Warning {
            text: format!("policy entry left out: {}", warning.fault),
            origin: warning.origin,
        }));
    }

    fn read_managed_only(&mut self, value: Node<'_>, owner: Owner) {
        match (owner, value.as_bool()) {
            (Owner::Managed, Some(true)) => self.policy.allow_managed_only(),
            (Owner::Managed, None) => {
                let text = format!("`allowManagedMcpServersOnly` is {}, not true or false", value.kind());
                self.break_policy(value, text);
            }
            (Owner::Managed | Owner::User, _) => {}
        }
    }

    /// A user may require pins as well, and nobody lifts what another file requires.
    fn read_required_pins(&mut self, value: Node<'_>, owner: Owner) {
        match (owner, value.as_bool()) {
            (_, Some(true)) => self.policy.require_pinned_packages(value.origin()),
            (_, Some(false)) => {}
            (owner, None) => {
                let text = format!("`requirePinnedPackages` is {}, not true or false", value.kind());
                match owner {
                    Owner::Managed => self.break_policy(value, text),
                    Owner::User => self.warn(value, text),
                }
            }
        }
    }

    fn break_policy(&mut self, value: Node<'_>, text: String) {
        self.broken_policy.get_or_insert(Warning { text, origin: value.origin() });
    }

    fn read_plugins(&mut self, value: Node<'_>, layer: Layer) {
        let Some(elements) = value.as_array() else {
            return self.warn(value, "`plugins` is an array of folders".to_owned());
        };
        for element in elements {
            match element.as_str() {
                Some(folder) => {
                    let folder = Spanned { value: folder.to_owned(), origin: element.origin() };
                    self.plugins.push((layer, folder));
                }
                None => self.warn(element, format!("a plugin is a folder's path, not {}", element.kind())),
            }
        }
    }

    /// Anybody may switch a plugin off; only a file outside of the project switches one on.
    fn read_enabled_plugins(&mut self, value: Node<'_>, layer: Layer) {
        let Some(members) = value.as_object() else {
            return self.warn(value, "`enabledPlugins` is an object of plugins and true or false".to_owned());
        };
        for member in members {
            let enabled = member.value.as_bool();
            let counts = enabled.filter(|enabled| !enabled || layer.is_outside());
            self.enabled_plugins.extend(counts.map(|enabled| (member.name.to_owned(), enabled)));
        }
    }

    /// Who names the place gets the token that lets us in there, so only the user and the administrator can.
    fn read_connectors(&mut self, value: Node<'_>, layer: Layer) {
        match layer {
            Layer::Managed | Layer::CommandLine | Layer::User => {}
            Layer::Private | Layer::Local | Layer::Project => {
                return self.warn(value, "`connectors` counts only in managed and user settings".to_owned());
            }
        }
        match value.get("url").map(|url| (url, url.as_str())) {
            Some((url, Some(text))) => {
                self.connectors = Some((layer, Spanned { value: text.to_owned(), origin: url.origin() }));
            }
            Some((_, None)) | None => {
                self.warn(value, r#"`connectors` is written `{"url": "https://…"}`"#.to_owned());
            }
        }
    }

    /// Variables of files below the project folder count once [`Settings::settle_folder_items`] finds them approved.
    fn read_env(&mut self, value: Node<'_>, layer: Layer) {
        for member in value.as_object().into_iter().flatten() {
            let Some(text) = member.value.as_str() else {
                self.warn(member.value, format!("`env.{}` is not a string", member.name));
                continue;
            };
            self.env.push(Variable {
                name: member.name.to_owned(),
                value: Secret::new(text.to_owned()),
                layer,
                origin: member.value.origin(),
            });
        }
    }

    fn names(&mut self, key: &str, value: Node<'_>) -> Vec<Spanned<ServerName>> {
        let Some(elements) = value.as_array() else {
            self.warn(value, format!("`{key}` is an array of server names"));
            return Vec::new();
        };
        let named = |element: Node<'_>| {
            let value = ServerName::new(element.as_str()?);
            Some(Spanned { value, origin: element.origin() })
        };
        elements.filter_map(named).collect()
    }

    fn warn(&mut self, value: Node<'_>, text: String) {
        self.warnings.push(Warning { text, origin: value.origin() });
    }
}

#[cfg(test)]
mod tests;
