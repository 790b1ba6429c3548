//! Tests of the library against real files and servers: every source, every decision, every error.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests prepare files, start git, show tables, and fail loudly"
)]

mod agent_files;
mod agents;
mod agents_judged;
mod agents_life;
mod alive;
mod approval;
mod asked_clock;
mod asking;
mod at_once;
mod audit;
mod auto;
mod calling;
mod catalog;
mod catalog_memory;
mod completing;
mod conformance_client;
mod connectors;
mod damaged;
mod dialects;
mod downloading;
mod duplicates;
mod eliciting;
mod embedding;
mod fleet_asks;
mod fleet_offers;
mod fleet_results;
mod fleet_search;
mod foreign_folder;
mod hooking;
mod hooks_after;
mod hooks_approved;
mod hooks_eliciting;
mod hooks_example;
mod hooks_failing;
mod hooks_inside;
mod ide;
mod lifecycle;
mod log_messages;
mod logs;
mod managed;
mod needs_auth;
mod network;
mod organization;
mod own_files;
mod own_server;
mod permitting;
mod pinning;
mod plugins;
mod policy;
mod pooling;
mod precedence;
mod principals;
mod prompts;
mod reconnecting;
mod recovering;
mod reloading;
mod remembered;
mod repository;
mod resources;
mod resting;
mod results;
mod results_memory;
mod roots;
mod rounds;
mod sampling;
mod searching;
mod signing;
mod sizes;
mod spans;
mod starting;
mod step_up;
mod surface;
mod tasks;
mod transcript;
mod transports;
mod untrusted;
mod variables;
mod walk_up;
mod world;

/// Waits for all of them at the same time.
async fn together<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut running: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        for (future, output) in &mut running {
            if output.is_none()
                && let std::task::Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *output = Some(ready);
            }
        }
        if running.iter().all(|(_, output)| output.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}
