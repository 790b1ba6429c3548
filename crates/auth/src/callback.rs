//! The browser's way back: a door on this machine that one answer can come through (RFC 8252, 7.3).
//!
//! It is open from [`Callback::bind`] until the value is dropped, and must be open before a client is registered and before
//! the browser leaves, so that nobody else can stand there (H18). Whoever comes without the mark of the attempt is told to
//! go away and changes nothing (H17): other pages in the browser and other people on the machine can reach it too.

mod desk;
mod doors;
mod error;
mod reply;
mod request;
mod visit;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::CALLBACK_LAST_PAGE;
use tokio::time::timeout;
use url::Url;

use crate::authorize::{Answer, Attempt};
use crate::task::Owned;
use desk::Desk;
use doors::Doors;
use reply::Reply;

pub use error::CallbackError;

/// Where browsers are sent back to, below the port.
const PATH: &str = "/callback";

/// How a sign-in ended, for the page in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Somebody is signed in.
    SignedIn,
    /// Nobody is.
    Failed,
}

impl Ending {
    /// The ending that a result stands for.
    #[must_use]
    pub fn of<T, E>(result: &Result<T, E>) -> Self {
        if result.is_ok() { Self::SignedIn } else { Self::Failed }
    }
}

/// An open way back.
#[derive(Debug)]
pub struct Callback {
    redirect: Url,
    desk: Arc<Desk>,
    _serving: Owned<()>,
}

impl Callback {
    /// Opens a way back, at a free port or at the one that was registered. Needs a running `tokio` runtime.
    ///
    /// A free port is named by number, `http://127.0.0.1:PORT/callback`, as RFC 8252 advises: no table of names can lead
    /// it elsewhere. A fixed one is `http://localhost:PORT/callback`, because that is what people have registered for
    /// Claude Code, and an authorization server compares the text.
    ///
    /// # Errors
    /// When the port is taken: it is never shared, and never replaced by another.
    pub fn bind(port: Option<u16>) -> Result<Self, CallbackError> {
        let doors = port.map_or_else(Doors::any, Doors::at)?;
        let host = if port.is_some() { "localhost" } else { "127.0.0.1" };
        let redirect = format!("http://{host}:{}{PATH}", doors.port());
        let redirect = Url::parse(&redirect).map_err(|_| CallbackError::NotHere)?;
        Ok(Self::open(doors, redirect))
    }

    /// Opens the way back that a client was registered with earlier.
    ///
    /// # Errors
    /// When it is not on this machine, or its port is taken.
    pub fn bind_to(redirect: &Url) -> Result<Self, CallbackError> {
        let port = redirect.port_or_known_default();
        let is_ours = redirect.host_str().is_some_and(|host| desk::HOSTS.contains(&host));
        let port = port.filter(|_| redirect.scheme() == "http" && is_ours);
        let doors = Doors::at(port.ok_or(CallbackError::NotHere)?)?;
        Ok(Self::open(doors, redirect.clone()))
    }

    fn open(doors: Doors, redirect: Url) -> Self {
        let desk = Arc::new(Desk::new(&redirect, doors.port()));
        let serving = Owned::start(visit::serve(doors, Arc::clone(&desk)));
        Self { redirect, desk, _serving: serving }
    }

    /// Where the browser is to be sent back to.
    #[must_use]
    pub fn redirect(&self) -> &Url {
        &self.redirect
    }

    /// Waits for the answer to the attempt; everything else is turned away, also before and afterwards.
    ///
    /// May be given up and called again: an answer that came meanwhile is not lost.
    ///
    /// # Errors
    /// When none came within `limit`.
    pub async fn wait(&mut self, attempt: &Attempt, limit: Duration) -> Result<Answer, CallbackError> {
        self.desk.expect(attempt.expected());
        let answered = timeout(limit, self.desk.answer()).await;
        answered.map_err(|_| {
            self.desk.expect_nothing();
            CallbackError::Late { after: limit }
        })
    }

    /// Tells the browser that brought the answer how the sign-in ended, and closes the way back.
    ///
    /// Without it that browser is told nothing: a code that came back is not yet a sign-in.
    pub async fn close(self, ending: Ending) {
        let reply = match ending {
            Ending::SignedIn => Reply::Done,
            Ending::Failed => Reply::Trouble,
        };
        // A browser that does not take its page is not waited for.
        let _untold = timeout(CALLBACK_LAST_PAGE, self.desk.close(reply)).await;
    }
}

#[cfg(test)]
mod tests;
