//! Agents described by markdown files: their front matter names servers, brings servers and requires servers (X7).
//!
//! The user's stand in `~/.claude/agents`, the repository's in `.claude/agents` of the project. What the repository's
//! bring is the project's word and needs approval. A file that cannot be used is a [`Problem`] and takes nobody else
//! with it.

use std::path::Path;

use mcparley_model::config::RawServer;
use mcparley_model::document::{Document, Member, Node};
use mcparley_model::front_matter;
use mcparley_model::limits::{AGENT_FILE_BYTES, AGENT_FILES};
use mcparley_model::name::ServerName;
use mcparley_model::plan::Declaration;
use mcparley_model::scope::{Origin, Scope};
use mcparley_platform::file as platform_file;

use super::file::{Opened, Problem, Severity, Trust, open_found};
use super::{RunOptions, SettingSource, similar_names};
use crate::agent::{AgentError, AgentSpec};
use crate::paths::Paths;

/// The agents that files describe.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Agents {
    /// The agents, the user's first; no two have one name.
    pub specs: Vec<AgentSpec>,
    /// What could not be used.
    pub problems: Vec<Problem>,
}

/// Reads the files of agents. Never fails: what went wrong stands in the result.
#[must_use]
pub fn agents(paths: &Paths, run_options: &RunOptions) -> Agents {
    let wanted =
        |source: &SettingSource| run_options.setting_sources.as_ref().is_none_or(|it| it.contains(source));
    let left_out: Vec<SettingSource> = SettingSource::ALL.into_iter().filter(|it| !wanted(it)).collect();
    agents_of(paths, &left_out)
}

/// The same for a run that left out some settings.
pub(crate) fn agents_of(paths: &Paths, left_out: &[SettingSource]) -> Agents {
    let mut agents = Agents::default();
    if !left_out.contains(&SettingSource::User) {
        agents.folder(&paths.user_agents(), Scope::User, Trust::Own);
    }
    if let Some(folder) = paths.project_agents()
        && !left_out.contains(&SettingSource::Project)
    {
        agents.folder(&folder, Scope::Project, Trust::Checked);
    }
    agents
}

impl Agents {
    /// The agent of this name.
    ///
    /// # Errors
    /// When no file describes one.
    pub fn named(&self, name: &str) -> Result<&AgentSpec, AgentError> {
        self.specs.iter().find(|spec| spec.name == name).ok_or_else(|| AgentError::Unknown {
            name: name.to_owned(),
            similar: similar_names(name, self.specs.iter().map(|spec| spec.name.as_str())),
            problems: self.problems.clone(),
        })
    }

    fn folder(&mut self, folder: &Path, scope: Scope, trust: Trust) {
        let files = match platform_file::list_dir(folder, ".md", AGENT_FILES) {
            Ok(files) => files,
            Err(error) => return self.problems.push(Problem::unreadable(&error, Severity::Found)),
        };
        for path in files {
            match open_found(path, trust, AGENT_FILE_BYTES) {
                Ok(Some(opened)) => self.file(&opened, scope),
                // It went away in between.
                Ok(None) => {}
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    fn file(&mut self, opened: &Opened, scope: Scope) {
        let whole = Origin::whole(opened.source.clone());
        let translation = match front_matter::translate(&opened.source, &opened.text) {
            Ok(Some(translation)) => translation,
            Ok(None) => {
                let message = "there is no front matter in it".to_owned();
                return self.problems.push(Problem::agent(message, whole, FORM));
            }
            Err(error) => return self.problems.push(opened.problem(&error)),
        };
        let document = match Document::translated(opened.source.clone(), &translation) {
            Ok(document) => document,
            Err(error) => return self.problems.push(opened.problem(&error)),
        };
        let root = document.root();
        let Some(name) = root.and_then(|root| root.get("name")).and_then(Node::as_str) else {
            let message = "the agent has no `name`".to_owned();
            return self.problems.push(Problem::agent(message, whole, FORM));
        };
        let mut spec = AgentSpec::found(name, whole, scope);
        if let Some(root) = root {
            self.read(&mut spec, root);
        }
        self.add(spec);
    }

    fn read(&mut self, spec: &mut AgentSpec, root: Node<'_>) {
        spec.description = root.get("description").and_then(Node::as_str).map(str::to_owned);
        if let Some(servers) = root.get("mcpServers") {
            self.servers(spec, servers);
        }
        for key in ["requiredMcpServers", "required"] {
            if let Some(names) = root.get(key) {
                self.required(spec, key, names);
            }
        }
    }

    /// A list of names and of maps from a name to an entry, or one such map.
    fn servers(&mut self, spec: &mut AgentSpec, servers: Node<'_>) {
        if let Some(members) = servers.as_object() {
            return members.for_each(|member| spec.bring_written(&member));
        }
        let Some(items) = servers.as_array() else { return self.misshapen("mcpServers", servers) };
        for item in items {
            match (item.as_str(), item.as_object()) {
                (Some(name), _) => spec.shared.get_or_insert_default().push(ServerName::new(name)),
                (None, Some(members)) => members.for_each(|member| spec.bring_written(&member)),
                (None, None) => self.misshapen("mcpServers", item),
            }
        }
    }

    fn required(&mut self, spec: &mut AgentSpec, key: &str, names: Node<'_>) {
        if let Some(name) = names.as_str() {
            return spec.required.push(ServerName::new(name));
        }
        let Some(items) = names.as_array() else { return self.misshapen(key, names) };
        for item in items {
            match item.as_str() {
                Some(name) => spec.required.push(ServerName::new(name)),
                None => self.misshapen(key, item),
            }
        }
    }

    fn misshapen(&mut self, key: &str, value: Node<'_>) {
        let message = format!("`{key}` has {} where a server is named", value.kind());
        self.problems.push(Problem::agent(message, value.origin(), FORM));
    }

    /// The repository's agent takes the place of the user's of that name; else the first one counts.
    fn add(&mut self, spec: AgentSpec) {
        let known = self.specs.iter().position(|known| known.name == spec.name);
        let Some(known) = known.and_then(|place| self.specs.get_mut(place)) else {
            return self.specs.push(spec);
        };
        let (winner, loser) =
            if known.scope() == spec.scope() { (known.clone(), spec) } else { (spec, known.clone()) };
        let message = format!("{} describes an agent `{}` too, and wins", winner.origin, winner.name);
        *known = winner;
        self.problems.push(Problem::agent(message, loser.origin, "give one of the two another name"));
    }
}

impl AgentSpec {
    /// Brings a server along as a file has it.
    fn bring_written(&mut self, member: &Member<'_>) {
        self.own.push(Declaration {
            name: ServerName::new(member.name),
            scope: self.scope(),
            provenance: self.provenance(),
            origin: member.origin(),
            raw: RawServer::read(member.name, member.value),
            variables: Vec::new(),
        });
    }
}

/// What a file of an agent looks like.
const FORM: &str = "an agent's file begins with `---`, `name: …` and, for its servers, `mcpServers:` with a list of \
    names and of `name: {command: …}`";
