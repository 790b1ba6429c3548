//! The newest view of a gateway, built again when the catalog changes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use mcparley::catalog::Catalog;
use mcparley::model::config::TransportKind;
use mcparley::pool::connection::ServerStatus;

use crate::gateway::Gateway;
use crate::view::{View, ViewServer, address};

/// The newest view of a gateway.
#[derive(Debug, Default)]
pub(crate) struct ViewCache(Mutex<Option<(u64, Arc<View>)>>);

impl Gateway {
    /// The current view.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view_of(self.host.catalog())
    }

    /// The view of a catalog. One with the same contents is reused, and so are its rendered lists.
    pub(crate) fn view_of(&self, catalog: Arc<Catalog>) -> Arc<View> {
        let mut newest = self.views.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((revision, view)) = &*newest
            && *revision == catalog.revision()
        {
            return Arc::clone(view);
        }
        let revision = catalog.revision();
        let servers = self.view_servers(&catalog);
        let view = match newest.take() {
            Some((_, view)) if view.catalog.has_same_entries(&catalog) && view.has_same_servers(&servers) => {
                view
            }
            Some(_) | None => Arc::new(View::new(Arc::clone(&self.mode), catalog, servers)),
        };
        *newest = Some((revision, Arc::clone(&view)));
        view
    }

    /// The servers that clients can see, with unique tags.
    fn view_servers(&self, catalog: &Catalog) -> Vec<ViewServer> {
        let mut tags = HashSet::new();
        let mut servers = Vec::new();
        for server in self.host.servers() {
            let is_shown = self.mode.one.as_ref().is_none_or(|one| *one == server.name);
            if !is_shown || catalog.is_server_denied(&server.name) {
                continue;
            }
            let tag = address::server_tag(&server.name, &mut tags);
            let (version, live) = match &server.state.status {
                ServerStatus::Connected { protocol, server: about } => {
                    (Some(protocol.version()), Some(Arc::clone(about)))
                }
                _ => (None, None),
            };
            let surface = server.state.surface;
            let about = live.or_else(|| surface.about.clone());
            let is_local = server.kind == TransportKind::Stdio;
            let (name, tag) = (server.name, tag.into());
            servers.push(ViewServer { name, tag, surface, about, version, is_local });
        }
        servers
    }
}
