//! Plugins: folders that bring servers.
//!
//! A plugin's servers are named `plugin:<plugin>:<server>`, so they never collide with the user's names.
//! Their entries may use `${CLAUDE_PLUGIN_ROOT}` and `${CLAUDE_PLUGIN_DATA}`.

use std::path::{Path, PathBuf};

use mcparley_model::approval::Provenance;
use mcparley_model::document::{JsonDocument, Node};
use mcparley_model::scope::{Scope, Source};
use mcparley_model::settings::SettingsLayer;

use super::SourceCollector;
use super::file::{ConfigProblem, ConfigSource, Severity};

/// The paths of a plugin's manifest, in order of preference.
const MANIFESTS: [&str; 2] = [".claude-plugin/plugin.json", "plugin.json"];

impl SourceCollector<'_> {
    pub(super) fn read_plugins(&mut self) {
        let given = self.run_options.plugin_dirs.iter();
        let given = given.map(|dir| (self.paths.cwd.join(dir), Severity::Given, Provenance::Own));
        let configured = self.context.settings.plugins.iter().map(|(layer, entry)| {
            let base = entry.origin.source.path().and_then(Path::parent).unwrap_or(&self.paths.cwd);
            let folder = resolve_folder(&entry.value, &self.paths.home, base);
            let provenance = self.provenance_of_plugin(*layer, &folder);
            (folder, Severity::Found, provenance)
        });
        let mut folders: Vec<(PathBuf, Severity, Provenance)> = given.chain(configured).collect();
        let installed = self.installed_plugins().into_iter();
        folders.extend(installed.map(|folder| (folder, Severity::Found, Provenance::Own)));
        for (folder, severity, provenance) in folders {
            self.read_plugin(&folder, severity, provenance);
        }
    }

    /// The possible author of a plugin's servers.
    ///
    /// They need approval if the project folder names the plugin, or contains it, even if the user names it.
    fn provenance_of_plugin(&self, layer: SettingsLayer, folder: &Path) -> Provenance {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let names_it = matches!(layer, SettingsLayer::Local | SettingsLayer::Project);
        let holds_it = !self.paths.is_home_or_root() && self.paths.is_in_project(&folder);
        if names_it || holds_it { Provenance::Folder } else { Provenance::Own }
    }

    fn read_plugin(&mut self, folder: &Path, severity: Severity, provenance: Provenance) {
        if !folder.is_dir() {
            let message = "there is no such plugin folder".to_owned();
            return self.problems.push(ConfigProblem::in_plugin(
                message,
                Source::from_path(folder),
                severity,
            ));
        }
        let before = self.declarations.len();
        let mut plugin = Plugin::new(folder, provenance, &self.paths.plugin_data);
        for manifest in MANIFESTS {
            if let Some(opened) = self.open_source(ConfigSource::checked_file(folder.join(manifest))) {
                self.parse_source(&opened, |this, document| this.read_plugin_manifest(&mut plugin, document));
                break;
            }
        }
        self.read_server_file(&plugin, &folder.join(".mcp.json"));
        let found_nothing = self.declarations.len() == before;
        if found_nothing && severity == Severity::Given {
            let message = "the plugin brings no servers".to_owned();
            self.problems.push(ConfigProblem::in_plugin(message, Source::from_path(folder), Severity::Found));
        }
    }

    /// Reads `plugin.json`: a name, and servers either inline or in another file of the plugin.
    fn read_plugin_manifest(&mut self, plugin: &mut Plugin, document: &JsonDocument<'_>) {
        let Some(root) = document.root() else { return };
        if let Some(name) = root.get("name").and_then(Node::as_str) {
            plugin.set_name(name, &self.paths.plugin_data);
        }
        let Some(servers) = root.get("mcpServers") else { return };
        match servers.as_str() {
            Some(path) if leaves_plugin(path, &plugin.root) => {
                let message = format!("`mcpServers` points outside of the plugin: `{path}`");
                self.problems.push(ConfigProblem::in_plugin(
                    message,
                    document.source().clone(),
                    Severity::Found,
                ));
            }
            Some(path) => self.read_server_file(plugin, &plugin.root.join(path)),
            None => self.declare_plugin_servers(plugin, servers),
        }
    }

    /// Reads a file of servers, with or without the `mcpServers` object around them.
    fn read_server_file(&mut self, plugin: &Plugin, path: &Path) {
        let Some(opened) = self.open_source(ConfigSource::checked_file(path.to_owned())) else { return };
        self.parse_source(&opened, |this, document| {
            let Some(root) = document.root() else { return };
            this.declare_plugin_servers(plugin, root.get("mcpServers").unwrap_or(root));
        });
    }

    fn declare_plugin_servers(&mut self, plugin: &Plugin, servers: Node<'_>) {
        let name = |server: &str| format!("plugin:{}:{server}", plugin.name);
        self.add_declarations(servers, (Scope::Plugin, plugin.provenance), name, &plugin.variables);
    }
}

struct Plugin {
    name: String,
    root: PathBuf,
    provenance: Provenance,
    variables: Vec<(String, String)>,
}

impl Plugin {
    fn new(root: &Path, provenance: Provenance, data: &Path) -> Self {
        let name = root.file_name().map_or_else(|| "plugin".into(), |name| name.to_string_lossy());
        let (root, variables) = (root.to_owned(), Vec::new());
        let mut plugin = Self { name: String::new(), root, provenance, variables };
        plugin.set_name(&name, data);
        plugin
    }

    fn set_name(&mut self, name: &str, data: &Path) {
        // The name becomes a folder, so it must not lead out of the parent folder.
        let safe: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        name.clone_into(&mut self.name);
        self.variables = vec![
            ("CLAUDE_PLUGIN_ROOT".to_owned(), self.root.to_string_lossy().into_owned()),
            ("CLAUDE_PLUGIN_DATA".to_owned(), data.join(safe).to_string_lossy().into_owned()),
        ];
    }
}

fn resolve_folder(text: &str, home: &Path, base: &Path) -> PathBuf {
    match text.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => base.join(text),
    }
}

/// Whether a path leads out of the plugin, by its components or through a symbolic link.
fn leaves_plugin(path: &str, root: &Path) -> bool {
    use std::path::Component;
    let climbs =
        Path::new(path).components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    let leaves = match (root.join(path).canonicalize(), root.canonicalize()) {
        (Ok(target), Ok(root)) => !target.starts_with(root),
        // A path that does not exist cannot lead out.
        (Err(_), _) | (_, Err(_)) => false,
    };
    climbs || leaves
}
