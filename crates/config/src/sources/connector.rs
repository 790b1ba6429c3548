//! Connectors: servers of the user's organization, the scope with the lowest precedence.
//!
//! Only the types are here. The host fetches the connector catalog over HTTP.

use crate::plan::ServerDeclaration;
use mcparley_model::approval::Provenance;
use mcparley_model::config::{RawServer, TransportKind};
use mcparley_model::expand::Template;
use mcparley_model::explain::Explain;
use mcparley_model::name::ServerName;
use mcparley_model::scope::{ConfigOrigin, Scope, Source};

use super::file::ConfigProblem;

/// The source name of connectors in messages.
const CATALOG: &str = "the connector catalog";

/// The prefix of connector names, which keeps them apart from the user's server names.
const PREFIX: &str = "claude.ai ";

/// One connector of the organization's catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connector {
    /// The connector's id at the organization.
    pub id: String,
    /// The connector's name, without the prefix.
    pub name: String,
    /// The URL of the connector at the organization's proxy.
    pub url: String,
}

/// The connectors of the user's organization, fetched before or while the configuration is loaded.
#[derive(Clone, Debug, Default)]
pub struct ConnectorList {
    /// The usable connectors.
    pub connectors: Vec<Connector>,
    /// The reasons why other connectors cannot be used, or why there are none.
    pub problems: Vec<ConfigProblem>,
}

impl ConnectorList {
    /// An empty list with this error as its problem.
    #[must_use]
    pub fn from_error(error: &impl Explain) -> Self {
        let mut list = Self::default();
        list.add_problem(error);
        list
    }

    /// Adds a problem with a part of the connector catalog.
    pub fn add_problem(&mut self, error: &impl Explain) {
        self.problems.push(ConfigProblem::from_found(error, Source::from_label(CATALOG)));
    }
}

impl Connector {
    pub(super) fn to_declaration(&self) -> ServerDeclaration {
        let origin = ConfigOrigin::for_source(Source::from_label(CATALOG));
        // Text from the network is never a template: `${…}` in it must not expand to our variables.
        let literal = |text: &str| Template { text: text.replace("${", "$%7B"), origin: origin.clone() };
        let raw = RawServer {
            kind: Some(TransportKind::ClaudeAiProxy),
            url: Some(literal(&self.url)),
            id: Some(literal(&self.id)),
            ..RawServer::default()
        };
        let name = ServerName::new(&format!("{PREFIX}{}", self.name));
        ServerDeclaration {
            name,
            scope: Scope::Connectors,
            provenance: Provenance::Own,
            origin,
            raw: Ok(raw),
            variables: Vec::new(),
        }
    }
}

/// Whether a problem comes from the connector catalog.
pub(super) fn is_connector_problem(problem: &ConfigProblem) -> bool {
    problem.origin.source == Source::from_label(CATALOG)
}
