//! Refreshes changed lists, debounced: a flood of change notifications causes few fetches.

use std::sync::Arc;

use mcparley_model::limits::{REFRESH_LATEST, REFRESH_QUIET};
use mcparley_wire::ProtocolSession;
use tokio::time::Instant;

use super::notifications::{ChangedLists, ListChanges};
use crate::surface::Surface;
use crate::task::AbortOnDropTask;

/// The state of the debounced refresh.
#[derive(Debug, Default)]
pub(super) enum ListRefresh {
    /// No list has changed.
    #[default]
    Idle,
    /// Lists have changed; more changes may follow shortly.
    Settling {
        lists: ChangedLists,
        /// The end of the quiet period, which each new change extends.
        quiet: Instant,
        /// The latest time to fetch, even if changes keep coming.
        latest: Instant,
    },
    /// The lists are being fetched.
    Fetching(AbortOnDropTask<Surface>),
}

impl ListRefresh {
    /// Runs the refresh until a new surface has been fetched. Cancel safe.
    pub(super) async fn next(
        &mut self,
        changes: &ListChanges,
        session: &ProtocolSession,
        known: &Arc<Surface>,
    ) -> Arc<Surface> {
        loop {
            match self {
                Self::Idle => {
                    changes.wait_for_marks().await;
                    let now = Instant::now();
                    let (quiet, latest) = (now + REFRESH_QUIET, now + REFRESH_LATEST);
                    *self = Self::Settling { lists: changes.take_lists(), quiet, latest };
                }
                Self::Settling { lists, quiet, latest } => {
                    let until = (*quiet).min(*latest);
                    tokio::select! {
                        biased;
                        () = tokio::time::sleep_until(until) => {
                            let (session, known, lists) = (session.clone(), Arc::clone(known), *lists);
                            *self = Self::Fetching(AbortOnDropTask::start(async move {
                                known.after_changes(&session, lists.announced, lists.missed).await
                            }));
                        }
                        () = changes.wait_for_marks() => {
                            *lists = lists.union(changes.take_lists());
                            *quiet = Instant::now() + REFRESH_QUIET;
                        }
                    }
                }
                Self::Fetching(work) => {
                    let surface = work.join().await;
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
