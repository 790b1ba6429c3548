//! Finds tools among all servers: waits a moment for those on their way, and says which are missing and why (N10).
//!
//! How tools are ranked is decided in the catalogue; how a model is answered stands in `answer`.

mod answer;

use std::sync::Arc;

use mcparley_model::limits::{SEARCH_ERROR_CHARS, SEARCH_WAIT};
use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::text::{Untrusted, clean, cut};
use tokio::task::JoinSet;

use crate::catalog::{Catalog, Found, Provider, SearchQuery, SignInTool};
use crate::connection::{Connection, State, Status};
use crate::host::{Host, Server};

/// What a search gave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Search {
    /// What was found.
    pub found: Found,
    /// The servers whose tools could not be searched, or not all of them.
    pub missing: Vec<Absent>,
}

/// A server whose tools could not be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Absent {
    /// The server.
    pub server: ServerName,
    /// Why.
    pub why: Absence,
}

/// Why the tools of a server could not be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// It is on its way, and was not there in time.
    Pending,
    /// It does not answer.
    Failed {
        /// What went wrong, cleaned and cut. The server may have written it.
        error: Untrusted,
    },
    /// It wants a sign-in.
    NeedsAuth {
        /// The tool that begins one.
        authenticate: Option<PublicName>,
    },
    /// It answers, but did not give its tools.
    Unlisted {
        /// What went wrong, cleaned and cut. The server may have written it.
        error: Untrusted,
    },
}

impl Host {
    /// Looks for tools.
    ///
    /// Servers on their way are waited for, at most five seconds, and those of which nothing is known are reached. Tools
    /// that are named and known are found at once.
    pub async fn search(&self, query: &SearchQuery) -> Search {
        let known = self.current().search(query);
        let is_enough = query.is_selection() && known.unfound.is_empty();
        if !is_enough {
            // Who is not there in time is missing, and said to be.
            let _late = tokio::time::timeout(SEARCH_WAIT, self.gathered(query.server())).await;
        }
        let catalog = self.current();
        let found = if is_enough { known } else { catalog.search(query) };
        let missing = if is_enough { Vec::new() } else { absent(&self.servers(), &catalog, query.server()) };
        Search { found, missing }
    }

    /// Waits for the servers on their way, and for those that nobody has asked yet.
    async fn gathered(&self, only: Option<&ServerName>) {
        let mut reaching = JoinSet::new();
        let is_wanted = |connection: &&Arc<Connection>| only.is_none_or(|only| *only == connection.name);
        for connection in self.roster().connections().filter(is_wanted) {
            if is_unknown(&connection.state()) {
                let connection = Arc::clone(connection);
                reaching.spawn(async move { connection.lease().await.is_ok() });
            }
        }
        while reaching.join_next().await.is_some() {}
        self.settled().await;
    }
}

/// Whether nothing is known of a server that nobody has needed yet.
fn is_unknown(state: &State) -> bool {
    let surface = &state.surface;
    let has_nothing = surface.tools.is_empty() && surface.prompts.is_empty() && surface.resources.is_empty();
    matches!(state.status, Status::Dormant) && has_nothing
}

/// The servers whose tools are not all in the catalogue. Those that are switched off are nobody's business.
fn absent(servers: &[Server], catalog: &Catalog, only: Option<&ServerName>) -> Vec<Absent> {
    let wanted = servers.iter().filter(|server| only.is_none_or(|only| *only == server.name));
    let absent = |server: &Server| {
        let why = absence(server, catalog)?;
        Some(Absent { server: server.name.clone(), why })
    };
    wanted.filter_map(absent).collect()
}

fn absence(server: &Server, catalog: &Catalog) -> Option<Absence> {
    let told = |text: &str| Untrusted::new(cut(&clean(text), SEARCH_ERROR_CHARS));
    match &server.state.status {
        Status::Connected { .. } => {
            let gap = server.state.surface.gaps.iter().find(|gap| gap.method == "tools/list")?;
            Some(Absence::Unlisted { error: told(&gap.to_string()) })
        }
        Status::Pending { .. } if server.state.surface.tools.is_empty() => Some(Absence::Pending),
        Status::Dormant if is_unknown(&server.state) => Some(Absence::Pending),
        Status::Failed(error) => Some(Absence::Failed { error: told(&error.to_string()) }),
        Status::NeedsAuth => Some(Absence::NeedsAuth { authenticate: authenticate(&server.name, catalog) }),
        Status::Dormant | Status::Pending { .. } | Status::Disabled | Status::Stopped => None,
    }
}

fn authenticate(server: &ServerName, catalog: &Catalog) -> Option<PublicName> {
    let wanted = Provider::SignIn { server: server.clone(), tool: SignInTool::Authenticate };
    catalog.iter().find(|entry| entry.provider == wanted).map(|entry| entry.name.clone())
}
