//! The OAuth metadata documents, with the lies that apply to each.

use super::ServerOrigins;
use super::manner::OAuthDelivery;
use mcparley_testkit::{Lie, LieSet};
use serde_json::{Map, Value, json};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";
/// A metadata path that only a challenge names.
const CUSTOM: &str = "/custom/metadata.json";

/// A requested metadata document.
#[derive(Debug)]
pub(crate) struct FakeMetadata {
    /// The name under which requests for it are counted.
    pub(crate) name: &'static str,
    pub(crate) body: Value,
    pub(crate) manner: OAuthDelivery,
}

/// The document at a path, if there is one.
pub(crate) fn find_document(lies: &LieSet, origins: &ServerOrigins, path: &str) -> Option<FakeMetadata> {
    let is_resource = match lies.text(Lie::Prm).as_str() {
        "path" => path == format!("{RESOURCE}/mcp"),
        "root" => path == RESOURCE,
        "custom" => path == CUSTOM,
        _ => path == RESOURCE || path == format!("{RESOURCE}/mcp"),
    };
    if is_resource {
        let manner = OAuthDelivery::from_word(&lies.text(Lie::PrmBody))?;
        return Some(FakeMetadata { name: "prm", body: resource_metadata(lies, origins), manner });
    }
    let below = lies.text(Lie::IssuerPath);
    let (oauth, openid) = (format!("{SERVER}{below}"), format!("{OPENID}{below}"));
    let is_server = match lies.text(Lie::Metadata).as_str() {
        "oauth" => path == oauth,
        "oidc" => path == openid,
        "appended" => path == format!("{below}{OPENID}"),
        _ => path == oauth || path == openid,
    };
    if !is_server {
        return None;
    }
    let manner = OAuthDelivery::from_word(&lies.text(Lie::MetadataBody))?;
    Some(FakeMetadata { name: "metadata", body: server_metadata(lies, origins), manner })
}

/// The correct issuer.
pub(crate) fn issuer(lies: &LieSet, origins: &ServerOrigins) -> String {
    let origin = if lies.is_word(Lie::Place, "same") { &origins.resource } else { &origins.server };
    format!("{origin}{}", lies.text(Lie::IssuerPath))
}

/// The resource that tokens are issued for.
pub(crate) fn resource_name(lies: &LieSet, origins: &ServerOrigins) -> String {
    match lies.text(Lie::PrmResource).as_str() {
        "" => format!("{}/mcp", origins.resource),
        "root" => origins.resource.clone(),
        other => other.to_owned(),
    }
}

/// The URL of the resource metadata in a challenge.
pub(crate) fn resource_url(lies: &LieSet, origins: &ServerOrigins) -> String {
    let told = lies.text(Lie::ChallengeUrl);
    let path = match lies.text(Lie::Prm).as_str() {
        "root" => RESOURCE.to_owned(),
        "custom" => CUSTOM.to_owned(),
        _ => format!("{RESOURCE}/mcp"),
    };
    if told.is_empty() { format!("{}{path}", origins.resource) } else { told }
}

fn resource_metadata(lies: &LieSet, origins: &ServerOrigins) -> Value {
    let server = lies.text(Lie::PrmServer);
    let server = if server.is_empty() { issuer(lies, origins) } else { server };
    let mut page = Map::new();
    page.insert("resource".to_owned(), json!(resource_name(lies, origins)));
    page.insert("authorization_servers".to_owned(), json!([server]));
    insert_scopes(&mut page, &lies.text(Lie::PrmScopes));
    Value::Object(page)
}

fn server_metadata(lies: &LieSet, origins: &ServerOrigins) -> Value {
    let issuer = issuer(lies, origins);
    let methods = lies.text(Lie::AuthMethods);
    let grants = match lies.text(Lie::Grants) {
        told if told.is_empty() => json!(super::grants::ALL),
        told => json!(told.split(',').collect::<Vec<_>>()),
    };
    let Value::Object(mut page) = json!({
        "response_types_supported": ["code"],
        "grant_types_supported": grants,
        "token_endpoint_auth_methods_supported": methods.split(',').collect::<Vec<_>>(),
        "token_endpoint_auth_signing_alg_values_supported": ["ES256", "RS256"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
        "jwks_uri": format!("{issuer}/jwks"),
    }) else {
        return Value::Null;
    };
    let mut add = |name: &str, value: Value| page.insert(name.to_owned(), value);
    match lies.text(Lie::Issuer).as_str() {
        "absent" => None,
        "host" => add("issuer", json!(issuer.replacen("127.0.0.1", "127.0.0.2", 1))),
        "slash" => add("issuer", json!(format!("{issuer}/"))),
        "case" => add("issuer", json!(issuer.replacen("http", "HTTP", 1))),
        _ => add("issuer", json!(issuer)),
    };
    for (name, lie, path) in [
        ("authorization_endpoint", Lie::AuthorizeUrl, "/authorize"),
        ("token_endpoint", Lie::TokenUrl, "/token"),
        ("registration_endpoint", Lie::RegisterUrl, "/register"),
        ("revocation_endpoint", Lie::RevokeUrl, "/revoke"),
        ("device_authorization_endpoint", Lie::DeviceUrl, "/device_authorization"),
    ] {
        let told = lies.text(lie);
        let url = if told.is_empty() { format!("{issuer}{path}") } else { told };
        let is_absent = url == "absent" || lie == Lie::RegisterUrl && lies.is_word(Lie::Register, "absent");
        if !is_absent {
            add(name, json!(url));
        }
    }
    if !lies.is_word(Lie::Pkce, "absent") {
        add("code_challenge_methods_supported", json!([lies.text(Lie::Pkce)]));
    }
    if lies.is_word(Lie::IssAdvertised, "yes") {
        add("authorization_response_iss_parameter_supported", json!(true));
    }
    if lies.is_word(Lie::Cimd, "yes") {
        add("client_id_metadata_document_supported", json!(true));
    }
    if !lies.is_word(Lie::Dpop, "no") {
        add("dpop_signing_alg_values_supported", json!(["ES256"]));
    }
    insert_scopes(&mut page, &lies.text(Lie::ServerScopes));
    Value::Object(page)
}

fn insert_scopes(page: &mut Map<String, Value>, scopes: &str) {
    if !scopes.is_empty() {
        page.insert("scopes_supported".to_owned(), json!(scopes.split(' ').collect::<Vec<_>>()));
    }
}
