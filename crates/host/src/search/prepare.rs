//! Builds the search index ahead of the first search, on another thread, while the model thinks.
//!
//! Only where a search is likely: the index of thousands of tools takes as much memory as their definitions.

use mcparley_platform::thread::run_blocking;
use mcparley_pool::task::AbortOnDropTask;

use crate::host::Host;

impl Host {
    /// Builds the search index of the current catalog in the background, unless it is built already.
    ///
    /// Call it when a model is offered a list from which tools are deferred. A search that comes earlier waits
    /// for the index. Needs a running `tokio` runtime.
    pub fn prepare_search(&self) {
        let catalog = self.catalog();
        if catalog.is_search_prepared() {
            return;
        }
        let build = async move {
            // If the thread panics, the first search builds the index.
            let _built = run_blocking(move || catalog.prepare_search()).await;
        };
        self.replace_search_preparation(AbortOnDropTask::start(build));
    }
}
