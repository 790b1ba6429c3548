//! Answers `tools/list`: the tools that a client is shown, page by page.
//!
//! Tools beyond the token budget are left out until a search has found them. A tool that was shown once
//! keeps its position.

use mcparley::catalog::Catalog;
use mcparley::host::HostServer;
use mcparley::model::limits::FIRST_LIST_TIME;
use mcparley::model::tool::Audience;
use mcparley::pool::connection::ServerStatus;
use mcparley_wire::{RawJson, RpcError};

use crate::client_abilities::Caller;
use crate::request::page::{Cursor, ToolPage};
use crate::response::item::{CALL_TOOL, ToolListItem};
use crate::response::serialize_result;
use crate::session::GatewaySession;

impl GatewaySession {
    /// Answers `tools/list`.
    pub(crate) async fn list_tools(
        &self,
        caller: &Caller,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        let cursor = params.and_then(|params| params.member("cursor"));
        let cursor = cursor.filter(|cursor| cursor.as_str() != "null").map(|cursor| Cursor::parse(&cursor));
        let cursor = cursor.transpose()?;
        self.await_first_servers().await;
        self.shared.listing.lock_shown().has_apps = caller.has_apps;
        let items = self.visible_items(&self.host().publish_catalog());
        let page = ToolPage::after_cursor(&items, cursor.as_ref());
        self.shared.listing.replace_list(items);
        serialize_result(&page.to_result(caller))
    }

    /// Waits for the servers that are connecting when the first client comes, once and with a timeout.
    async fn await_first_servers(&self) {
        let wait = async {
            // After the timeout, the list holds the tools of the servers that are connected.
            let _ready = self.host().wait_until_ready(FIRST_LIST_TIME).await;
        };
        self.shared.listing.first.get_or_init(|| wait).await;
    }

    /// Waits, as for the first list, while a server without remembered tools is connecting: its instructions
    /// would be missing from the handshake, which happens once.
    pub(crate) async fn await_unknown_servers(&self) {
        let is_unknown = |server: &HostServer| {
            let surface = &server.state.surface;
            matches!(server.state.status, ServerStatus::Pending { .. })
                && surface.tools.is_empty()
                && surface.instructions.is_none()
        };
        if self.host().servers().iter().any(is_unknown) {
            self.await_first_servers().await;
        }
    }

    /// The tools of a catalog that this client is shown.
    pub(crate) fn visible_items(&self, catalog: &Catalog) -> Vec<ToolListItem> {
        let shown = self.shared.listing.lock_shown().clone();
        let offer = catalog.model_offer(&self.shared.gateway.budget);
        // In a first session with slow servers the client can search for their tools, even if it ignores
        // change notifications.
        let more_to_come = self.host().has_unknown_servers();
        let offer = if more_to_come { offer.with_search() } else { offer };
        let offer = offer.with_earlier(shown.items.iter().map(ToolListItem::name)).with_found(&shown.found);
        let apps = if shown.has_apps { offer.for_apps } else { Vec::new() };
        let mut items: Vec<ToolListItem> =
            offer.listed.into_iter().chain(apps).map(ToolListItem::Tool).collect();
        let place = shown.items.iter().position(|item| matches!(item, ToolListItem::CallTool));
        let is_needed = place.is_some() || more_to_come || !offer.deferred.is_empty();
        if is_needed && catalog.get(CALL_TOOL).is_none() {
            items.insert(place.unwrap_or(items.len()).min(items.len()), ToolListItem::CallTool);
        }
        items
    }

    /// Whether a tool is neither for this client's model nor for apps that it shows.
    pub(crate) fn is_invisible(&self, name: &str, caller: &Caller) -> bool {
        let catalog = self.host().catalog();
        catalog.get(name).is_some_and(|entry| match entry.tool.audience {
            Audience::Model => false,
            Audience::Apps => !caller.has_apps,
            Audience::Direct => true,
        })
    }

    /// Whether a tool is never shown, because a rule denies it with any arguments.
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        let catalog = self.host().catalog();
        catalog.get(name).is_some_and(|entry| catalog.is_denied(entry))
    }
}
