//! The paths of a web page beside the endpoints for MCP: requests below `/ui/` go to its handler, after host and
//! origin were checked.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming as RequestBody;
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use mcparley_model::limits::PAGE_BODY_BYTES;

use crate::body::DoorBody;
use crate::guard::PeerAddress;
use crate::guard::refusal::RequestRefusal;
use crate::page::{PAGE_PATH, PageRequest, SESSION_PATH};
use crate::request_body::{check_content_type, read_body};
use crate::shared::DoorShared;

/// The principal that the load of all requests of the page counts to.
const PAGE_PRINCIPAL: &str = "ui";

/// Whether a path belongs to the web page of this door.
pub(crate) fn is_page_path(shared: &DoorShared, path: &str) -> bool {
    shared.page.is_some() && (path.starts_with(PAGE_PATH) || path == "/ui")
}

/// Answers a request below `/ui/`.
pub(crate) async fn answer_page(
    shared: &Arc<DoorShared>,
    peer: PeerAddress,
    parts: Parts,
    body: RequestBody,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let Some(page) = &shared.page else {
        return Err(RequestRefusal::path("path"));
    };
    if parts.method != Method::GET && parts.method != Method::POST {
        return Err(RequestRefusal::method("GET, POST"));
    }
    shared.guard.check_names(&parts, peer)?;
    if shared.is_draining() {
        return Err(RequestRefusal::draining());
    }
    let mut request = PageRequest { parts, body: Bytes::new(), principal: None };
    if request.parts.method == Method::GET {
        return Ok(page.answer_request(request).await.map(DoorBody::from));
    }
    check_content_type(&request.parts)?;
    if request.parts.uri.path() == SESSION_PATH {
        let identity = shared.guard.identify(&request.parts, peer, None).await?;
        if !shared.guard.tokens.may_open_page(&identity.account) {
            let reason = "this token is not for the page: use the one named `ui`";
            return Err(RequestRefusal::new(StatusCode::FORBIDDEN, "page_token", reason));
        }
        request.principal = Some(Arc::clone(&identity.account));
    } else if let Err(refused) = page.check_session(&request.parts) {
        return Ok(refused.map(DoorBody::from));
    }
    let permit = shared.guard.admit(&Arc::from(PAGE_PRINCIPAL))?;
    request.body = read_body(&request.parts, body, PAGE_BODY_BYTES).await?;
    let response = page.answer_request(request).await;
    drop(permit);
    Ok(response.map(DoorBody::from))
}
