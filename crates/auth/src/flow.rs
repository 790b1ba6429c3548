//! A sign-in that is under way, as those see it who wait for it: the page to open, and how it ended.
//!
//! The work belongs to nobody who waits: whoever gives up leaves it to the others.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::{mpsc, oneshot, watch};

use crate::error::SignInError;
use crate::metadata::Server;
use crate::page::Page;
use crate::task::Tasks;

/// How many pasted texts wait; one person pastes one after the other.
const PASTED: usize = 4;

/// How a person takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// In a browser that comes back to this machine, or whose last address is pasted.
    #[default]
    Browser,
    /// On another device, with a code (RFC 8628).
    Device,
}

/// A sign-in that is under way. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Flow(Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    page: Option<Page>,
    /// Whether somebody was asked to show it; those who wait for one person share it.
    is_shown: Arc<AtomicBool>,
    user_code: Option<String>,
    token_origin: Option<String>,
    pasted: mpsc::Sender<Pasted>,
    done: watch::Receiver<Option<Result<(), Arc<SignInError>>>>,
}

/// What a person pasted, and where to say whether it was right.
pub(crate) struct Pasted {
    pub(crate) text: String,
    pub(crate) reply: oneshot::Sender<Result<(), SignInError>>,
}

/// What a person sees of a sign-in.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    page: Option<Page>,
    user_code: Option<String>,
    /// The origin that gives the tokens, if it is not the issuer's own.
    token_origin: Option<String>,
    is_shown: Arc<AtomicBool>,
}

impl Shown {
    /// The `page` of a sign-in at `server`, and the code it asks for, if it does.
    pub(crate) fn new(page: Page, user_code: Option<String>, server: &Server) -> Self {
        let token_origin = server.foreign_token_origin();
        Self { page: Some(page), user_code, token_origin, is_shown: Arc::default() }
    }
}

impl Flow {
    /// Starts the work of a sign-in.
    pub(crate) fn start<F>(
        tasks: &Tasks,
        shown: Shown,
        work: impl FnOnce(mpsc::Receiver<Pasted>) -> F,
    ) -> Self
    where
        F: Future<Output = Result<(), SignInError>> + Send + 'static,
    {
        let Shown { page, user_code, token_origin, is_shown } = shown;
        let (pasted, inbox) = mpsc::channel(PASTED);
        let (ended, done) = watch::channel(None);
        let flow = Self(Arc::new(Inner { page, is_shown, user_code, token_origin, pasted, done }));
        let work = work(inbox);
        // Lives as long as the work, so that whoever comes meanwhile finds it.
        let held = flow.clone();
        tasks.spawn(async move {
            let outcome = work.await.map_err(Arc::new);
            ended.send_replace(Some(outcome));
            drop(held);
        });
        flow
    }

    /// What a person sees of it, for a sign-in that waits for this one.
    pub(crate) fn shown(&self) -> Shown {
        let Inner { page, user_code, token_origin, is_shown, .. } = &*self.0;
        let (page, user_code, token_origin) = (page.clone(), user_code.clone(), token_origin.clone());
        Shown { page, user_code, token_origin, is_shown: Arc::clone(is_shown) }
    }

    pub(crate) fn from_inner(inner: Arc<Inner>) -> Self {
        Self(inner)
    }

    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.0)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.0.done.borrow().is_some()
    }

    /// The page a person has to open; none where nobody is needed.
    #[must_use]
    pub fn page(&self) -> Option<&Page> {
        self.0.page.as_ref()
    }

    /// The page, for the first who asks for it: one window for all who wait.
    #[must_use]
    pub fn unseen_page(&self) -> Option<&Page> {
        self.page().filter(|_| !self.0.is_shown.swap(true, Ordering::Relaxed))
    }

    /// The code that the page asks for, if it does.
    #[must_use]
    pub fn user_code(&self) -> Option<&str> {
        self.0.user_code.as_deref()
    }

    /// The origin that gives the tokens, if it is another than the issuer's. The issuer says so over `https`, or it would
    /// be refused; the person is told of it before anything is agreed to.
    #[must_use]
    pub fn token_origin(&self) -> Option<&str> {
        self.0.token_origin.as_deref()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Why nobody is signed in. What worked before still works.
    pub async fn wait(&self) -> Result<(), Arc<SignInError>> {
        let mut done = self.0.done.clone();
        match done.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
            Err(_) => Err(Arc::new(SignInError::Stopped)),
        }
    }

    /// Takes the address a browser on another machine ended on.
    ///
    /// # Errors
    /// When it is not one that this sign-in waits for; it goes on waiting.
    pub async fn paste(&self, text: &str) -> Result<(), SignInError> {
        let (reply, answer) = oneshot::channel();
        let pasted = Pasted { text: text.to_owned(), reply };
        self.0.pasted.send(pasted).await.map_err(|_| SignInError::Stopped)?;
        answer.await.unwrap_or(Err(SignInError::Stopped))
    }
}

impl std::fmt::Debug for Pasted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pasted(***)")
    }
}
