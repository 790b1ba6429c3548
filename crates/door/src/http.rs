//! Routes an HTTP request by its path, after host, origin, token and load were checked.

use std::sync::Arc;

use hyper::body::Incoming as RequestBody;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue, ORIGIN, VARY,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use mcparley_model::limits::{DOOR_BODY_BYTES, DOOR_HEADER_BYTES};

use mcparley_telemetry::GatewayFigures;

use mcparley_wire::gateway_path::{GATEWAY_PATH, GatewayLoop, accept_path};

use crate::body::DoorBody;
use crate::callback::{CALLBACK_PATH, answer_callback};
use crate::endpoint::{EndpointClient, MAIN_PATH};
use crate::guard::PeerAddress;
use crate::guard::names::has_loopback_host;
use crate::guard::refusal::RequestRefusal;
use crate::metrics::state_figures;
use crate::reply::json_response;
use crate::reply::{empty_response, metrics_response, refusal_response, text_response};
use crate::request_body::{accepts, check_content_type, read_body};
use crate::shared::DoorShared;
use crate::{legacy_sse, mcp, page_endpoint};

/// The headers by which a proxy names its client.
const PROXY_HEADERS: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];
/// The headers that pages of other origins may send, besides those of arguments.
const PAGE_HEADERS: [&str; 8] = [
    "authorization",
    "content-type",
    "accept",
    "last-event-id",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
];

/// Answers an HTTP request.
pub(crate) async fn answer_http(
    shared: &Arc<DoorShared>,
    peer: PeerAddress,
    request: Request<RequestBody>,
) -> Response<DoorBody> {
    let (parts, body) = request.into_parts();
    // The web page is for its own origin only, so no other one may read it.
    let is_page = page_endpoint::is_page_path(shared, parts.uri.path());
    let uri = parts.uri.clone();
    let origin = if is_page { None } else { listed_origin(shared, &parts) };
    let mut response = match answer_checked(shared, peer, parts, body).await {
        Ok(response) => response,
        Err(refusal) => {
            shared.count_refusal(&refusal, (peer, uri.path()));
            refusal_response(&refusal)
        }
    };
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after"),
        );
        headers.insert(VARY, HeaderValue::from_static("origin"));
    }
    response
}

async fn answer_checked(
    shared: &Arc<DoorShared>,
    peer: PeerAddress,
    parts: Parts,
    body: RequestBody,
) -> Result<Response<DoorBody>, RequestRefusal> {
    check_header_size(&parts)?;
    let path = parts.uri.path();
    if page_endpoint::is_page_path(shared, path) {
        return page_endpoint::answer_page(shared, peer, parts, body).await;
    }
    let endpoints = &shared.endpoints;
    let view = if shared.has_mcp { endpoints.view_name(path) } else { None };
    let is_endpoint = view.is_some() || (path == MAIN_PATH && shared.has_mcp);
    let metadata = shared.guard.issuer.as_ref().and_then(|issuer| {
        let resource = issuer.resource();
        resource.metadata_endpoint(path).map(|view| resource.metadata_of(view))
    });
    let allowed = match path {
        _ if is_endpoint => "POST, GET, DELETE",
        _ if metadata.is_some() => "GET",
        "/healthz" | "/readyz" | "/metrics" => "GET",
        CALLBACK_PATH if shared.callback.is_some() => "GET",
        "/sse" if shared.legacy.is_some() => "GET",
        "/messages" if shared.legacy.is_some() => "POST",
        _ => return Err(RequestRefusal::path("path")),
    };
    let is_preflight = parts.method == Method::OPTIONS && listed_origin(shared, &parts).is_some();
    if !is_preflight && !allowed.split(", ").any(|method| method == parts.method.as_str()) {
        return Err(RequestRefusal::method(allowed));
    }
    shared.guard.check_names(&parts, peer)?;
    if is_preflight {
        return Ok(preflight_response(allowed, &parts));
    }
    if let Some(metadata) = metadata {
        return Ok(json_response(&metadata));
    }
    if path == CALLBACK_PATH {
        return answer_callback(shared, &parts).await;
    }
    if let Some(response) = answer_operation(shared, peer, &parts).await? {
        return Ok(response);
    }
    let identity = shared.guard.identify(&parts, peer, view).await?;
    check_gateway_path(&parts)?;
    let client = endpoints.open_endpoint(view, identity)?;
    client.endpoint.sessions.store_token_of(&client.identity);
    if shared.is_draining() && !is_answer_path(&parts) {
        return Err(RequestRefusal::draining());
    }
    answer_client(shared, (&client, is_endpoint), parts, body).await
}

/// Answers a request of a verified client, at an endpoint or those of HTTP+SSE.
async fn answer_client(
    shared: &Arc<DoorShared>,
    (client, is_endpoint): (&EndpointClient, bool),
    parts: Parts,
    body: RequestBody,
) -> Result<Response<DoorBody>, RequestRefusal> {
    client.check_rate()?;
    let permit = shared.guard.admit(&client.identity.account)?;
    if parts.method != Method::POST {
        return match is_endpoint {
            true => mcp::answer_get_or_delete(client, &parts).await,
            false => legacy_sse::open_stream(shared, (&client.identity, permit), &parts),
        };
    }
    check_content_type(&parts)?;
    match is_endpoint {
        true => {
            check_accept(&parts)?;
            let body = read_body(&parts, body, DOOR_BODY_BYTES).await?;
            mcp::answer_post(shared, (client, permit), &parts, &body).await
        }
        false => {
            let body = read_body(&parts, body, DOOR_BODY_BYTES).await?;
            legacy_sse::answer_post(shared, (&client.identity, permit), &parts, &body)
        }
    }
}

/// Whether a request may carry the answer to a question of a call in progress, or end a session: both are
/// accepted while the gateway stops. New requests in a body are refused when it was read.
fn is_answer_path(parts: &Parts) -> bool {
    parts.method == Method::DELETE
        || (parts.method == Method::POST
            && (parts.headers.contains_key(mcp::SESSION_ID) || parts.uri.path() == "/messages"))
}

/// Answers the endpoints for operation; `None` for other paths.
async fn answer_operation(
    shared: &DoorShared,
    peer: PeerAddress,
    parts: &Parts,
) -> Result<Option<Response<DoorBody>>, RequestRefusal> {
    let response = match parts.uri.path() {
        "/healthz" => text_response(StatusCode::OK, "ok\n"),
        "/readyz" if shared.is_draining() => text_response(StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        "/readyz" => answer_readiness(shared),
        "/metrics" => {
            if !is_local_request(parts, peer) {
                shared.guard.identify(parts, peer, None).await?;
            }
            let figures = GatewayFigures {
                sessions: shared.session_count(),
                in_flight: shared.guard.load.in_flight(),
                questions: shared.open_questions(),
                state: shared.cluster.as_deref().map(state_figures),
            };
            metrics_response(shared.metrics.to_text(figures))
        }
        _ => return Ok(None),
    };
    Ok(Some(response))
}

/// Whether a request comes from this machine, and not through a proxy on it.
fn is_local_request(parts: &Parts, peer: PeerAddress) -> bool {
    match peer {
        PeerAddress::Unix(_) => true,
        PeerAddress::Tcp(address) => {
            let is_passed_on = PROXY_HEADERS.iter().any(|name| parts.headers.contains_key(*name));
            address.is_loopback() && has_loopback_host(parts) && !is_passed_on
        }
    }
}

/// Whether the gateway is ready. Without the shared state of its cluster it serves on, unless that is required.
fn answer_readiness(shared: &DoorShared) -> Response<DoorBody> {
    match shared.cluster.as_ref().filter(|link| !link.member.is_reachable()) {
        None => text_response(StatusCode::OK, "ready\n"),
        Some(link) if link.is_required => text_response(StatusCode::SERVICE_UNAVAILABLE, "degraded\n"),
        Some(_) => text_response(StatusCode::OK, "degraded\n"),
    }
}

/// Refuses a request that comes from this gateway itself.
fn check_gateway_path(parts: &Parts) -> Result<(), RequestRefusal> {
    let path = parts.headers.get(GATEWAY_PATH).and_then(|path| path.to_str().ok()).unwrap_or_default();
    accept_path(path).map_err(|GatewayLoop| {
        let reason =
            "this entry leads back to the gateway itself; remove it from the gateway's configuration";
        RequestRefusal::new(StatusCode::LOOP_DETECTED, "loop", reason)
    })
}

fn check_header_size(parts: &Parts) -> Result<(), RequestRefusal> {
    let header =
        |(name, value): (&hyper::header::HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
    let size: usize = parts.headers.iter().map(header).sum();
    let target = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    match size + target > DOOR_HEADER_BYTES {
        true => Err(RequestRefusal::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            "header_size",
            "the header is too large",
        )),
        false => Ok(()),
    }
}

/// Checks that the client accepts JSON and event streams.
fn check_accept(parts: &Parts) -> Result<(), RequestRefusal> {
    match accepts(parts, "application/json") && accepts(parts, "text/event-stream") {
        true => Ok(()),
        false => Err(RequestRefusal::new(
            StatusCode::NOT_ACCEPTABLE,
            "accept",
            "`Accept` must include `application/json` and `text/event-stream`",
        )),
    }
}

/// The origin of a request, if the user has listed it.
fn listed_origin(shared: &DoorShared, parts: &Parts) -> Option<HeaderValue> {
    let origin = parts.headers.get(ORIGIN)?;
    shared.guard.names.is_listed(origin.to_str().ok()?).then(|| origin.clone())
}

fn preflight_response(allowed: &'static str, parts: &Parts) -> Response<DoorBody> {
    let mut response = empty_response(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(allowed));
    // Arguments of tools have headers of their own; their names cannot be listed beforehand.
    let wanted = parts.headers.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|wanted| wanted.to_str().ok());
    let wanted = wanted.unwrap_or_default().split(',').map(str::trim);
    let arguments = wanted.filter(|name| name.to_ascii_lowercase().starts_with("mcp-param-"));
    let names: Vec<&str> = PAGE_HEADERS.into_iter().chain(arguments).collect();
    if let Ok(names) = HeaderValue::from_str(&names.join(", ")) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
    }
    response
}
