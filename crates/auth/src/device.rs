//! Sign-in on another device (RFC 8628): a code is shown here, and a person types it there.
//!
//! Nothing is opened here and nothing printed; whoever starts it shows [`Started`]. How often the server is asked, and
//! when that ends, is decided in `pace`.

mod pace;

#[cfg(test)]
mod tests;

use std::time::{Duration, SystemTime};

use mcparley_model::explain::Explain;
use mcparley_model::limits::{DEVICE_INTERVAL, DEVICE_INTERVAL_MOST, DEVICE_TIME};
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use self::pace::{Pause, pause_after};
use crate::client::Client;
use crate::grant::{
    self, AnswerError, ErrorCode, Grant, Granted, Keys, Pairs, TokenEndpoint, TokenError, TokenRequest, ask,
};
use crate::metadata::Server;
use crate::page::{Page, PageError};
use crate::web::Web;

/// How long the code that a person types may be.
const USER_CODE_CHARS: usize = 64;

/// Who signs in to what.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRequest<'r> {
    /// Who is asked.
    pub server: &'r Server,
    /// Who asks.
    pub client: &'r Client,
    /// What the token is to open (RFC 8707).
    pub resource: Option<&'r str>,
    /// What it is to be good for.
    pub scopes: &'r [String],
    /// What is signed with.
    pub keys: &'r Keys<'r>,
}

/// A sign-in that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// What the person types there.
    pub user_code: Untrusted,
    /// Where. May be opened in a browser.
    pub page: Page,
    /// The same with the code in it, for those who need not type.
    pub page_with_code: Option<Page>,
    /// How long the person has.
    pub lasts: Duration,
    interval: Duration,
    code: Secret<String>,
}

/// Why nobody signed in.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DeviceError {
    /// The server has no such sign-in.
    #[error("the authorization server has no sign-in on another device")]
    NoWay,
    /// The page it names is not one to send a person to.
    #[error("the authorization server names a page that is not shown to anybody")]
    Page(#[source] PageError),
    /// It could not be begun, or the server said no.
    #[error("the sign-in on another device came to nothing")]
    Asked(#[source] TokenError),
    /// The person said no.
    #[error("the sign-in was declined on the other device")]
    Declined,
    /// Nobody signed in in time.
    #[error("nobody signed in on the other device in time")]
    Expired,
}

/// Begins a sign-in.
///
/// # Errors
/// A [`DeviceError`].
pub async fn start(web: &Web, request: &DeviceRequest<'_>, now: SystemTime) -> Result<Started, DeviceError> {
    let DeviceRequest { server, client, resource, scopes, keys } = request;
    let endpoint = server.device_endpoint.as_ref().ok_or(DeviceError::NoWay)?;
    // Proofs of possession belong to requests for tokens alone (RFC 9449, 5).
    let keys = Keys { signing: keys.signing, ..Keys::default() };
    let token_endpoint = TokenEndpoint { endpoint, server, client, keys: &keys };
    let pairs = Pairs::default().with_scopes(scopes).with_resource(*resource);
    let page = grant::post(web, &token_endpoint, &pairs, now).await.map_err(DeviceError::Asked)?.page;
    let answer = grant::object(&page).map_err(|error| DeviceError::Asked(error.into()))?;
    started(&answer)
}

/// Waits until a person has signed in, for as long as the server allows. Dropping it ends the sign-in.
///
/// # Errors
/// A [`DeviceError`].
pub async fn wait(
    web: &Web,
    request: &DeviceRequest<'_>,
    started: &Started,
    clock: impl Fn() -> SystemTime,
) -> Result<Granted, DeviceError> {
    let DeviceRequest { server, client, resource, scopes, keys } = *request;
    let request =
        TokenRequest { server, client, grant: Grant::Device { code: &started.code }, resource, scopes };
    poll(started, || ask(web, &request, keys, clock())).await
}

async fn poll<F: Future<Output = Result<Granted, TokenError>>>(
    started: &Started,
    mut ask: impl FnMut() -> F,
) -> Result<Granted, DeviceError> {
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
        match pause_after(&error, interval) {
            Pause::For(longer) => interval = longer,
            Pause::Over => return Err(ended(error)),
        }
    }
}

fn ended(error: TokenError) -> DeviceError {
    match error.code() {
        Some(ErrorCode::AccessDenied) => DeviceError::Declined,
        Some(ErrorCode::ExpiredToken) => DeviceError::Expired,
        _ => DeviceError::Asked(error),
    }
}

fn started(answer: &Map<String, Value>) -> Result<Started, DeviceError> {
    let text = |field| {
        let missing = || DeviceError::Asked(AnswerError::Missing { field }.into());
        grant::text(answer, field).ok_or_else(missing)
    };
    let seconds = |field| answer.get(field).and_then(Value::as_u64).map(Duration::from_secs);
    let with_code = grant::text(answer, "verification_uri_complete");
    // The older name is what some servers still say.
    let page = text("verification_uri").or_else(|_| text("verification_url"))?;
    Ok(Started {
        user_code: Untrusted::new(text("user_code")?.chars().take(USER_CODE_CHARS).collect::<String>()),
        page: Page::parse(page).map_err(DeviceError::Page)?,
        page_with_code: with_code.map(Page::parse).transpose().map_err(DeviceError::Page)?,
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
            Self::NoWay => Some("sign in with a browser, or give `oauth.grant`".to_owned()),
            Self::Page(error) => error.hint(),
            Self::Asked(error) => error.hint(),
            Self::Declined => None,
            Self::Expired => Some("sign in again".to_owned()),
        }
    }
}
