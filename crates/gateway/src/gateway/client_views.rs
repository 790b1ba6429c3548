//! The views of clients with different capabilities, where the server sees the client itself.
//!
//! A transparent gateway adds nothing: its server is offered what the client offers. A server of the old era is
//! told the capabilities once for each connection, so clients with other capabilities get a connection of
//! their own. Other gateways share one connection, and answer for a client that cannot.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley::pool::client_offer::ClientOffer;
use mcparley::{AgentSpec, Host};

use crate::gateway::Gateway;

/// The gateways of a transparent gateway by the capabilities of their clients.
#[derive(Debug, Default)]
pub(crate) struct ClientViews(Mutex<HashMap<ClientOffer, Gateway>>);

impl ClientViews {
    /// Visits every view.
    pub(crate) fn for_each(&self, visit: impl Fn(&Gateway)) {
        let views = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        views.values().for_each(visit);
    }
}

impl Gateway {
    /// The gateway for clients with these capabilities.
    #[must_use]
    pub fn for_client(&self, offer: ClientOffer) -> Self {
        let Some(one) = self.mode.one.as_ref().filter(|_| self.tells_offers_apart()) else {
            return self.clone();
        };
        let mut views = self.client_views.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = views.get(&offer) {
            return known.clone();
        }
        let spec = AgentSpec::new("client").share_server(one.as_str());
        // A host that is shutting down answers every request with that.
        let Ok(agent) = self.host.open_client_view(spec, offer) else { return self.clone() };
        let view = Self {
            host: Host::clone(&agent),
            views: Arc::default(),
            tool_lists: Arc::default(),
            // A view has no views of its own.
            client_views: Arc::default(),
            principals: Arc::new(self.principals.with_same_settings()),
            ..self.clone()
        };
        views.insert(offer, view.clone());
        view
    }

    /// Whether clients with different capabilities have different sessions, because the server sees them.
    pub(crate) fn tells_offers_apart(&self) -> bool {
        self.mode.is_transparent() && !self.mode.shares_connection
    }
}
