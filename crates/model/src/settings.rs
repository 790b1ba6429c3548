//! Reads settings files: which layer may set which key about servers, permissions and policy.
//!
//! The same keys mean different things in different files, because the files have different authors. A
//! [`SettingsLayer`] names the author; a key that a layer may not set is ignored with a warning, never
//! silently.

mod audit;
mod classifier;
mod folder;
mod gateway;
mod hooks;
mod identity;
mod pin;
mod search;

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::approval::{ApprovalChoices, WaitingItem};
use crate::config::Spanned;
use crate::document::Node;
use crate::glob::Glob;
use crate::hook::HookSet;
use crate::name::ServerName;
use crate::permission::{PermissionMode, PermissionRule, RuleKind, RuleScope};
use crate::policy::{Policy, PolicyList, PolicyOwner};
use crate::scope::ConfigOrigin;
use crate::secret::Secret;

pub use audit::AuditSetting;
pub use classifier::ClassifierCommand;
pub use gateway::{TokenIssuer, ViewPrefix, ViewSettings};
pub use identity::IdentityProvider;
pub use pin::ToolPinSettings;

/// The layer of a settings file: its author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsLayer {
    /// The machine's administrator.
    Managed,
    /// `--settings` and other options of this run.
    CommandLine,
    /// The user, for all projects.
    User,
    /// The user, for this project, in a file outside of it (`projects` of `~/.claude.json`).
    Private,
    /// A file below the project folder that is meant for one user (`.claude/settings.local.json`).
    Local,
    /// The author of the repository (`.claude/settings.json`).
    Project,
}

impl SettingsLayer {
    /// Whether this layer is outside the project folder, so that it may approve a server, a mode or a
    /// plugin: the author of a folder cannot write these files.
    #[must_use]
    pub fn is_outside_project(self) -> bool {
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

/// The settings of all layers, merged.
#[derive(Clone, Debug, Default)]
pub struct MergedSettings {
    /// Approvals and rejections of project servers.
    pub choices: ApprovalChoices,
    /// `disabledMcpServers`: disabled servers.
    pub disabled: Vec<Spanned<ServerName>>,
    /// `permissions.allow`, `.ask` and `.deny`.
    pub rules: Vec<Arc<PermissionRule>>,
    /// `permissions.allow` of files below the project folder, until [`MergedSettings::apply_approvals`]
    /// decides.
    pub folder_rules: Vec<Arc<PermissionRule>>,
    /// Variables and allow rules of the folder that wait for approval.
    pub waiting: Vec<WaitingItem>,
    /// `permissions.defaultMode`; a layer read later wins.
    pub mode: Option<Spanned<PermissionMode>>,
    /// `autoClassifier`: the command that decides in mode `auto`.
    pub classifier: Option<Spanned<ClassifierCommand>>,
    /// The tools that are offered, as globs of `server`, `server__tool` or `mcp__server__tool`; none means all
    /// (`serve --tools`).
    pub offered_tools: Vec<Glob>,
    /// `toolPin`: the reaction to tools with changed definitions.
    pub pins: ToolPinSettings,
    /// `allowedMcpServers`, `deniedMcpServers`, `allowManagedMcpServersOnly`, `requirePinnedPackages`.
    pub policy: Policy,
    /// `plugins`: folders to load plugins from, each with its layer.
    pub plugins: Vec<(SettingsLayer, Spanned<String>)>,
    /// `enabledPlugins`: installed plugins that were enabled or disabled, the strongest layer last.
    pub enabled_plugins: Vec<(String, bool)>,
    /// `connectors.url`: the URL that lists the organization's connectors, with its layer.
    pub connectors: Option<(SettingsLayer, Spanned<String>)>,
    /// `xaaIdp`: the identity provider, for servers with cross-application sign-in (XAA).
    pub identity: Option<Spanned<IdentityProvider>>,
    /// `tokenIssuer`: the issuer whose tokens a gateway over HTTP accepts.
    pub token_issuer: Option<Spanned<TokenIssuer>>,
    /// `gateways`: the views of a gateway over HTTP.
    pub gateways: Vec<Spanned<ViewSettings>>,
    /// `hooks`: commands that run beside calls.
    pub hooks: HookSet,
    /// `audit`: whether calls are recorded, and in which file.
    pub audit: Option<Spanned<AuditSetting>>,
    /// `search.vectors`: the folder with the word vectors of the tool search.
    pub search_vectors: Option<Spanned<PathBuf>>,
    /// `env`: variables for expansion and for our own limits.
    pub env: Vec<SettingsVariable>,
    /// Warnings about ignored settings.
    pub warnings: Vec<SettingsWarning>,
    /// A managed policy that cannot be parsed; the servers it would have forbidden are unknown.
    pub broken_policy: Option<SettingsWarning>,
}

/// An environment variable set by settings.
#[derive(Clone, Debug)]
pub struct SettingsVariable {
    /// The variable's name.
    pub name: String,
    /// The variable's value.
    pub value: Secret<String>,
    /// The layer that sets it.
    pub layer: SettingsLayer,
    /// The location of the setting.
    pub origin: ConfigOrigin,
}

/// A warning about a setting that is ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingsWarning {
    /// The setting, and the reason why it is ignored.
    pub text: String,
    /// The location of the setting.
    pub origin: ConfigOrigin,
}

impl MergedSettings {
    /// Merges the settings in `root`. Layers must be read from the weakest to the strongest.
    pub fn read_layer(&mut self, root: Node<'_>, layer: SettingsLayer) {
        let Some(members) = root.as_object() else {
            return self.add_warning(root, format!("settings are an object, not {}", root.kind()));
        };
        for member in members {
            let value = member.value;
            match member.name {
                "enabledMcpjsonServers" => self.read_enabled_servers(value, layer),
                "disabledMcpjsonServers" => {
                    let rejected = self.read_server_names("disabledMcpjsonServers", value);
                    self.choices.rejected.extend(rejected);
                }
                "hasTrustDialogAccepted"
                    if layer == SettingsLayer::Private && value.as_bool() == Some(true) =>
                {
                    self.choices.claude_code.trusted = Some(value.origin());
                }
                "enableAllProjectMcpServers" => self.read_enable_all(value, layer),
                "disabledMcpServers" => {
                    let disabled = self.read_server_names("disabledMcpServers", value);
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
                "tokenIssuer" => self.read_token_issuer(value, layer),
                "gateways" => self.read_gateways(value, layer),
                "env" => self.read_env(value, layer),
                "audit" => self.read_audit(value, layer),
                "search" => self.read_search(value, layer),
                key if HookSet::KEYS.contains(&key) => self.read_hook_settings(key, value, layer),
                _ => {}
            }
        }
    }

    fn read_enabled_servers(&mut self, value: Node<'_>, layer: SettingsLayer) {
        let names = self.read_server_names("enabledMcpjsonServers", value);
        match layer {
            SettingsLayer::Managed => self.choices.managed.extend(names),
            SettingsLayer::Private => self.choices.claude_code.enabled.extend(names),
            SettingsLayer::CommandLine | SettingsLayer::User => self.choices.by_name.extend(names),
            SettingsLayer::Local | SettingsLayer::Project => self.choices.claimed.extend(names),
        }
        if layer == SettingsLayer::Project {
            self.add_warning(value, "a repository cannot approve its own servers".to_owned());
        }
    }

    fn read_enable_all(&mut self, value: Node<'_>, layer: SettingsLayer) {
        match (value.as_bool(), layer) {
            (Some(true), SettingsLayer::Managed) => self.choices.enable_all = Some(value.origin()),
            (Some(true), SettingsLayer::CommandLine | SettingsLayer::User | SettingsLayer::Private) => self
                .add_warning(
                    value,
                    "`enableAllProjectMcpServers` counts only in managed settings; see `mcparley trust`"
                        .to_owned(),
                ),
            (Some(true), SettingsLayer::Local | SettingsLayer::Project) => self.add_warning(
                value,
                "a file in the project's folder cannot approve the project's servers".to_owned(),
            ),
            (Some(false), _) => {}
            (None, _) => {
                self.add_warning(value, "`enableAllProjectMcpServers` is neither true nor false".to_owned());
            }
        }
    }

    fn read_permissions(&mut self, value: Node<'_>, layer: SettingsLayer) {
        for (key, kind) in [("allow", RuleKind::Allow), ("ask", RuleKind::Ask), ("deny", RuleKind::Deny)] {
            if let Some(list) = value.get(key) {
                self.read_rules(list, kind, layer);
            }
        }
        if let Some(mode) = value.get("defaultMode") {
            self.read_mode(mode, layer);
        }
    }

    fn read_rules(&mut self, list: Node<'_>, kind: RuleKind, layer: SettingsLayer) {
        let Some(elements) = list.as_array() else {
            return self.add_warning(list, "permission rules are an array of strings".to_owned());
        };
        for element in elements {
            let Some(text) = element.as_str() else {
                self.add_warning(element, format!("a permission rule is a string, not {}", element.kind()));
                continue;
            };
            match PermissionRule::parse(kind, text, element.origin(), layer.rule_scope()) {
                Ok(rule) if kind == RuleKind::Allow && !layer.is_outside_project() => {
                    self.folder_rules.push(Arc::new(rule));
                }
                Ok(rule) => self.rules.push(Arc::new(rule)),
                Err(error) => self.add_warning(element, error.to_string()),
            }
        }
    }

    fn read_mode(&mut self, value: Node<'_>, layer: SettingsLayer) {
        let Some(mode) = value.as_str().and_then(|word| PermissionMode::parse(word).ok()) else {
            return self.add_warning(value, "`permissions.defaultMode` is not a known mode".to_owned());
        };
        if !layer.is_outside_project() && !matches!(mode, PermissionMode::Default | PermissionMode::Plan) {
            let text = format!("a file in the project's folder cannot choose the permission mode `{mode}`");
            return self.add_warning(value, text);
        }
        self.mode = Some(Spanned { value: mode, origin: value.origin() });
    }

    fn read_policy(&mut self, key: &str, value: Node<'_>, layer: SettingsLayer) {
        let owner = match layer {
            SettingsLayer::Managed => PolicyOwner::Managed,
            SettingsLayer::User => PolicyOwner::User,
            SettingsLayer::CommandLine
            | SettingsLayer::Private
            | SettingsLayer::Local
            | SettingsLayer::Project => {
                return self.add_warning(value, format!("`{key}` counts only in managed and user settings"));
            }
        };
        if key == "allowManagedMcpServersOnly" {
            return self.read_managed_only(value, owner);
        }
        if key == "requirePinnedPackages" {
            return self.read_required_pins(value, owner);
        }
        if owner == PolicyOwner::Managed && value.as_array().is_none() {
            return self.mark_policy_broken(value, format!("`{key}` is {}, not a list", value.kind()));
        }
        let (rules, dropped) = PolicyList::from_node(value);
        match key {
            "allowedMcpServers" => self.policy.add_allow_list(owner, rules),
            _ => self.policy.add_deny_list(rules),
        }
        let warnings = dropped.into_iter();
        self.warnings.extend(warnings.map(|warning| SettingsWarning {
            text: format!("policy entry left out: {}", warning.fault),
            origin: warning.origin,
        }));
    }

    fn read_managed_only(&mut self, value: Node<'_>, owner: PolicyOwner) {
        match (owner, value.as_bool()) {
            (PolicyOwner::Managed, Some(true)) => self.policy.allow_managed_only(),
            (PolicyOwner::Managed, None) => {
                let text = format!("`allowManagedMcpServersOnly` is {}, not true or false", value.kind());
                self.mark_policy_broken(value, text);
            }
            (PolicyOwner::Managed | PolicyOwner::User, _) => {}
        }
    }

    /// Reads `requirePinnedPackages`, which the user may set as well; no file lifts the requirement of
    /// another.
    fn read_required_pins(&mut self, value: Node<'_>, owner: PolicyOwner) {
        match (owner, value.as_bool()) {
            (_, Some(true)) => self.policy.require_pinned_packages(value.origin()),
            (_, Some(false)) => {}
            (owner, None) => {
                let text = format!("`requirePinnedPackages` is {}, not true or false", value.kind());
                match owner {
                    PolicyOwner::Managed => self.mark_policy_broken(value, text),
                    PolicyOwner::User => self.add_warning(value, text),
                }
            }
        }
    }

    fn mark_policy_broken(&mut self, value: Node<'_>, text: String) {
        self.broken_policy.get_or_insert(SettingsWarning { text, origin: value.origin() });
    }

    fn read_plugins(&mut self, value: Node<'_>, layer: SettingsLayer) {
        let Some(elements) = value.as_array() else {
            return self.add_warning(value, "`plugins` is an array of folders".to_owned());
        };
        for element in elements {
            match element.as_str() {
                Some(folder) => {
                    let folder = Spanned { value: folder.to_owned(), origin: element.origin() };
                    self.plugins.push((layer, folder));
                }
                None => {
                    self.add_warning(element, format!("a plugin is a folder's path, not {}", element.kind()))
                }
            }
        }
    }

    /// Reads `enabledPlugins`. Any layer may disable a plugin; only a file outside of the project enables
    /// one.
    fn read_enabled_plugins(&mut self, value: Node<'_>, layer: SettingsLayer) {
        let Some(members) = value.as_object() else {
            return self
                .add_warning(value, "`enabledPlugins` is an object of plugins and true or false".to_owned());
        };
        for member in members {
            let enabled = member.value.as_bool();
            let counts = enabled.filter(|enabled| !enabled || layer.is_outside_project());
            self.enabled_plugins.extend(counts.map(|enabled| (member.name.to_owned(), enabled)));
        }
    }

    /// Reads `connectors`. The server at that URL receives our access token, so only the user and the
    /// administrator may set it.
    fn read_connectors(&mut self, value: Node<'_>, layer: SettingsLayer) {
        match layer {
            SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User => {}
            SettingsLayer::Private | SettingsLayer::Local | SettingsLayer::Project => {
                return self
                    .add_warning(value, "`connectors` counts only in managed and user settings".to_owned());
            }
        }
        match value.get("url").map(|url| (url, url.as_str())) {
            Some((url, Some(text))) => {
                self.connectors = Some((layer, Spanned { value: text.to_owned(), origin: url.origin() }));
            }
            Some((_, None)) | None => {
                self.add_warning(value, r#"`connectors` is written `{"url": "https://…"}`"#.to_owned());
            }
        }
    }

    /// Reads `env`. Variables of files below the project folder apply once
    /// [`MergedSettings::apply_approvals`] finds them approved.
    fn read_env(&mut self, value: Node<'_>, layer: SettingsLayer) {
        for member in value.as_object().into_iter().flatten() {
            let Some(text) = member.value.as_str() else {
                self.add_warning(member.value, format!("`env.{}` is not a string", member.name));
                continue;
            };
            self.env.push(SettingsVariable {
                name: member.name.to_owned(),
                value: Secret::new(text.to_owned()),
                layer,
                origin: member.value.origin(),
            });
        }
    }

    fn read_server_names(&mut self, key: &str, value: Node<'_>) -> Vec<Spanned<ServerName>> {
        let Some(elements) = value.as_array() else {
            self.add_warning(value, format!("`{key}` is an array of server names"));
            return Vec::new();
        };
        let named = |element: Node<'_>| {
            let value = ServerName::new(element.as_str()?);
            Some(Spanned { value, origin: element.origin() })
        };
        elements.filter_map(named).collect()
    }

    fn add_warning(&mut self, value: Node<'_>, text: String) {
        self.warnings.push(SettingsWarning { text, origin: value.origin() });
    }
}

#[cfg(test)]
mod tests;
