//! Reads `tokenIssuer` and `gateways`: whose tokens a gateway over HTTP accepts, and its views.
//!
//! Both decide which clients get at the user's servers, so only the user, the administrator and `--settings` may set them:
//! nothing in a project folder opens a view.

use super::{IdentityProvider, MergedSettings, SettingsLayer};
use crate::config::Spanned;
use crate::document::Node;
use crate::glob::Glob;
use crate::name::ServerName;
use crate::permission::PermissionMode;
use crate::principal_match::{NoPrincipalMatch, PrincipalMatch};

/// The issuer whose tokens a gateway accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenIssuer {
    /// The issuer, byte for byte.
    pub issuer: String,
    /// The URL of the gateway's main endpoint, which tokens name as their audience.
    pub audience: Option<String>,
    /// The scopes that every token needs.
    pub scopes: Vec<String>,
}

/// A view of a gateway: some of its servers, for some of its clients, at an endpoint of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewSettings {
    /// The name, which is the end of the endpoint's path.
    pub name: String,
    /// The servers of the view; absent means all of them.
    pub servers: Option<Vec<ServerName>>,
    /// The tools that are offered, as globs; none means all.
    pub tools: Vec<Glob>,
    /// The permission mode; absent means that of the gateway.
    pub mode: Option<PermissionMode>,
    /// The requests per second of one principal.
    pub rate: Option<u32>,
    /// The clients that may use the view.
    pub principals: Vec<PrincipalMatch>,
    /// Whether the limits for models apply.
    pub for_model: Option<bool>,
    /// The prefix of names.
    pub prefix: Option<ViewPrefix>,
}

/// The prefix of names in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewPrefix {
    /// `server__tool`.
    Server,
    /// `mcp__server__tool`.
    Mcp,
    /// Bare names where they are unique.
    None,
}

impl MergedSettings {
    pub(super) fn read_token_issuer(&mut self, value: Node<'_>, layer: SettingsLayer) {
        if !self.may_set_gateway("tokenIssuer", value, layer) {
            return;
        }
        match parse_issuer(value) {
            Some(issuer) => self.token_issuer = Some(Spanned { value: issuer, origin: value.origin() }),
            None => self.add_warning(
                value,
                r#"`tokenIssuer` is written `{"issuer": "https://…", "audience": "https://…/mcp", "scopes": ["…"]}`; audience and scopes may be left out"#
                    .to_owned(),
            ),
        }
    }

    /// Reads `gateways`. A view with a mistake is left out: it must not open wider than it was meant to.
    pub(super) fn read_gateways(&mut self, value: Node<'_>, layer: SettingsLayer) {
        if !self.may_set_gateway("gateways", value, layer) {
            return;
        }
        let Some(members) = value.as_object() else {
            return self.add_warning(value, "`gateways` is an object of views by name".to_owned());
        };
        for member in members {
            match parse_view(member.name, member.value) {
                Ok(view) => {
                    self.gateways.retain(|known| known.value.name != view.name);
                    self.gateways.push(Spanned { value: view, origin: member.value.origin() });
                }
                Err((node, fault)) => {
                    let text = format!("the view `{}` is left out: {fault}", member.name);
                    self.add_warning(node, text);
                    self.gateways.retain(|known| known.value.name != member.name);
                }
            }
        }
    }

    fn may_set_gateway(&mut self, key: &str, value: Node<'_>, layer: SettingsLayer) -> bool {
        match layer {
            SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User => true,
            SettingsLayer::Private | SettingsLayer::Local | SettingsLayer::Project => {
                self.add_warning(
                    value,
                    format!("`{key}` counts only in managed and user settings, and in `--settings`"),
                );
                false
            }
        }
    }
}

fn parse_issuer(value: Node<'_>) -> Option<TokenIssuer> {
    let issuer =
        value.get("issuer").and_then(Node::as_str).filter(|text| IdentityProvider::is_issuer(text))?;
    let audience = match value.get("audience") {
        None => None,
        Some(audience) => Some(audience.as_str()?.to_owned()),
    };
    let scopes = match value.get("scopes") {
        None => Vec::new(),
        Some(scopes) => text_list(scopes).ok()?.into_iter().map(|(_, text)| text.to_owned()).collect(),
    };
    Some(TokenIssuer { issuer: issuer.to_owned(), audience, scopes })
}

/// A mistake, and its place.
type Fault<'n> = (Node<'n>, String);

fn parse_view<'n>(name: &str, value: Node<'n>) -> Result<ViewSettings, Fault<'n>> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_name) {
        return Err((value, "a name has 1 to 64 letters, digits, `-` and `_`".to_owned()));
    }
    let members =
        value.as_object().ok_or_else(|| (value, format!("it is {}, not an object", value.kind())))?;
    let mut view = ViewSettings {
        name: name.to_owned(),
        servers: None,
        tools: Vec::new(),
        mode: None,
        rate: None,
        principals: Vec::new(),
        for_model: None,
        prefix: None,
    };
    for member in members {
        view.read_member(member.name, member.value)?;
    }
    if view.principals.is_empty() {
        Err((value, "`principals` must name the clients that may use it, or `*`".to_owned()))
    } else {
        Ok(view)
    }
}

impl ViewSettings {
    fn read_member<'n>(&mut self, name: &str, node: Node<'n>) -> Result<(), Fault<'n>> {
        let wrong = |wanted: &str| (node, format!("`{name}` is {wanted}, not {}", node.kind()));
        match name {
            "servers" => {
                let names = text_list(node)?.into_iter();
                self.servers = Some(names.map(|(_, name)| ServerName::new(name)).collect());
            }
            "tools" => self.tools = text_list(node)?.into_iter().map(|(_, text)| Glob::new(text)).collect(),
            "mode" => {
                let word = node.as_str().ok_or_else(|| wrong("a permission mode"))?;
                self.mode = Some(PermissionMode::parse(word).map_err(|error| (node, error.to_string()))?);
            }
            "rate" => {
                let rate = node.as_number().and_then(|number| number.parse::<u32>().ok());
                let rate = rate.filter(|rate| *rate > 0);
                self.rate = Some(rate.ok_or_else(|| wrong("a whole number above 0"))?);
            }
            "principals" => {
                for (node, text) in text_list(node)? {
                    let rule = text.parse::<PrincipalMatch>();
                    let fault =
                        |error: NoPrincipalMatch| (node, format!("`{text}` names no client: {error}"));
                    self.principals.push(rule.map_err(fault)?);
                }
            }
            "forModel" => self.for_model = Some(node.as_bool().ok_or_else(|| wrong("true or false"))?),
            "prefix" => {
                self.prefix = Some(match node.as_str() {
                    Some("server") => ViewPrefix::Server,
                    Some("mcp") => ViewPrefix::Mcp,
                    Some("none") => ViewPrefix::None,
                    Some(_) | None => return Err((node, "`prefix` is `server`, `mcp` or `none`".to_owned())),
                });
            }
            other => {
                let known = "`servers`, `tools`, `mode`, `rate`, `principals`, `forModel` and `prefix`";
                return Err((node, format!("`{other}` is unknown; a view has {known}")));
            }
        }
        Ok(())
    }
}

fn text_list(list: Node<'_>) -> Result<Vec<(Node<'_>, &str)>, Fault<'_>> {
    let elements =
        list.as_array().ok_or_else(|| (list, format!("it is {}, not a list of texts", list.kind())))?;
    elements.map(text_element).collect()
}

fn text_element(element: Node<'_>) -> Result<(Node<'_>, &str), Fault<'_>> {
    let text = element.as_str().ok_or_else(|| (element, format!("it is {}, not a text", element.kind())))?;
    Ok((element, text))
}
