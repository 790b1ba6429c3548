//! Sessions of browsers: the token is exchanged for a cookie, and every request needs that cookie and a
//! header that no form and no foreign page can send.
//!
//! Cookies do not know ports, so the name of the cookie has the port: two pages on this machine do not
//! overwrite each other's session. Sessions are in memory and end with the program.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::StatusCode;
use hyper::header::{COOKIE, HOST, HeaderMap};
use mcparley_model::limits::PAGE_SESSIONS;

use crate::response::{ErrorResponse, error_response};

/// The header that every request of the page has; a foreign page cannot send it without a preflight request,
/// which is never answered.
const PAGE_HEADER: &str = "x-mcparley-ui";
/// The length of a session's secret.
const SECRET_BYTES: usize = 32;

/// The sessions of the browsers that have shown the token.
#[derive(Debug, Default)]
pub(crate) struct PageSessions {
    state: Mutex<SessionList>,
}

#[derive(Debug, Default)]
struct SessionList {
    /// Oldest first.
    open: Vec<BrowserSession>,
    last_number: u64,
}

#[derive(Debug)]
struct BrowserSession {
    secret: String,
    /// The principal of its calls.
    principal: String,
}

impl PageSessions {
    /// Opens a session, and returns the value of the `Set-Cookie` header; `None` if the system gives no random
    /// numbers. Above the limit the oldest session ends.
    pub(crate) fn open_session(&self, headers: &HeaderMap) -> Option<String> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes).ok()?;
        let secret = URL_SAFE_NO_PAD.encode(bytes);
        let cookie = format!("{}={secret}; Path=/ui/; HttpOnly; SameSite=Strict", cookie_name(headers));
        let mut state = self.lock_state();
        if state.open.len() >= PAGE_SESSIONS {
            state.open.remove(0);
        }
        state.last_number += 1;
        let principal = format!("ui:{}", state.last_number);
        state.open.push(BrowserSession { secret, principal });
        Some(cookie)
    }

    /// The principal of a request.
    ///
    /// # Errors
    /// When the header of the page or the cookie of a session is missing.
    pub(crate) fn check_request(&self, headers: &HeaderMap) -> Result<String, ErrorResponse> {
        check_page_header(headers)?;
        self.find_session(headers).ok_or_else(|| {
            let hint = "open the address that `mcparley ui` printed, or start it again";
            error_response(StatusCode::UNAUTHORIZED, "this page is not signed in", Some(hint))
        })
    }

    fn find_session(&self, headers: &HeaderMap) -> Option<String> {
        let name = cookie_name(headers);
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let given: Vec<&str> = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).collect();
        let state = self.lock_state();
        let is_it = |session: &&BrowserSession| {
            given
                .iter()
                .any(|given| verify_slices_are_equal(given.as_bytes(), session.secret.as_bytes()).is_ok())
        };
        state.open.iter().find(is_it).map(|session| session.principal.clone())
    }

    fn lock_state(&self) -> MutexGuard<'_, SessionList> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks the header that only the page itself can send.
///
/// # Errors
/// When it is missing.
pub(crate) fn check_page_header(headers: &HeaderMap) -> Result<(), ErrorResponse> {
    match headers.get(PAGE_HEADER).is_some_and(|value| value == "1") {
        true => Ok(()),
        false => {
            Err(error_response(StatusCode::FORBIDDEN, "the header `X-Mcparley-Ui: 1` is required", None))
        }
    }
}

/// The name of the cookie at the host and port of this request.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    port.map_or_else(|| "mcparley-ui".to_owned(), |port| format!("mcparley-ui-{port}"))
}
