//! A snapshot of the names that a typed line may use: servers, tools, prompts, resources.
//!
//! Plain values, so that parsing and completion are pure. Cached lists count: no server is started for them.

use mcparley::Host;
use mcparley::config::BUILT_IN_SERVER;

use super::slash_command::SLASH_COMMANDS;

/// The names that the console knows now.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownNames {
    /// Every configured server, including those that do not run.
    pub(crate) servers: Vec<String>,
    /// Every tool that can be called.
    pub(crate) tools: Vec<KnownTool>,
    /// Every prompt.
    pub(crate) prompts: Vec<KnownPrompt>,
    /// Every resource.
    pub(crate) resources: Vec<KnownResource>,
    /// Every resource template.
    pub(crate) templates: Vec<KnownResource>,
    /// Whether a model is configured, which is sent text that is no command.
    pub(crate) has_model: bool,
}

/// A tool of the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownTool {
    /// The server; `None` for tools of the host.
    pub(crate) server: Option<String>,
    /// The server's name for the tool.
    pub(crate) name: String,
    /// The public name.
    pub(crate) public: String,
    /// The description.
    pub(crate) description: String,
}

/// A prompt of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownPrompt {
    /// The command, without the slash.
    pub(crate) command: String,
    /// The server.
    pub(crate) server: String,
    /// The server's name for the prompt.
    pub(crate) name: String,
    /// The description.
    pub(crate) description: String,
    /// The arguments, in the order of the server, each with its description.
    pub(crate) arguments: Vec<(String, String)>,
}

/// A resource or a resource template of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownResource {
    /// The server.
    pub(crate) server: String,
    /// The URI or URI template.
    pub(crate) uri: String,
    /// The display name.
    pub(crate) title: String,
}

impl KnownNames {
    /// Reads the names from a host, without starting a server.
    pub(crate) fn from_host(host: &Host, has_model: bool) -> Self {
        let loaded = host.loaded_config();
        let planned = loaded.plan.servers.iter().map(|server| server.name.as_str().to_owned());
        let running = host.servers().into_iter().map(|server| server.name.as_str().to_owned());
        let mut servers: Vec<String> = planned.chain(running).collect();
        servers.sort_unstable();
        servers.dedup();
        let resources = host.resources(None).unwrap_or_default();
        let resource = |server: &str, uri: &str, title: Option<&str>, name: &str| KnownResource {
            server: server.to_owned(),
            uri: uri.to_owned(),
            title: title.unwrap_or(name).to_owned(),
        };
        let listed = resources.resources.iter();
        let templates = resources.templates.iter();
        Self {
            servers,
            tools: read_tools(host),
            prompts: read_prompts(host),
            resources: listed
                .map(|it| resource(it.server.as_str(), &it.uri, it.title.as_deref(), &it.name))
                .collect(),
            templates: templates
                .map(|it| resource(it.server.as_str(), &it.uri_template, it.title.as_deref(), &it.name))
                .collect(),
            has_model,
        }
    }

    /// Whether a configured server has this name.
    pub(crate) fn has_server(&self, name: &str) -> bool {
        self.servers.iter().any(|server| server == name)
    }

    /// Whether a server has a tool of this name.
    pub(crate) fn has_tool(&self, server: &str, tool: &str) -> bool {
        self.find_tool(server, tool).is_some()
    }

    /// The tool of a server.
    pub(crate) fn find_tool(&self, server: &str, tool: &str) -> Option<&KnownTool> {
        self.tools_of(server).find(|known| known.name == tool)
    }

    /// The tools of a server.
    pub(crate) fn tools_of(&self, server: &str) -> impl Iterator<Item = &KnownTool> {
        self.tools.iter().filter(move |tool| tool.server.as_deref() == Some(server))
    }

    /// Whether a tool has this public name.
    pub(crate) fn has_public_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.public == name)
    }

    /// Whether a prompt has this command.
    pub(crate) fn has_prompt(&self, command: &str) -> bool {
        self.find_prompt(command).is_some()
    }

    /// The prompt of this command.
    pub(crate) fn find_prompt(&self, command: &str) -> Option<&KnownPrompt> {
        self.prompts.iter().find(|prompt| prompt.command == command)
    }

    /// The names of all slash commands and prompts.
    pub(crate) fn command_names(&self) -> impl Iterator<Item = &str> {
        let commands = SLASH_COMMANDS.iter().map(|command| command.name);
        commands.chain(self.prompts.iter().map(|prompt| prompt.command.as_str()))
    }

    /// Splits `server.tool` at the dot after a server's name.
    ///
    /// Names may have dots of their own, so a split that gives a known tool wins over one that does not.
    pub(crate) fn split_dotted<'w>(&self, word: &'w str) -> Option<(&'w str, &'w str)> {
        let dots = word.match_indices('.').map(|(place, _)| place);
        let splits = dots.filter_map(|place| Some((word.get(..place)?, word.get(place + 1..)?)));
        let splits: Vec<_> =
            splits.filter(|(server, tool)| self.has_server(server) && !tool.is_empty()).collect();
        let known = splits.iter().find(|(server, tool)| self.has_tool(server, tool));
        known.or(splits.first()).copied()
    }
}

fn read_tools(host: &Host) -> Vec<KnownTool> {
    let catalog = host.catalog();
    let entries = catalog.iter().filter(|entry| !catalog.is_denied(entry));
    entries
        .map(|entry| KnownTool {
            server: entry.server().map(|server| server.as_str().to_owned()),
            name: entry.tool.name.as_str().to_owned(),
            public: entry.name.as_str().to_owned(),
            description: entry.tool.description.to_string(),
        })
        .collect()
}

fn read_prompts(host: &Host) -> Vec<KnownPrompt> {
    let describe = |argument: &mcparley::prompt::PromptArgument| {
        (argument.name.clone(), argument.description.clone().unwrap_or_default())
    };
    host.prompts()
        .iter()
        .map(|prompt| KnownPrompt {
            command: prompt.name.as_str().to_owned(),
            server: prompt.server.as_str().to_owned(),
            name: prompt.original.as_str().to_owned(),
            description: prompt.description.clone(),
            arguments: prompt.arguments.iter().map(describe).collect(),
        })
        .collect()
}

/// Whether a server is the built-in one, which no file configures.
pub(crate) fn is_built_in(server: &str) -> bool {
    server == BUILT_IN_SERVER
}
