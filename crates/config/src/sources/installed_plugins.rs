//! Installed plugins of Claude Code: `plugins/installed_plugins.json` in the user's folder.
//!
//! A plugin counts if the user enabled it (`enabledPlugins`), or installed it for this very project. A
//! project's settings enable none: the list is the user's, and a project could choose among them.

use std::path::{Path, PathBuf};

use mcparley_model::document::{JsonDocument, Node};

use super::file::ConfigSource;
use super::{SettingSource, SourceCollector};

impl SourceCollector<'_> {
    /// The folders of the installed plugins that count here.
    pub(super) fn installed_plugins(&mut self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if !self.is_source_wanted(SettingSource::User) {
            return folders;
        }
        let file = self.paths.claude.dir.join("plugins/installed_plugins.json");
        if let Some(opened) = self.open_source(ConfigSource::user_file(file)) {
            self.parse_source(&opened, |this, document| folders = this.enabled_folders(document));
        }
        folders
    }

    fn enabled_folders(&self, document: &JsonDocument<'_>) -> Vec<PathBuf> {
        let plugins = document.root().and_then(|root| root.get("plugins")).and_then(Node::as_object);
        plugins
            .into_iter()
            .flatten()
            .filter_map(|plugin| self.enabled_folder(plugin.name, plugin.value))
            .collect()
    }

    /// The folder of one plugin; an installation for this project takes precedence.
    fn enabled_folder(&self, plugin: &str, installations: Node<'_>) -> Option<PathBuf> {
        let enabled = self.context.settings.enabled_plugins.iter().rev().find(|(name, _)| name == plugin);
        let enabled = enabled.map(|(_, enabled)| *enabled);
        if enabled == Some(false) {
            return None;
        }
        // Version 1 of the file has a single installation instead of a list.
        let all: Vec<Node<'_>> = match installations.as_array() {
            Some(list) => list.collect(),
            None => vec![installations],
        };
        let here = all.iter().find(|node| self.is_for_this_project(**node));
        let everywhere = all.iter().find(|node| node.get("projectPath").is_none() && enabled == Some(true));
        let path = here.or(everywhere)?.get("installPath").and_then(Node::as_str)?;
        Some(PathBuf::from(path)).filter(|path| path.is_absolute())
    }

    fn is_for_this_project(&self, installation: Node<'_>) -> bool {
        let path = installation.get("projectPath").and_then(Node::as_str);
        path.is_some_and(|path| Path::new(path) == self.paths.project)
    }
}
