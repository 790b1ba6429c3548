//! Answers the list requests: the tools, prompts and resources that a client is shown, page by page.
//!
//! Tools beyond the token budget are left out until a search has found them. A tool that was shown once
//! keeps its position.

use std::collections::HashMap;
use std::sync::Arc;

use mcparley::catalog::{Catalog, CatalogEntry};
use mcparley::host::HostServer;
use mcparley::model::limits::FIRST_LIST_TIME;
use mcparley::model::tool::Audience;
use mcparley::pool::connection::ServerStatus;
use mcparley_wire::{RawJson, RpcError};

use crate::client_abilities::Caller;
use crate::response::era::ResultForm;
use crate::response::item::ToolListItem;
use crate::response::page::{PageItem, PagedList, build_page};
use crate::session::GatewaySession;
use crate::session::shared_values::LISTED;
use crate::session::tool_list::ShownTools;
use crate::view::naming::CALL_TOOL;
use crate::view::{ListKind, View};

impl GatewaySession {
    /// Answers `tools/list`.
    pub(crate) async fn list_tools(
        &self,
        caller: &Caller,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        self.await_first_servers().await;
        let view = self.shared.gateway.view_of(self.host().publish_catalog());
        let items = self.page_items(&view, params, caller.has_apps);
        if items.iter().any(|item| matches!(item, ToolListItem::CallTool)) {
            self.host().prepare_search();
        }
        let is_new = caller.is_new();
        let item = |place: usize| {
            let item = items.get(place)?;
            Some(PageItem { key: item.client_name(&view), json: item.to_json(&view, is_new)? })
        };
        let hints = view.list_hints(ListKind::Tools);
        let list = PagedList { kind: ListKind::Tools, len: items.len(), hints, item: &item };
        let page = self.build_list_page(&list, params, (caller, &view))?;
        self.shared.listing.replace_list(Arc::clone(&items), (view.catalog.revision(), caller.has_apps));
        if self.shared.listing.lock_shown().count == 1 {
            self.share_value(LISTED, &true);
        }
        Ok(page)
    }

    /// The tools of a list. A later page of an unchanged list reuses the items of the first.
    fn page_items(
        &self,
        view: &Arc<View>,
        params: Option<&RawJson>,
        has_apps: bool,
    ) -> Arc<Vec<ToolListItem>> {
        let is_first = params.and_then(|params| params.member("cursor")).is_none();
        let shown = self.shared.listing.lock_shown();
        if !is_first && shown.items_of == Some((view.catalog.revision(), shown.found.len(), has_apps)) {
            return Arc::clone(&shown.items);
        }
        drop(shown);
        self.visible_items(view, has_apps)
    }

    /// Answers `prompts/list`, `resources/list`, `resources/templates/list` and `skills/list`.
    pub(crate) async fn list_items(
        &self,
        kind: ListKind,
        caller: &Caller,
        params: Option<&RawJson>,
    ) -> Result<RawJson, RpcError> {
        self.await_first_servers().await;
        let view = self.shared.gateway.view();
        let items = view.rendered_items(kind);
        let item = |place: usize| items.get(place).map(|item| PageItem { key: &item.key, json: &item.json });
        let list = PagedList { kind, len: items.len(), hints: view.list_hints(kind), item: &item };
        let page = self.build_list_page(&list, params, (caller, &view))?;
        self.shared.listing.note_list(|shown| match kind {
            ListKind::Prompts => shown.prompts = Some(view.prompts_digest()),
            ListKind::Resources | ListKind::Templates | ListKind::Skills => {
                shown.resources = Some(view.resources_digest());
            }
            ListKind::Tools => {}
        });
        Ok(page)
    }

    fn build_list_page(
        &self,
        list: &PagedList<'_>,
        params: Option<&RawJson>,
        (caller, view): (&Caller, &View),
    ) -> Result<RawJson, RpcError> {
        let cursor = params.and_then(|params| params.member("cursor"));
        let form = ResultForm::new(caller, view, None);
        build_page(list, cursor.as_ref(), (&form, !self.host().has_unknown_servers()))
    }

    /// Takes the current lists for those that the client has got from another gateway.
    pub(crate) async fn assume_lists(&self) {
        self.await_first_servers().await;
        let view = self.shared.gateway.view();
        let has_apps = self.has_apps();
        let items = self.visible_items(&view, has_apps);
        self.shared.listing.replace_list(items, (view.catalog.revision(), has_apps));
        self.shared.listing.note_list(|shown| {
            shown.prompts = Some(view.prompts_digest());
            shown.resources = Some(view.resources_digest());
        });
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
        // The only server answers for itself, so it has to be known.
        if let Some(one) = &self.shared.gateway.mode.one
            && self.shared.gateway.view().servers.iter().all(|server| server.about.is_none())
        {
            // As long as a client without the gateway would wait: until the server answers or its connect timeout
            // ends. If it fails, the handshake is the gateway's own.
            let _failed = self.host().connect_server(one).await;
        }
    }

    /// The view in which an item is looked up. If it is not there, servers that are still unknown are awaited.
    pub(crate) async fn view_with(&self, has_item: impl Fn(&View) -> bool) -> Arc<View> {
        let view = self.shared.gateway.view();
        if has_item(&view) {
            return view;
        }
        self.await_unknown_servers().await;
        self.shared.gateway.view()
    }

    /// The tools of a view that this client is shown. Clients that have found no tools of their own share
    /// one list. Tools for apps are included only for a client that shows apps: clients of the new era with one
    /// token share this session, and each request declares the capabilities of its client.
    pub(crate) fn visible_items(&self, view: &Arc<View>, has_apps: bool) -> Arc<Vec<ToolListItem>> {
        let shown = self.shared.listing.lock_shown().clone();
        // In a first session with slow servers the client can search for their tools, even if it ignores
        // change notifications.
        let more_to_come = self.host().has_unknown_servers();
        let form = (more_to_come, has_apps);
        let common = self
            .shared
            .gateway
            .tool_lists
            .list_of(view, form, || self.select_items(&view.catalog, &ShownTools::default(), form));
        let is_common = shown.items.is_empty() || Arc::ptr_eq(&shown.items, &common);
        if shown.found.is_empty() && is_common {
            return common;
        }
        let own = self.select_items(&view.catalog, &shown, form);
        let is_same = |(one, other): (&ToolListItem, &ToolListItem)| one.is_same(other);
        match own.len() == common.len() && own.iter().zip(common.iter()).all(is_same) {
            true => common,
            false => Arc::new(own),
        }
    }

    /// Selects the tools for a client that was shown these tools before.
    fn select_items(
        &self,
        catalog: &Catalog,
        shown: &ShownTools,
        (more_to_come, has_apps): (bool, bool),
    ) -> Vec<ToolListItem> {
        let offer = catalog.model_offer(&self.shared.gateway.budget);
        let offer = if more_to_come { offer.with_search() } else { offer };
        let offer = offer.with_earlier(shown.items.iter().map(ToolListItem::name)).with_found(&shown.found);
        let apps = if has_apps { offer.for_apps } else { Vec::new() };
        let is_shown = |entry: &Arc<CatalogEntry>| self.shared.gateway.mode.shows_provider(&entry.provider);
        let listed = offer.listed.into_iter().chain(apps).filter(is_shown);
        let mut items: Vec<ToolListItem> = listed.map(ToolListItem::Tool).collect();
        if self.shared.gateway.mode.is_transparent() {
            self.sort_like_server(&mut items);
            return items;
        }
        let place = shown.items.iter().position(|item| matches!(item, ToolListItem::CallTool));
        let is_needed = place.is_some() || more_to_come || !offer.deferred.is_empty();
        if is_needed && catalog.get(CALL_TOOL).is_none() {
            items.insert(place.unwrap_or(items.len()).min(items.len()), ToolListItem::CallTool);
        }
        items
    }

    /// Sorts the tools of the only server in its own order.
    fn sort_like_server(&self, items: &mut [ToolListItem]) {
        let view = self.shared.gateway.view();
        let tools = view.servers.iter().flat_map(|server| &server.surface.tools).enumerate();
        let places: HashMap<&str, usize> = tools.map(|(place, tool)| (tool.name.as_str(), place)).collect();
        items.sort_by_key(|item| match item {
            ToolListItem::Tool(entry) => places.get(entry.tool.name.as_str()).copied(),
            ToolListItem::CallTool => None,
        });
    }

    /// Whether a tool of the catalog is neither for this client's model nor for apps that it shows.
    pub(crate) fn is_invisible(&self, view: &View, name: &str, caller: &Caller) -> bool {
        view.catalog.get(name).is_some_and(|entry| {
            let is_for_client = match entry.tool.audience {
                Audience::Model => true,
                Audience::Apps => caller.has_apps,
                Audience::Direct => false,
            };
            !is_for_client || !view.mode.shows_provider(&entry.provider)
        })
    }

    /// Whether a tool is never shown, because a rule denies it with any arguments.
    pub(crate) fn is_hidden(&self, name: &str) -> bool {
        let catalog = self.host().catalog();
        catalog.get(name).is_some_and(|entry| catalog.is_denied(entry))
    }
}
