//! The process of a local server that is being reached, for whoever watches over its start.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::text::Untrusted;
use mcparley_wire::transport::stdio::{Stderr, Stdio};

/// The process started last on the way to a server, if any. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartedProcess(Arc<Mutex<Option<Started>>>);

#[derive(Debug)]
struct Started {
    id: u32,
    stderr: Stderr,
}

impl StartedProcess {
    /// From now on it is this one.
    pub(super) fn set(&self, server: &Stdio) {
        *self.locked() = Some(Started { id: server.pid(), stderr: server.stderr() });
    }

    /// Its process id.
    pub(crate) fn id(&self) -> Option<u32> {
        self.locked().as_ref().map(|started| started.id)
    }

    /// The record of its standard error.
    pub(crate) fn stderr_record(&self) -> Option<Stderr> {
        self.locked().as_ref().map(|started| started.stderr.clone())
    }

    /// The end of what it wrote to its standard error.
    pub(crate) fn stderr(&self) -> Untrusted {
        self.stderr_record().map(|stderr| Untrusted::new(stderr.text())).unwrap_or_default()
    }

    fn locked(&self) -> MutexGuard<'_, Option<Started>> {
        // It is replaced in one step, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
