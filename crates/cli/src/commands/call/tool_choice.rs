//! The tool to call, given as server and tool or by its full name.

use std::sync::Arc;

use mcparley::Host;
use mcparley::catalog::CatalogEntry;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::name::{ServerName, ToolName};
use mcparley_console::arguments::similar_spellings;

use crate::args::CallArgs;
use crate::commands::{tools, usable};
use crate::error::{CommandError, UsageError};
use crate::out::TerminalOutput;

/// The tool to call, and the words after it.
pub(super) enum CallTarget<'a> {
    Tool { server: &'a str, tool: &'a str, words: &'a [String] },
    Public { name: &'a str, words: &'a [String] },
}

impl<'a> CallTarget<'a> {
    pub(super) fn from_args(args: &'a CallArgs, loaded: &LoadedConfig) -> Result<Self, UsageError> {
        let name = args.target.as_str();
        if usable::is_tool_name(loaded, name) {
            return Ok(Self::Public { name, words: &args.words });
        }
        match args.words.split_first() {
            Some((tool, words)) if !tool.starts_with('-') => Ok(Self::Tool { server: name, tool, words }),
            Some(_) | None => Err(UsageError::ToolMissing { server: name.to_owned() }),
        }
    }

    pub(super) fn argument_words(&self) -> &'a [String] {
        match self {
            Self::Tool { words, .. } | Self::Public { words, .. } => words,
        }
    }

    pub(super) fn servers_to_start(&self, loaded: &LoadedConfig) -> StartPolicy {
        match self {
            Self::Tool { server, .. } => StartPolicy::Only(vec![ServerName::new(server)]),
            Self::Public { name, .. } => {
                usable::owning_servers(loaded, name).map_or(StartPolicy::AsNeeded, StartPolicy::Only)
            }
        }
    }

    /// Checks the tool against the cached list of its server, before the server is started. A tool that the list
    /// does not have is refused only if it looks mistyped: the server may have new tools.
    pub(super) fn check_spelling(&self, host: &Host) -> Result<(), CommandError> {
        let Self::Tool { server, tool, .. } = self else { return Ok(()) };
        let catalog = host.catalog();
        let known = catalog.iter().filter(|entry| entry.server().is_some_and(|it| it.as_str() == *server));
        let names: Vec<&str> = known.map(|entry| entry.tool.name.as_str()).collect();
        let similar = match names.contains(tool) {
            true => Vec::new(),
            false => similar_spellings(tool, names.into_iter()),
        };
        let withheld = |server: &ServerName| tools::withheld_reason(&catalog, Some(server), tool).is_some();
        if similar.is_empty() || withheld(&ServerName::new(server)) {
            return Ok(());
        }
        let because = format!("the cached list of `{server}` does not have it");
        Err(CommandError::NoTool { tool: (*tool).to_owned(), because: Some(because), similar })
    }

    /// Waits for the server and looks up the tool in the catalog.
    pub(super) async fn find_entry(
        &self,
        host: &Host,
        out: &mut TerminalOutput,
    ) -> Result<Arc<CatalogEntry>, CommandError> {
        match self {
            Self::Tool { server, tool, .. } => {
                let server = usable::find_server(&host.loaded_config(), &host.servers(), server, out)?;
                let servers = usable::wait_until_usable(host, &server, out).await?;
                let found = host.catalog().find_tool(&server, &ToolName::new(tool)).cloned();
                found.ok_or_else(|| {
                    tools::no_tool_error(
                        &host.loaded_config(),
                        &servers,
                        &host.catalog(),
                        Some(&server),
                        tool,
                    )
                })
            }
            Self::Public { name, .. } => {
                let servers = usable::wait_until_settled(host, out).await;
                let found = host.catalog().get(name).cloned();
                found.ok_or_else(|| {
                    tools::no_tool_error(&host.loaded_config(), &servers, &host.catalog(), None, name)
                })
            }
        }
    }
}
