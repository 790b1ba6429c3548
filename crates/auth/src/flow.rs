//! A sign-in in progress, as its callers see it: the page to open, and the outcome.
//!
//! The sign-in runs in its own task: a caller that gives up does not cancel it for the others.

mod browser_answer;

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::{mpsc, oneshot, watch};

use crate::browser_page::BrowserPage;
use crate::error::SignInError;
use crate::metadata::AuthServerMetadata;
use crate::task::TaskGroup;

pub(crate) use browser_answer::await_authorization_response;

/// The capacity of the channel for pasted texts; a user pastes one after the other.
const PASTED: usize = 4;

/// The method by which the user signs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignInMethod {
    /// In a browser that is redirected to this machine, or whose last address is pasted.
    #[default]
    Browser,
    /// On another device, with a code (RFC 8628).
    Device,
}

/// A sign-in in progress. Cheap to clone; all clones share one state.
#[derive(Clone, Debug)]
pub struct Flow(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    page: Option<BrowserPage>,
    /// Whether the page was handed out to be shown; sign-ins that wait for one page share it.
    is_page_taken: Arc<AtomicBool>,
    user_code: Option<String>,
    token_origin: Option<String>,
    pasted: mpsc::Sender<PastedAddress>,
    done: watch::Receiver<Option<Result<(), Arc<SignInError>>>>,
}

/// A pasted text, and the channel for the verdict about it.
pub(crate) struct PastedAddress {
    pub(crate) text: String,
    pub(crate) reply: oneshot::Sender<Result<(), SignInError>>,
}

/// The parts of a sign-in that are shown to the user.
#[derive(Debug, Default)]
pub(crate) struct FlowDisplay {
    page: Option<BrowserPage>,
    user_code: Option<String>,
    /// The origin of the token endpoint, if it is not the issuer's own.
    token_origin: Option<String>,
    is_page_taken: Arc<AtomicBool>,
}

impl FlowDisplay {
    /// The `page` of a sign-in at `server`, and the code that the page asks for, if there is one.
    pub(crate) fn new(page: BrowserPage, user_code: Option<String>, server: &AuthServerMetadata) -> Self {
        let token_origin = server.foreign_token_origin();
        Self { page: Some(page), user_code, token_origin, is_page_taken: Arc::default() }
    }
}

impl Flow {
    /// Starts a sign-in.
    pub(crate) fn start_flow<F>(
        tasks: &TaskGroup,
        shown: FlowDisplay,
        work: impl FnOnce(mpsc::Receiver<PastedAddress>) -> F,
    ) -> Self
    where
        F: Future<Output = Result<(), SignInError>> + Send + 'static,
    {
        let FlowDisplay { page, user_code, token_origin, is_page_taken: is_shown } = shown;
        let (pasted, inbox) = mpsc::channel(PASTED);
        let (ended, done) = watch::channel(None);
        let flow =
            Self(Arc::new(Inner { page, is_page_taken: is_shown, user_code, token_origin, pasted, done }));
        let work = work(inbox);
        // Held until the work ends, so that a caller in the meantime can join.
        let held = flow.clone();
        tasks.spawn(async move {
            let outcome = work.await.map_err(Arc::new);
            ended.send_replace(Some(outcome));
            drop(held);
        });
        flow
    }

    /// The parts that are shown to the user, for a sign-in that waits for this one.
    pub(crate) fn to_display(&self) -> FlowDisplay {
        let Inner { page, user_code, token_origin, is_page_taken: is_shown, .. } = &*self.0;
        let (page, user_code, token_origin) = (page.clone(), user_code.clone(), token_origin.clone());
        FlowDisplay { page, user_code, token_origin, is_page_taken: Arc::clone(is_shown) }
    }

    pub(crate) fn from_inner(inner: Arc<Inner>) -> Self {
        Self(inner)
    }

    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.0.done.borrow().is_some()
    }

    /// The page that the user has to open; `None` when the user is not needed.
    #[must_use]
    pub fn page(&self) -> Option<&BrowserPage> {
        self.0.page.as_ref()
    }

    /// The page, for the first caller only: one browser window for all callers.
    #[must_use]
    pub fn take_unseen_page(&self) -> Option<&BrowserPage> {
        self.page().filter(|_| !self.0.is_page_taken.swap(true, Ordering::Relaxed))
    }

    /// The code that the page asks for, if there is one.
    #[must_use]
    pub fn user_code(&self) -> Option<&str> {
        self.0.user_code.as_deref()
    }

    /// The origin of the token endpoint, if it is not the issuer's own. The issuer's metadata names it over
    /// `https`, or it would be refused; the user is told before giving consent.
    #[must_use]
    pub fn token_origin(&self) -> Option<&str> {
        self.0.token_origin.as_deref()
    }

    /// Waits until the sign-in ends.
    ///
    /// # Errors
    /// The reason why it failed. Tokens that worked before still work.
    pub async fn wait_until_done(&self) -> Result<(), Arc<SignInError>> {
        let mut done = self.0.done.clone();
        match done.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
            Err(_) => Err(Arc::new(SignInError::Stopped)),
        }
    }

    /// Accepts the redirect address that a browser on another machine ended on.
    ///
    /// # Errors
    /// When it does not belong to this sign-in, which continues to wait.
    pub async fn paste_address(&self, text: &str) -> Result<(), SignInError> {
        let (reply, answer) = oneshot::channel();
        let pasted = PastedAddress { text: text.to_owned(), reply };
        self.0.pasted.send(pasted).await.map_err(|_| SignInError::Stopped)?;
        answer.await.unwrap_or(Err(SignInError::Stopped))
    }
}

impl std::fmt::Debug for PastedAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pasted(***)")
    }
}
