//! The tool to call, given as server and tool or by its full name.

use std::sync::Arc;

use mcparley::Host;
use mcparley::catalog::CatalogEntry;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::name::{ServerName, ToolName, normalize_server};
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
        // The prefix that all full names share must not make them similar.
        let (server, prefix, tool) = match self {
            Self::Tool { server, tool, .. } => (ServerName::new(server), String::new(), *tool),
            Self::Public { name, .. } => match usable::owning_server(&host.loaded_config(), name) {
                Some(server) => {
                    let prefix = format!("mcp__{}__", normalize_server(&server));
                    (server, prefix, *name)
                }
                None => return Ok(()),
            },
        };
        let (catalog, is_public) = (host.catalog(), matches!(self, Self::Public { .. }));
        let known = catalog.iter().filter(|entry| entry.server() == Some(&server));
        let names: Vec<&str> = known
            .filter_map(|entry| match is_public {
                true => entry.name.as_str().strip_prefix(&prefix),
                false => Some(entry.tool.name.as_str()),
            })
            .collect();
        let own = tool.strip_prefix(&prefix).unwrap_or(tool);
        let similar = match names.contains(&own) {
            true => Vec::new(),
            false => similar_spellings(own, names.into_iter()),
        };
        let named = (!is_public).then_some(&server);
        if similar.is_empty() || tools::withheld_reason(&catalog, named, tool).is_some() {
            return Ok(());
        }
        let similar = similar.into_iter().map(|name| format!("{prefix}{name}")).collect();
        let because = format!("the cached list of `{server}` does not have it");
        Err(CommandError::NoTool { tool: tool.to_owned(), because: Some(because), similar })
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
                let mut servers = usable::wait_until_settled(host, out).await;
                let owner = usable::owning_server(&host.loaded_config(), name);
                if let Some(owner) = owner.filter(|_| host.catalog().get(name).is_none()) {
                    servers = usable::settle_with_sign_in(host, &owner, out).await?;
                }
                let found = host.catalog().get(name).cloned();
                found.ok_or_else(|| {
                    tools::no_tool_error(&host.loaded_config(), &servers, &host.catalog(), None, name)
                })
            }
        }
    }
}
