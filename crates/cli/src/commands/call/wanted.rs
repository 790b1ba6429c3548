//! Which tool is meant: a server's, or one by its whole name.

use std::sync::Arc;

use mcparley::model::name::{ServerName, ToolName};
use mcparley::{Entry, Host, Loaded, Start};

use crate::args::CallArgs;
use crate::commands::{tools, usable};
use crate::error::CommandError;
use crate::out::Out;

/// The tool, and the words behind it.
pub(super) enum Wanted<'a> {
    Tool { server: &'a str, tool: &'a str, words: &'a [String] },
    Public { name: &'a str, words: &'a [String] },
}

impl<'a> Wanted<'a> {
    pub(super) fn of(args: &'a CallArgs, loaded: &Loaded) -> Result<Self, CommandError> {
        let name = args.target.as_str();
        if usable::is_tool_name(loaded, name) {
            return Ok(Self::Public { name, words: &args.words });
        }
        match args.words.split_first() {
            Some((tool, words)) if !tool.starts_with('-') => Ok(Self::Tool { server: name, tool, words }),
            Some(_) | None => Err(CommandError::usage(
                format!("which tool of `{name}`?"),
                format!("`mcparley tools {name}` shows them"),
            )),
        }
    }

    pub(super) fn words(&self) -> &'a [String] {
        match self {
            Self::Tool { words, .. } | Self::Public { words, .. } => words,
        }
    }

    pub(super) fn start(&self, loaded: &Loaded) -> Start {
        match self {
            Self::Tool { server, .. } => Start::Only(vec![ServerName::new(server)]),
            Self::Public { name, .. } => usable::owners(loaded, name).map_or(Start::AsNeeded, Start::Only),
        }
    }

    /// Waits for the server and looks the tool up.
    pub(super) async fn entry(&self, host: &Host, out: &mut Out) -> Result<Arc<Entry>, CommandError> {
        match self {
            Self::Tool { server, tool, .. } => {
                let server = usable::named(&host.loaded(), &host.servers(), server, out)?;
                let servers = usable::settled(host, out).await;
                usable::usable(&servers, &server, out)?;
                let found = host.catalog().of(&server, &ToolName::new(tool)).cloned();
                found.ok_or_else(|| {
                    tools::no_tool(&host.loaded(), &servers, &host.catalog(), Some(&server), tool)
                })
            }
            Self::Public { name, .. } => {
                let servers = usable::settled(host, out).await;
                let found = host.catalog().get(name).cloned();
                found.ok_or_else(|| tools::no_tool(&host.loaded(), &servers, &host.catalog(), None, name))
            }
        }
    }
}
