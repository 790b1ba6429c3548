//! The redirect address of sign-ins: browsers come here from the authorization server of a server.
//!
//! A browser has no token. The `state` in the query stands for the principal that began the sign-in. In a cluster it
//! begins with the gateway that knows the sign-in, which then answers.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use mcparley::auth::{CallbackEndpoint, CallbackReply};
use mcparley_cluster::InstanceId;

use crate::body::DoorBody;
use crate::guard::refusal::RequestRefusal;
use crate::shared::DoorShared;
use mcparley_gateway::cluster_link::ClusterLink;

/// The path of the redirect address.
pub(crate) const CALLBACK_PATH: &str = CallbackEndpoint::PATH;

/// Answers the redirect of a browser, when its sign-in has ended.
pub(crate) async fn answer_callback(
    shared: &DoorShared,
    parts: &Parts,
) -> Result<Response<DoorBody>, RequestRefusal> {
    let nothing = || RequestRefusal::new(StatusCode::NOT_FOUND, "path", "there is nothing at this path");
    let callback = shared.callback.as_ref().ok_or_else(nothing)?;
    let query = parts.uri.query().unwrap_or_default();
    let reply = match find_owner(shared, query) {
        Some((link, owner)) => link
            .forward_redirect(owner, query.to_owned())
            .await
            .unwrap_or_else(CallbackReply::for_lost_gateway),
        None => callback.receive_redirect(query).await,
    };
    let mut response = Response::new(DoorBody::from_bytes(Bytes::from(reply.page)));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // The address of this page holds the authorization code.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(policy) = HeaderValue::from_str(&reply.policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// The other gateway that began the sign-in of a browser.
fn find_owner<'s>(shared: &'s DoorShared, query: &str) -> Option<(&'s Arc<ClusterLink>, InstanceId)> {
    let link = shared.cluster.as_ref()?;
    let owner = link.open_sign_in(&CallbackEndpoint::gateway_of(query)?)?;
    (owner != link.instance()).then_some((link, owner))
}
