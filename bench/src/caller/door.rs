//! Calls through a door of the library, on a runtime of one thread.
//!
//! Callers are tasks, as in an agent: the future that a runtime blocks on is polled less directly.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::Caller;

/// A way into the library that is open. All clones are the same.
pub(super) trait Door: Clone + Send + Sync + 'static {
    /// Makes one call and looks at its text.
    fn call(&self, size: usize) -> impl Future<Output = io::Result<()>> + Send;
}

/// A door and the runtime it lives on.
pub(super) struct Through<D> {
    /// Dropped before the runtime, and its server with it.
    door: D,
    runtime: Runtime,
}

impl<D: Door> Through<D> {
    pub(super) fn open(open: impl Future<Output = io::Result<D>>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let door = runtime.block_on(open)?;
        Ok(Self { door, runtime })
    }
}

impl<D: Door> Caller for Through<D> {
    fn one_by_one(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>> {
        self.runtime.block_on(async {
            let mut caller = JoinSet::new();
            caller.spawn(times(self.door.clone(), size, count));
            caller.join_next().await.ok_or(io::ErrorKind::NotFound)?.map_err(io::Error::other)?
        })
    }

    fn at_once(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration> {
        self.runtime.block_on(async {
            let start = Instant::now();
            let begun = Arc::new(AtomicUsize::new(0));
            let mut callers = JoinSet::new();
            for _ in 0..width {
                callers.spawn(call_until(Arc::clone(&begun), count, self.door.clone(), size));
            }
            while let Some(ended) = callers.join_next().await {
                ended.map_err(io::Error::other)??;
            }
            Ok(start.elapsed())
        })
    }
}

/// One caller.
async fn times(door: impl Door, size: usize, count: usize) -> io::Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        door.call(size).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// One of several callers that share `count` calls.
async fn call_until(begun: Arc<AtomicUsize>, count: usize, door: impl Door, size: usize) -> io::Result<()> {
    while begun.fetch_add(1, Ordering::Relaxed) < count {
        door.call(size).await?;
    }
    Ok(())
}
