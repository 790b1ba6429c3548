//! The tool to call, given as server and tool or by its full name.

use std::sync::Arc;

use mcparley::Host;
use mcparley::catalog::CatalogEntry;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::name::{ServerName, ToolName};

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

    pub(super) fn words(&self) -> &'a [String] {
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
