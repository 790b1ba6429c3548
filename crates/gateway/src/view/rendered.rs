//! Lists of a view, rendered once for all clients; a page is a slice of them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use mcparley::catalog::CatalogEntry;
use mcparley::model::text::clean_json;
use mcparley::model::tool::TaskSupport;
use mcparley::pool::surface::Surface;
use mcparley_wire::RawJson;

use crate::json_edit::{JsonEdit, JsonMembers, decode_string, json_string};
use crate::mode::GatewayMode;
use crate::view::address::{AddressRewriter, client_address};
use crate::view::{View, ViewServer, tool};

/// The kind of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
    Resources,
    Templates,
    Skills,
}

/// One rendered item of a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RenderedItem {
    /// The name or address, by which a cursor finds the item again.
    pub(crate) key: String,
    pub(crate) json: String,
}

/// The rendered tools of a view, for one era.
#[derive(Debug)]
pub(super) struct RenderedTools {
    text: String,
    /// The places of the tools in the text; empty for a tool that cannot be rendered.
    spans: Vec<Range<usize>>,
}

impl ListKind {
    /// The member of the result that holds the items.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Skills => "skills",
        }
    }

    fn surface_items(self, surface: &Surface) -> &[RawJson] {
        match self {
            Self::Tools => &[],
            Self::Prompts => &surface.prompts,
            Self::Resources => &surface.resources,
            Self::Templates => &surface.templates,
            Self::Skills => &surface.skills,
        }
    }

    /// The member with the address of an item.
    fn address_member(self) -> &'static str {
        if self == Self::Templates { "uriTemplate" } else { "uri" }
    }
}

impl View {
    /// A tool of the catalog as an item of a list, for the new or the old era.
    pub(crate) fn rendered_tool(&self, public: &str, is_new: bool) -> Option<&str> {
        let [old, new] = &self.rendered_tools;
        let rendered = if is_new { new } else { old }.get_or_init(|| self.render_tools(is_new));
        let span = rendered.spans.get(*self.by_public.get(public)?)?.clone();
        rendered.text.get(span).filter(|text| !text.is_empty())
    }

    /// Whether a tool that its server does not offer as a task can be called as a durable one. The new era has no such
    /// mark.
    fn becomes_durable(&self, entry: &CatalogEntry, is_new: bool) -> bool {
        let server = entry.server().and_then(|server| self.find_server(server));
        self.mode.has_durable_calls
            && !is_new
            && entry.tool.task == TaskSupport::Forbidden
            && server.is_some_and(|server| server.is_local)
    }

    fn render_tools(&self, is_new: bool) -> RenderedTools {
        let (mut text, mut spans) = (String::new(), Vec::with_capacity(self.tools.len()));
        for (name, entry) in &self.tools {
            let begin = text.len();
            let tag = entry.server().and_then(|server| self.tag_of(server));
            if let Some(tool) = tool::render_tool(entry, name, tag, &self.mode, is_new) {
                match self.becomes_durable(entry, is_new) {
                    true => text.push_str(&tool::offer_as_task(tool)),
                    false => text.push_str(&tool),
                }
            }
            spans.push(begin..text.len());
        }
        text.shrink_to_fit();
        RenderedTools { text, spans }
    }

    /// The items of a list other than the tools.
    pub(crate) fn rendered_items(&self, kind: ListKind) -> &[RenderedItem] {
        let [prompts, resources, templates, skills] = &self.rendered_lists;
        match kind {
            ListKind::Tools => &[],
            ListKind::Prompts => prompts.get_or_init(|| self.render_prompts()),
            ListKind::Resources => resources.get_or_init(|| self.render_addresses(kind)),
            ListKind::Templates => templates.get_or_init(|| self.render_addresses(kind)),
            ListKind::Skills => skills.get_or_init(|| self.render_addresses(kind)),
        }
    }

    /// A digest of the prompts.
    pub(crate) fn prompts_digest(&self) -> u64 {
        let [prompts, _] = &self.digests;
        *prompts.get_or_init(|| self.hash_lists(&[ListKind::Prompts]))
    }

    /// A digest of all that the notification about resources covers.
    pub(crate) fn resources_digest(&self) -> u64 {
        let [_, resources] = &self.digests;
        *resources
            .get_or_init(|| self.hash_lists(&[ListKind::Resources, ListKind::Templates, ListKind::Skills]))
    }

    fn hash_lists(&self, kinds: &[ListKind]) -> u64 {
        let mut hasher = DefaultHasher::new();
        for kind in kinds {
            self.rendered_items(*kind).iter().for_each(|item| item.json.hash(&mut hasher));
            hasher.write_u8(0);
        }
        hasher.finish()
    }

    /// The hints that the only server sent with a list, in transparent mode.
    pub(crate) fn list_hints(&self, kind: ListKind) -> Option<&RawJson> {
        let one = self.servers.first().filter(|_| self.mode.is_transparent())?;
        one.surface.list_hints.get(kind.member())
    }

    fn render_prompts(&self) -> Vec<RenderedItem> {
        let render = |prompt: &crate::view::ViewPrompt| {
            let clean = clean_item(&prompt.raw, &self.mode);
            let members = JsonMembers::parse(&clean)?;
            let mut edit = JsonEdit::new(&clean);
            if *prompt.name != *prompt.original {
                edit.replace(members.get("name")?, json_string(&prompt.name));
            }
            Some(RenderedItem { key: prompt.name.to_string(), json: edit.finish().into_owned() })
        };
        self.prompts.iter().filter_map(render).collect()
    }

    fn render_addresses(&self, kind: ListKind) -> Vec<RenderedItem> {
        let pairs = self
            .servers
            .iter()
            .flat_map(|server| kind.surface_items(&server.surface).iter().map(move |raw| (server, raw)));
        pairs.filter_map(|(server, raw)| self.render_address(kind, server, raw)).collect()
    }

    /// Renders one item with an address; `None` without one, because no client could ask for it.
    fn render_address(&self, kind: ListKind, server: &ViewServer, raw: &RawJson) -> Option<RenderedItem> {
        let clean = clean_item(raw, &self.mode);
        let members = JsonMembers::parse(&clean)?;
        let uri = members.get(kind.address_member()).and_then(decode_string)?;
        if self.mode.is_transparent() {
            return Some(RenderedItem { key: uri, json: clean });
        }
        let key = client_address(&server.tag, &uri);
        let item: &serde_json::value::RawValue = serde_json::from_str(&clean).ok()?;
        let mut rewriter = AddressRewriter::new(item.get(), &server.tag);
        rewriter.rewrite_item(item);
        let json = rewriter.finish().into_owned();
        // The protocol requires a name of resources and templates; the address stands for a missing one.
        let needs_name = kind != ListKind::Skills && members.text("name").is_none();
        let json = if needs_name { with_name(&json, &uri)? } else { json };
        Some(RenderedItem { key, json })
    }
}

fn with_name(json: &str, name: &str) -> Option<String> {
    let members = JsonMembers::parse(json)?;
    let mut edit = JsonEdit::new(json);
    match members.get("name") {
        Some(odd) => edit.replace(odd, json_string(name)),
        None => edit.insert_last(json, &members, &format!("\"name\":{}", json_string(name))),
    }
    Some(edit.finish().into_owned())
}

fn clean_item(raw: &RawJson, mode: &GatewayMode) -> String {
    if mode.removes_hidden() { clean_json(raw.as_str()).into_owned() } else { raw.as_str().to_owned() }
}
