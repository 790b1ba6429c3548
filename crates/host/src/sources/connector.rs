//! Connectors: servers of the user's organisation, the weakest source.
//!
//! Only the shape is here; fetching a catalogue over HTTP is done by [`crate::Organisation`], before anything is
//! loaded or beside it.

use mcparley_model::approval::Provenance;
use mcparley_model::config::{Kind, RawServer};
use mcparley_model::expand::Template;
use mcparley_model::name::ServerName;
use mcparley_model::plan::Declaration;
use mcparley_model::scope::{Origin, Scope, Source};

use crate::organisation::ConnectorError;

/// What connector names begin with, so that they never meet a user's own.
const PREFIX: &str = "claude.ai ";

/// One connector of the organisation's catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connector {
    /// Its id at the organisation.
    pub id: String,
    /// Its name, without the prefix.
    pub name: String,
    /// Where the organisation's proxy offers it.
    pub url: String,
}

/// Something that knows the organisation's connectors.
pub trait Connectors {
    /// The catalogue as it is now.
    ///
    /// # Errors
    /// When it cannot be had; the other sources go on without it.
    fn fetch(&self) -> Result<Vec<Connector>, ConnectorError>;

    /// What of the catalogue could not be used, each with its reason.
    fn left_out(&self) -> Vec<ConnectorError> {
        Vec::new()
    }
}

/// Connectors that were fetched before.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Those that can be used.
    pub connectors: Vec<Connector>,
    /// Those that cannot, and what else is missing.
    pub left_out: Vec<ConnectorError>,
}

impl Connectors for Known {
    fn fetch(&self) -> Result<Vec<Connector>, ConnectorError> {
        Ok(self.connectors.clone())
    }

    fn left_out(&self) -> Vec<ConnectorError> {
        self.left_out.clone()
    }
}

/// Whatever came of fetching them.
impl Connectors for Result<Known, ConnectorError> {
    fn fetch(&self) -> Result<Vec<Connector>, ConnectorError> {
        self.as_ref().map_err(Clone::clone).and_then(Known::fetch)
    }

    fn left_out(&self) -> Vec<ConnectorError> {
        self.as_ref().map(Known::left_out).unwrap_or_default()
    }
}

/// No organisation, no connectors.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoConnectors;

impl Connectors for NoConnectors {
    fn fetch(&self) -> Result<Vec<Connector>, ConnectorError> {
        Ok(Vec::new())
    }
}

impl Connector {
    pub(super) fn declaration(self) -> Declaration {
        let origin = Origin::whole(Source::inline("the connector catalogue"));
        // What comes over the network is text, never a template: `${…}` in it must not read our variables.
        let literal = |text: &str| Template { text: text.replace("${", "$%7B"), origin: origin.clone() };
        let raw = RawServer {
            kind: Some(Kind::ClaudeAiProxy),
            url: Some(literal(&self.url)),
            id: Some(literal(&self.id)),
            ..RawServer::default()
        };
        let name = ServerName::new(&format!("{PREFIX}{}", self.name));
        Declaration {
            name,
            scope: Scope::Connectors,
            provenance: Provenance::Own,
            origin,
            raw: Ok(raw),
            variables: Vec::new(),
        }
    }
}
