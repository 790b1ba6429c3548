//! Tool search across all servers: waits a moment for connecting ones, and reports which are missing and
//! why.
//!
//! The ranking is in the catalog; the answer for a model is in `answer`; `prepare` builds the index ahead of the
//! first search.

mod answer;
mod prepare;

pub use crate::search_vectors::SearchVectorsError;

use std::sync::Arc;

use mcparley_model::limits::{SEARCH_ERROR_CHARS, SEARCH_WAIT};
use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::text::{Untrusted, clean_text, truncate_text};
use tokio::task::JoinSet;

use crate::host::{Host, HostServer};
use mcparley_catalog::{Catalog, SearchQuery, SearchResults, SignInTool, ToolProvider};
use mcparley_pool::connection::{Connection, ServerStatus, State};

/// The result of a tool search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolSearchResult {
    /// The tools that match.
    pub found: SearchResults,
    /// The servers whose tools could not be searched, or not all of them.
    pub missing: Vec<UnsearchedServer>,
}

/// A server whose tools could not be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsearchedServer {
    /// The server.
    pub server: ServerName,
    /// The reason.
    pub why: UnsearchedReason,
}

/// The reason why the tools of a server could not be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsearchedReason {
    /// The server was still connecting when the wait ended.
    Pending,
    /// The server failed.
    Failed {
        /// The error, sanitized and shortened. It may be text of the server.
        error: Untrusted,
    },
    /// The server requires a sign-in.
    NeedsAuth {
        /// The tool that starts a sign-in.
        authenticate: Option<PublicName>,
    },
    /// The server is connected, but did not list its tools.
    Unlisted {
        /// The error, sanitized and shortened. It may be text of the server.
        error: Untrusted,
    },
}

impl Host {
    /// The fault of the word vectors for tool search: after the first search, or after
    /// [`Host::check_search_vectors`]. Tools are searched by words alone then.
    #[must_use]
    pub fn search_vectors_error(&self) -> Option<SearchVectorsError> {
        self.search_vectors()?.error()
    }

    /// Reads the word vectors for tool search, unless they were read before.
    ///
    /// # Errors
    /// The fault of their files.
    pub fn check_search_vectors(&self) -> Result<(), SearchVectorsError> {
        if let Some(vectors) = self.search_vectors() {
            vectors.read();
        }
        self.search_vectors_error().map_or(Ok(()), Err)
    }
}

impl Host {
    /// Searches for tools.
    ///
    /// Waits at most five seconds for connecting servers, and connects those whose tools are not known.
    /// Tools that are selected by name and known are found at once.
    pub async fn search_tools(&self, query: &SearchQuery) -> ToolSearchResult {
        if query.is_selection() {
            let found = self.catalog().search_tools(query);
            if found.unfound.is_empty() {
                return ToolSearchResult { found, missing: Vec::new() };
            }
        }
        // Servers that are not connected in time are reported as missing.
        let _late = tokio::time::timeout(SEARCH_WAIT, self.connect_unknown_servers(query.server())).await;
        let catalog = self.catalog();
        let found = catalog.search_tools(query);
        ToolSearchResult { found, missing: unsearched_servers(&self.servers(), &catalog, query.server()) }
    }

    /// Connects the servers whose tools are not known, and waits for those that are connecting.
    async fn connect_unknown_servers(&self, only: Option<&ServerName>) {
        let mut reaching = JoinSet::new();
        let is_wanted = |connection: &&Arc<Connection>| only.is_none_or(|only| *only == connection.name);
        for connection in self.roster().connections().filter(is_wanted) {
            if is_unknown(&connection.state()) {
                let connection = Arc::clone(connection);
                reaching.spawn(async move { connection.lease().await.is_ok() });
            }
        }
        while reaching.join_next().await.is_some() {}
        self.wait_until_settled().await;
    }
}

/// Whether a server was never connected, so that its tools are not known.
fn is_unknown(state: &State) -> bool {
    let surface = &state.surface;
    let has_nothing = surface.tools.is_empty() && surface.prompts.is_empty() && surface.resources.is_empty();
    matches!(state.status, ServerStatus::Dormant) && has_nothing
}

/// The servers whose tools are not all in the catalog. Disabled servers are not reported.
fn unsearched_servers(
    servers: &[HostServer],
    catalog: &Catalog,
    only: Option<&ServerName>,
) -> Vec<UnsearchedServer> {
    let wanted = servers.iter().filter(|server| only.is_none_or(|only| *only == server.name));
    let absent = |server: &HostServer| {
        let why = unsearched_reason(server, catalog)?;
        Some(UnsearchedServer { server: server.name.clone(), why })
    };
    wanted.filter_map(absent).collect()
}

fn unsearched_reason(server: &HostServer, catalog: &Catalog) -> Option<UnsearchedReason> {
    let shorten = |text: &str| Untrusted::new(truncate_text(&clean_text(text), SEARCH_ERROR_CHARS));
    match &server.state.status {
        ServerStatus::Connected { .. } => {
            let gap = server.state.surface.gaps.iter().find(|gap| gap.method == "tools/list")?;
            Some(UnsearchedReason::Unlisted { error: shorten(&gap.to_string()) })
        }
        ServerStatus::Pending { .. } if server.state.surface.tools.is_empty() => {
            Some(UnsearchedReason::Pending)
        }
        ServerStatus::Dormant if is_unknown(&server.state) => Some(UnsearchedReason::Pending),
        ServerStatus::Failed(error) => Some(UnsearchedReason::Failed { error: shorten(&error.to_string()) }),
        ServerStatus::NeedsAuth => {
            Some(UnsearchedReason::NeedsAuth { authenticate: authenticate_tool(&server.name, catalog) })
        }
        _ => None,
    }
}

fn authenticate_tool(server: &ServerName, catalog: &Catalog) -> Option<PublicName> {
    let wanted = ToolProvider::SignIn { server: server.clone(), tool: SignInTool::Authenticate };
    catalog.iter().find(|entry| entry.provider == wanted).map(|entry| entry.name.clone())
}
