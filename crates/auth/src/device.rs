//! Sign-in on another device (RFC 8628, device authorization grant): a code is shown here, and the user types
//! it there.
//!
//! This module opens no page and prints nothing; the caller shows the [`DeviceAuthorization`]. The polling
//! interval and the end of polling are decided in `poll_interval`.

mod poll_interval;

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

use mcparley_model::explain::Explain;
use mcparley_model::limits::{DEVICE_INTERVAL, DEVICE_INTERVAL_MOST, DEVICE_TIME};
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use self::poll_interval::{NextPoll, next_poll_after};
use crate::browser_page::{BrowserPage, PageError};
use crate::client::OAuthClient;
use crate::grant::{
    self, OAuthErrorCode, OAuthParameters, TokenEndpoint, TokenError, TokenGrant, TokenRequest,
    TokenRequestKeys, TokenResponse, TokenResponseError, request_tokens,
};
use crate::metadata::AuthServerMetadata;
use crate::web::Web;

/// The longest code that a user types.
const USER_CODE_CHARS: usize = 64;

/// The parameters of a device authorization request.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRequest<'r> {
    /// The authorization server.
    pub server: &'r AuthServerMetadata,
    /// Our client.
    pub client: &'r OAuthClient,
    /// The resource the token is for (RFC 8707).
    pub resource: Option<&'r str>,
    /// The scopes to request.
    pub scopes: &'r [String],
    /// The keys for client authentication and proof of possession.
    pub keys: &'r TokenRequestKeys<'r>,
}

/// A device authorization that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceAuthorization {
    /// The code that the user types there.
    pub user_code: Untrusted,
    /// The page on which the user types it.
    pub page: BrowserPage,
    /// The page with the code already filled in.
    pub page_with_code: Option<BrowserPage>,
    /// The time until the code expires.
    pub lasts: Duration,
    interval: Duration,
    code: Secret<String>,
}

/// The reason why a sign-in on another device failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The authorization server does not support it.
    #[error("the authorization server does not support sign-in on another device")]
    Unsupported,
    /// The page of the authorization server must not be shown.
    #[error("the authorization server's page for the code is not allowed")]
    Page(#[source] PageError),
    /// The request failed, or the server refused.
    #[error("the sign-in on another device failed")]
    Asked(#[source] TokenError),
    /// The user declined.
    #[error("the sign-in was declined on the other device")]
    Declined,
    /// The code expired before the user signed in.
    #[error("the code for the other device expired")]
    Expired,
}

/// Starts a sign-in on another device.
///
/// # Errors
/// A [`DeviceError`].
pub async fn start_device_sign_in(
    web: &Web,
    request: &DeviceRequest<'_>,
    now: SystemTime,
) -> Result<DeviceAuthorization, DeviceError> {
    let DeviceRequest { server, client, resource, scopes, keys } = request;
    let endpoint = server.device_endpoint.as_ref().ok_or(DeviceError::Unsupported)?;
    // Proofs of possession belong only to token requests (RFC 9449, 5).
    let keys = TokenRequestKeys { signing: keys.signing, ..TokenRequestKeys::default() };
    let token_endpoint = TokenEndpoint { endpoint, server, client, keys: &keys };
    let pairs = OAuthParameters::default().with_scopes(scopes).with_resource(*resource);
    let page = grant::post_form(web, &token_endpoint, &pairs, now).await.map_err(DeviceError::Asked)?.page;
    let answer = grant::parse_object(&page).map_err(|error| DeviceError::Asked(error.into()))?;
    parse_authorization(&answer)
}

/// Polls until the user has signed in, for as long as the server allows. Dropping the future ends the
/// sign-in.
///
/// # Errors
/// A [`DeviceError`].
pub async fn wait_for_device(
    web: &Web,
    request: &DeviceRequest<'_>,
    started: &DeviceAuthorization,
    clock: impl Fn() -> SystemTime,
) -> Result<TokenResponse, DeviceError> {
    let DeviceRequest { server, client, resource, scopes, keys } = *request;
    let request =
        TokenRequest { server, client, grant: TokenGrant::Device { code: &started.code }, resource, scopes };
    poll_until_granted(started, || request_tokens(web, &request, keys, clock())).await
}

async fn poll_until_granted<F: Future<Output = Result<TokenResponse, TokenError>>>(
    started: &DeviceAuthorization,
    mut ask: impl FnMut() -> F,
) -> Result<TokenResponse, DeviceError> {
    let end = Instant::now() + started.lasts;
    let mut interval = started.interval;
    loop {
        if Instant::now() + interval >= end {
            return Err(DeviceError::Expired);
        }
        sleep(interval).await;
        let error = match ask().await {
            Ok(granted) => return Ok(granted),
            Err(error) => error,
        };
        match next_poll_after(&error, interval) {
            NextPoll::After(longer) => interval = longer,
            NextPoll::Never => return Err(final_error(error)),
        }
    }
}

fn final_error(error: TokenError) -> DeviceError {
    match error.code() {
        Some(OAuthErrorCode::AccessDenied) => DeviceError::Declined,
        Some(OAuthErrorCode::ExpiredToken) => DeviceError::Expired,
        _ => DeviceError::Asked(error),
    }
}

fn parse_authorization(answer: &Map<String, Value>) -> Result<DeviceAuthorization, DeviceError> {
    let text = |field| {
        let missing = || DeviceError::Asked(TokenResponseError::Missing { field }.into());
        grant::text_field(answer, field).ok_or_else(missing)
    };
    let seconds = |field| answer.get(field).and_then(Value::as_u64).map(Duration::from_secs);
    let with_code = grant::text_field(answer, "verification_uri_complete");
    // Some servers still use the older name.
    let page = text("verification_uri").or_else(|_| text("verification_url"))?;
    Ok(DeviceAuthorization {
        user_code: Untrusted::new(text("user_code")?.chars().take(USER_CODE_CHARS).collect::<String>()),
        page: BrowserPage::parse(page).map_err(DeviceError::Page)?,
        page_with_code: with_code.map(BrowserPage::parse).transpose().map_err(DeviceError::Page)?,
        lasts: seconds("expires_in").unwrap_or(DEVICE_TIME).min(DEVICE_TIME),
        interval: seconds("interval")
            .unwrap_or(DEVICE_INTERVAL)
            .clamp(Duration::from_secs(1), DEVICE_INTERVAL_MOST),
        code: Secret::new(text("device_code")?.to_owned()),
    })
}

impl Explain for DeviceError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Unsupported => Some("sign in with a browser, or set `oauth.grant`".to_owned()),
            Self::Page(error) => error.hint(),
            Self::Asked(error) => error.hint(),
            Self::Declined => None,
            Self::Expired => Some("sign in again".to_owned()),
        }
    }
}
