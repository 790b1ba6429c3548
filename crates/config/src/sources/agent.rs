//! Agent files: markdown whose front matter names, brings and requires servers.
//!
//! The user's files are in `~/.claude/agents`, the repository's in `.claude/agents` of the project. Servers
//! that the repository's agents bring need approval. A file that cannot be used becomes a [`ConfigProblem`]
//! and does not affect the others.

use std::path::Path;

use crate::plan::ServerDeclaration;
use mcparley_model::config::RawServer;
use mcparley_model::document::{JsonDocument, Member, Node};
use mcparley_model::explain::Explain;
use mcparley_model::limits::{AGENT_FILE_BYTES, AGENT_FILES};
use mcparley_model::name::ServerName;
use mcparley_model::scope::{ConfigOrigin, Scope};
use mcparley_model::similar::similar_names;
use mcparley_model::text::display_line;
use mcparley_platform::file as platform_file;

use super::agent_view::suggest_similar;
use super::file::{ConfigProblem, FileTrust, OpenedSource, Severity, open_found};
use super::{RunOptions, SettingSource};
use crate::agent_spec::AgentSpec;
use crate::front_matter;
use crate::paths::Paths;

/// The agents that files describe.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    /// The agents, the user's first; names are unique.
    pub specs: Vec<AgentSpec>,
    /// The files that could not be used.
    pub problems: Vec<ConfigProblem>,
}

/// Reads the agent files. Never fails: problems are part of the result.
#[must_use]
pub fn load_agents(paths: &Paths, run_options: &RunOptions) -> Agents {
    let wanted =
        |source: &SettingSource| run_options.setting_sources.as_ref().is_none_or(|it| it.contains(source));
    let left_out: Vec<SettingSource> = SettingSource::ALL.into_iter().filter(|it| !wanted(it)).collect();
    load_agents_without(paths, &left_out)
}

/// Reads the agent files, for a run that left out some settings.
#[must_use]
pub fn load_agents_without(paths: &Paths, left_out: &[SettingSource]) -> Agents {
    let mut agents = Agents::default();
    if !left_out.contains(&SettingSource::User) {
        agents.read_folder(&paths.user_agents(), Scope::User, FileTrust::Own);
    }
    if let Some(folder) = paths.project_agents()
        && !left_out.contains(&SettingSource::Project)
    {
        agents.read_folder(&folder, Scope::Project, FileTrust::Checked);
    }
    agents
}

impl Agents {
    /// Finds the agent of this name.
    ///
    /// # Errors
    /// When no file describes one.
    pub fn find_agent(&self, name: &str) -> Result<&AgentSpec, UnknownAgent> {
        self.specs.iter().find(|spec| spec.name == name).ok_or_else(|| UnknownAgent {
            name: name.to_owned(),
            similar: similar_names(name, self.specs.iter().map(|spec| spec.name.as_str())),
            problems: self.problems.clone(),
        })
    }

    fn read_folder(&mut self, folder: &Path, scope: Scope, trust: FileTrust) {
        let files = match platform_file::list_dir(folder, ".md", AGENT_FILES) {
            Ok(files) => files,
            Err(error) => return self.problems.push(ConfigProblem::unreadable_file(&error, Severity::Found)),
        };
        for path in files {
            let read = platform_file::read_text(&path, AGENT_FILE_BYTES);
            match open_found(path, trust, &read) {
                Ok(Some(opened)) => self.read_file(&opened, scope),
                // The file was removed after it was listed.
                Ok(None) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    fn read_file(&mut self, opened: &OpenedSource, scope: Scope) {
        let whole = ConfigOrigin::for_source(opened.source.clone());
        let translation = match front_matter::translate_front_matter(&opened.source, &opened.text) {
            Ok(Some(translation)) => translation,
            Ok(None) => {
                let message = "there is no front matter in it".to_owned();
                return self.problems.push(ConfigProblem::in_agent_file(message, whole, FORM));
            }
            Err(error) => return self.problems.push(opened.syntax_problem(&error)),
        };
        let document = match JsonDocument::parse_translation(opened.source.clone(), &translation) {
            Ok(document) => document,
            Err(error) => return self.problems.push(opened.syntax_problem(&error)),
        };
        let root = document.root();
        let Some(name) = root.and_then(|root| root.get("name")).and_then(Node::as_str) else {
            let message = "the agent has no `name`".to_owned();
            return self.problems.push(ConfigProblem::in_agent_file(message, whole, FORM));
        };
        let mut spec = AgentSpec::from_file(name, whole, scope);
        if let Some(root) = root {
            self.read_fields(&mut spec, root);
        }
        self.add_agent(spec);
    }

    fn read_fields(&mut self, spec: &mut AgentSpec, root: Node<'_>) {
        spec.description = root.get("description").and_then(Node::as_str).map(str::to_owned);
        if let Some(servers) = root.get("mcpServers") {
            self.read_servers(spec, servers);
        }
        for key in ["requiredMcpServers", "required"] {
            if let Some(names) = root.get(key) {
                self.read_required(spec, key, names);
            }
        }
    }

    /// Reads `mcpServers`: a list of names and of maps from a name to an entry, or one such map.
    fn read_servers(&mut self, spec: &mut AgentSpec, servers: Node<'_>) {
        if let Some(members) = servers.as_object() {
            return members.for_each(|member| spec.add_declared_server(&member));
        }
        let Some(items) = servers.as_array() else { return self.report_shape("mcpServers", servers) };
        for item in items {
            match (item.as_str(), item.as_object()) {
                (Some(name), _) => spec.shared.get_or_insert_default().push(ServerName::new(name)),
                (None, Some(members)) => members.for_each(|member| spec.add_declared_server(&member)),
                (None, None) => self.report_shape("mcpServers", item),
            }
        }
    }

    fn read_required(&mut self, spec: &mut AgentSpec, key: &str, names: Node<'_>) {
        if let Some(name) = names.as_str() {
            return spec.required.push(ServerName::new(name));
        }
        let Some(items) = names.as_array() else { return self.report_shape(key, names) };
        for item in items {
            match item.as_str() {
                Some(name) => spec.required.push(ServerName::new(name)),
                None => self.report_shape(key, item),
            }
        }
    }

    fn report_shape(&mut self, key: &str, value: Node<'_>) {
        let message = format!("`{key}` has {} where a server name is expected", value.kind());
        self.problems.push(ConfigProblem::in_agent_file(message, value.origin(), FORM));
    }

    /// Adds an agent. The repository's agent replaces the user's of the same name; otherwise the first one
    /// wins.
    fn add_agent(&mut self, spec: AgentSpec) {
        let known = self.specs.iter().position(|known| known.name == spec.name);
        let Some(known) = known.and_then(|place| self.specs.get_mut(place)) else {
            return self.specs.push(spec);
        };
        let (winner, loser) =
            if known.scope() == spec.scope() { (known.clone(), spec) } else { (spec, known.clone()) };
        let message = format!("{} describes an agent `{}` too, and wins", winner.origin, winner.name);
        *known = winner;
        self.problems.push(ConfigProblem::in_agent_file(
            message,
            loser.origin,
            "give one of the two another name",
        ));
    }
}

/// The error for an agent that no file describes.
#[derive(Clone, Debug, thiserror::Error)]
#[error("there is no agent `{}`", display_line(name))]
#[non_exhaustive]
pub struct UnknownAgent {
    /// The agent's name.
    pub name: String,
    /// Similar names.
    pub similar: Vec<String>,
    /// Agent files that could not be read; one of them may describe the agent.
    pub problems: Vec<ConfigProblem>,
}

impl Explain for UnknownAgent {
    fn hint(&self) -> Option<String> {
        match self.problems.first() {
            Some(problem) => Some(format!("cannot read an agent file: {problem}")),
            None => suggest_similar(&self.similar),
        }
    }
}

impl AgentSpec {
    /// Adds a server that the agent file declares.
    fn add_declared_server(&mut self, member: &Member<'_>) {
        self.own.push(ServerDeclaration {
            name: ServerName::new(member.name),
            scope: self.scope(),
            provenance: self.provenance(),
            origin: member.origin(),
            raw: RawServer::from_node(member.name, member.value),
            variables: Vec::new(),
        });
    }
}

/// The expected form of an agent file, as a hint.
const FORM: &str = "an agent's file begins with `---`, `name: …` and, for its servers, `mcpServers:` with a list of \
    names and of `name: {command: …}`";
