//! Calls through one layer of the library, on a runtime with a thread per core, as agents have.
//!
//! Callers are tasks, as in an agent: the future that a runtime blocks on is polled less directly.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::BenchCaller;

/// An open connection through one layer of the library. All clones share it.
pub(super) trait LibraryLayer: Clone + Send + Sync + 'static {
    /// Makes one call and checks its text.
    fn call(&self, size: usize) -> impl Future<Output = io::Result<()>> + Send;
}

/// A layer and the runtime it runs on.
pub(super) struct LayerCaller<D> {
    /// The layer; dropped before the runtime, together with its server.
    layer: D,
    runtime: Runtime,
}

impl<D: LibraryLayer> LayerCaller<D> {
    pub(super) fn open(open: impl Future<Output = io::Result<D>>) -> io::Result<Self> {
        let runtime = Runtime::new()?;
        let door = runtime.block_on(open)?;
        Ok(Self { layer: door, runtime })
    }
}

impl<D: LibraryLayer> BenchCaller for LayerCaller<D> {
    fn call_sequentially(&mut self, size: usize, count: usize) -> io::Result<Vec<Duration>> {
        self.runtime.block_on(async {
            let mut caller = JoinSet::new();
            caller.spawn(time_calls(self.layer.clone(), size, count));
            caller.join_next().await.ok_or(io::ErrorKind::NotFound)?.map_err(io::Error::other)?
        })
    }

    fn call_concurrently(&mut self, size: usize, count: usize, width: usize) -> io::Result<Duration> {
        self.runtime.block_on(async {
            let start = Instant::now();
            let begun = Arc::new(AtomicUsize::new(0));
            let mut callers = JoinSet::new();
            for _ in 0..width {
                callers.spawn(call_until(Arc::clone(&begun), count, self.layer.clone(), size));
            }
            while let Some(ended) = callers.join_next().await {
                ended.map_err(io::Error::other)??;
            }
            Ok(start.elapsed())
        })
    }
}

/// Makes the calls of one caller and times each.
async fn time_calls(door: impl LibraryLayer, size: usize, count: usize) -> io::Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        door.call(size).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Makes calls as one of several callers that share `count` calls.
async fn call_until(
    begun: Arc<AtomicUsize>,
    count: usize,
    door: impl LibraryLayer,
    size: usize,
) -> io::Result<()> {
    while begun.fetch_add(1, Ordering::Relaxed) < count {
        door.call(size).await?;
    }
    Ok(())
}
