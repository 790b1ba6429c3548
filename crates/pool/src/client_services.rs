//! Client services: the handlers for server requests, and the client capabilities that follow from them.

use std::sync::Arc;

use mcparley_config::Paths;
use mcparley_model::config::{RootsPolicy, ServerConfig};
use serde_json::{Value, json};

use crate::client_offer::ClientOffer;
use crate::elicit::{ElicitationHooks, Elicitor, NoHooks, VisitChannel};
use crate::log::LogChannel;
use crate::notice_channel::NoticeChannel;
use crate::roots::{Roots, ServerRoots};
use crate::sample::Sampler;

/// The handlers for server requests and the roots offered to servers. Cheap to clone.
#[derive(Clone)]
pub struct ClientServices {
    /// The elicitation handler, if one is installed.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// The sampling handler, if one is installed.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// The hooks that may answer an elicitation in place of the user.
    pub hooks: Arc<dyn ElicitationHooks>,
    /// The roots that servers are offered.
    pub roots: Roots,
    /// The channel for log messages of servers: their levels and listeners.
    pub messages: LogChannel,
    /// The capabilities of the client that the servers are for; all that are supported without one.
    pub offer: Option<ClientOffer>,
    /// The channel for pages that servers report as visited.
    pub visits: VisitChannel,
    /// The channel for notifications about tasks and of extensions.
    pub notices: NoticeChannel,
}

impl ClientServices {
    /// Services without handlers, with the roots of the project at these paths.
    #[must_use]
    pub fn new(paths: &Paths) -> Self {
        Self {
            elicitor: None,
            sampler: None,
            hooks: Arc::new(NoHooks),
            roots: Roots::from_paths(paths),
            messages: LogChannel::default(),
            offer: None,
            visits: VisitChannel::default(),
            notices: NoticeChannel::default(),
        }
    }

    /// The client capabilities for the server of this entry: only requests that a handler can answer.
    #[must_use]
    pub fn capabilities_for(&self, config: &ServerConfig) -> Value {
        let mut capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        if config.roots != RootsPolicy::Withheld {
            capabilities["roots"] = json!({ "listChanged": true });
        }
        match (&self.elicitor, self.hooks.has_elicitation_hooks()) {
            (Some(_), _) => capabilities["elicitation"] = json!({ "form": {}, "url": {} }),
            // URL mode needs a user to visit the page; hooks alone cannot.
            (None, true) => capabilities["elicitation"] = json!({ "form": {} }),
            (None, false) => {}
        }
        if let Some(sampler) = &self.sampler {
            capabilities["sampling"] = if sampler.takes_tools() { json!({ "tools": {} }) } else { json!({}) };
        }
        match self.offer {
            Some(offer) => offer.restrict_capabilities(capabilities, self.hooks.has_elicitation_hooks()),
            None => capabilities,
        }
    }

    /// The roots offered to the server of this entry.
    #[must_use]
    pub fn server_roots(&self, config: &ServerConfig, paths: &Paths) -> ServerRoots {
        ServerRoots::from_config(config, &self.roots, paths)
    }
}

impl std::fmt::Debug for ClientServices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientServices").field("elicitor", &self.elicitor.is_some()).finish_non_exhaustive()
    }
}
