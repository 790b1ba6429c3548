//! Times of searches over 5,000 tools: by words, and with word vectors.

use std::hint::black_box;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use mcparley::catalog::{Catalog, SearchQuery};
use mcparley_bench::inside::ManyToolsServer;
use serde_json::{Value, json};

use super::open_catalog;
use crate::catalog::{QUERIES, SERVERS, TOOLS};

/// The number of searches: enough for a percentile.
const SEARCHES: usize = 2000;

/// The goal for the 99th percentile of a search, by words and with vectors.
const GOALS: [f64; 2] = [0.001, 0.002];

/// The goal for the first search after the index is built.
const FIRST: f64 = 0.005;

/// The times of one ranking, in seconds.
#[derive(Clone, Debug)]
pub(super) struct SearchTimes {
    ranking: &'static str,
    goal: f64,
    /// The time to read the vectors and to build the index.
    prepare: f64,
    first: f64,
    p50: f64,
    p99: f64,
}

/// Measures both rankings.
pub(super) fn measure_speed(vectors: &Path) -> io::Result<Vec<SearchTimes>> {
    let servers: Vec<ManyToolsServer> =
        (0..SERVERS).map(|server| ManyToolsServer::new(server, TOOLS)).collect::<io::Result<_>>()?;
    let words = open_catalog(&servers, None)?;
    let fused = open_catalog(&servers, Some(vectors))?;
    let [by_words, by_both] = GOALS;
    Ok(vec![measure_ranking("words", &words, by_words), measure_ranking("words + vectors", &fused, by_both)])
}

fn measure_ranking(ranking: &'static str, catalog: &Catalog, goal: f64) -> SearchTimes {
    let prepare = time_work(|| catalog.prepare_search());
    let first = time_work(|| catalog.search_tools(&SearchQuery::new("warm up")));
    let queries = QUERIES.iter().cycle().take(SEARCHES);
    let mut times: Vec<f64> =
        queries.map(|query| time_work(|| catalog.search_tools(&SearchQuery::new(query)))).collect();
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(f64::NAN);
    SearchTimes { ranking, goal, prepare, first, p50: at(50), p99: at(99) }
}

fn time_work<T>(work: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed().as_secs_f64()
}

impl SearchTimes {
    pub(super) fn to_line(&self) -> String {
        let [prepare, first, p50, p99] =
            [self.prepare, self.first, self.p50, self.p99].map(Duration::from_secs_f64);
        let (ranking, tools) = (self.ranking, SERVERS * TOOLS);
        format!(
            "{tools} tools, {ranking}: prepared in {prepare:.1?}, first search {first:.2?}, p50 {p50:.2?}, p99 {p99:.2?}"
        )
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "ranking": self.ranking, "tools": SERVERS * TOOLS, "prepare": self.prepare, "first": self.first,
            "p50": self.p50, "p99": self.p99,
        })
    }

    pub(super) fn missed_goals(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for (name, time, goal) in [("first search", self.first, FIRST), ("p99", self.p99, self.goal)] {
            if time > goal {
                let [time, goal] = [time, goal].map(Duration::from_secs_f64);
                missed.push(format!("{}: {name} takes {time:.2?}, the goal is {goal:.2?}", self.ranking));
            }
        }
        missed
    }
}
