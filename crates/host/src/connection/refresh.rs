//! Fetches lists again that the server says have changed (L10), seldom enough for any storm (F61).

use std::sync::Arc;

use mcparley_model::limits::{REFRESH_LATEST, REFRESH_QUIET};
use mcparley_wire::Session;
use tokio::time::Instant;

use super::notifications::Changes;
use crate::surface::{Lists, Surface};
use crate::task::Owned;

/// Where a refresh is.
#[derive(Debug, Default)]
pub(super) enum Refresh {
    /// Nothing has changed.
    #[default]
    Idle,
    /// Something has; more may follow at once.
    Settling {
        lists: Lists,
        /// When it has been quiet long enough.
        quiet: Instant,
        /// When it is time, quiet or not.
        latest: Instant,
    },
    /// The lists are being fetched.
    Fetching(Owned<Surface>),
}

impl Refresh {
    /// Waits for its next step and takes it; gives the new surface when there is one.
    pub(super) async fn next(
        &mut self,
        changes: &Changes,
        session: &Session,
        known: &Arc<Surface>,
    ) -> Arc<Surface> {
        loop {
            match self {
                Self::Idle => {
                    changes.news().await;
                    let now = Instant::now();
                    let (quiet, latest) = (now + REFRESH_QUIET, now + REFRESH_LATEST);
                    *self = Self::Settling { lists: changes.take(), quiet, latest };
                }
                Self::Settling { lists, quiet, latest } => {
                    let until = (*quiet).min(*latest);
                    tokio::select! {
                        biased;
                        () = tokio::time::sleep_until(until) => {
                            let (session, known, lists) = (session.clone(), Arc::clone(known), *lists);
                            *self = Self::Fetching(Owned::start(async move {
                                known.refetched(&session, lists).await
                            }));
                        }
                        () = changes.news() => {
                            *lists = lists.and(changes.take());
                            *quiet = Instant::now() + REFRESH_QUIET;
                        }
                    }
                }
                Self::Fetching(work) => {
                    let surface = work.done().await;
                    *self = Self::Idle;
                    if let Some(surface) = surface {
                        return Arc::new(surface);
                    }
                }
            }
        }
    }
}

const _: () = assert!(REFRESH_QUIET.as_millis() < REFRESH_LATEST.as_millis(), "quiet comes first");
