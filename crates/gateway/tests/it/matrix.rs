//! The era matrix: every feature between clients and servers of every revision, over stdio and HTTP.
//!
//! One test for each feature runs all its cells and reports every one that fails. Each message that a client
//! or a server gets is checked against the JSON Schema of its revision. The page `docs/reference/era-matrix.md`
//! has the expectations; to write it, run the tests once with `MCPARLEY_UPDATE_PAGES=1`.

mod bench;
mod cell;
mod page;
mod questions;
mod streams;
mod tasks;
mod values;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

use crate::matrix::bench::Bench;
use crate::matrix::cell::{Cell, Feature, Sight};

/// The number of cells that run at once, each with a gateway and a server of its own.
const AT_ONCE: usize = 6;

/// A timeout longer than any cell takes on a loaded machine.
const CELL_TIME: Duration = Duration::from_secs(60);

/// Runs all cells of a feature.
async fn run_feature(feature: Feature) {
    let cells: Vec<Cell> = Cell::all().filter(|cell| cell.feature == feature && cell.exists()).collect();
    assert!(!cells.is_empty(), "{feature:?} exists nowhere");
    let (places, count) = (Arc::new(Semaphore::new(AT_ONCE)), cells.len());
    let mut running = JoinSet::new();
    for cell in cells {
        let places = Arc::clone(&places);
        running.spawn(async move {
            let _place = places.acquire_owned().await.unwrap();
            let outcome = tokio::spawn(tokio::time::timeout(CELL_TIME, run_cell(cell))).await;
            (cell, outcome)
        });
    }
    let mut failures = Vec::new();
    while let Some(done) = running.join_next().await {
        let (cell, outcome) = done.unwrap();
        match outcome {
            Ok(Ok(seen)) if seen == cell.expect() => {}
            Ok(Ok(seen)) => failures.push(format!("{cell}: saw {seen:?} instead of {:?}", cell.expect())),
            Ok(Err(_late)) => failures.push(format!("{cell}: takes too long")),
            Err(panic) => failures.push(format!("{cell}: {}", panic_text(panic))),
        }
    }
    failures.sort();
    assert!(failures.is_empty(), "{} of {count} cells fail:\n{}", failures.len(), failures.join("\n"));
}

/// Runs one cell, and returns what its client saw.
async fn run_cell(cell: Cell) -> Sight {
    let mut bench = Bench::open(cell).await;
    let seen = match cell.feature {
        Feature::Call => values::call(&mut bench).await,
        Feature::Progress => values::progress(&mut bench).await,
        Feature::Cancel => values::cancel(&mut bench).await,
        Feature::Log => values::log(&mut bench).await,
        Feature::Form | Feature::Url | Feature::Sampling => questions::ask(&mut bench).await,
        Feature::Roots => questions::roots(&mut bench).await,
        Feature::ListChange => streams::list_change(&mut bench).await,
        Feature::Subscription => streams::subscription(&mut bench).await,
        Feature::Task => tasks::task(&mut bench).await,
    };
    bench.check_server_messages();
    seen
}

fn panic_text(panic: JoinError) -> String {
    let Ok(payload) = panic.try_into_panic() else { return "canceled".to_owned() };
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().map_or_else(String::new, |text| (*text).to_owned()),
    }
}

// G1 G3
#[tokio::test]
async fn calls_pass_between_all_revisions() {
    run_feature(Feature::Call).await;
}

// G3 X8
#[tokio::test]
async fn progress_passes_between_all_revisions() {
    run_feature(Feature::Progress).await;
}

// G3 X5
#[tokio::test]
async fn forms_pass_between_all_revisions() {
    run_feature(Feature::Form).await;
}

// G3 X5
#[tokio::test]
async fn pages_pass_between_all_revisions() {
    run_feature(Feature::Url).await;
}

// G3 X6
#[tokio::test]
async fn sampling_passes_between_all_revisions() {
    run_feature(Feature::Sampling).await;
}

// G3 X6
#[tokio::test]
async fn roots_pass_between_all_revisions() {
    run_feature(Feature::Roots).await;
}

// G3 F91
#[tokio::test]
async fn cancellation_passes_between_all_revisions() {
    run_feature(Feature::Cancel).await;
}

// G3 X3
#[tokio::test]
async fn list_changes_pass_between_all_revisions() {
    run_feature(Feature::ListChange).await;
}

// G3 X3
#[tokio::test]
async fn subscriptions_pass_between_all_revisions() {
    run_feature(Feature::Subscription).await;
}

// G3 X8
#[tokio::test]
async fn log_messages_pass_between_all_revisions() {
    run_feature(Feature::Log).await;
}

// G3 X8
#[tokio::test]
async fn tasks_pass_between_all_revisions() {
    run_feature(Feature::Task).await;
}
