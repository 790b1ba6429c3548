//! Measures how often tool search finds the right tool, beside plain BM25, on public sets of tools and queries.
//!
//! | part | module |
//! |---|---|
//! | a set, as a file has it | [`set`] |
//! | the set that is built from the Berkeley Function Calling Leaderboard | [`bfcl`] |
//! | plain BM25, the ranking to beat | [`plain_bm25`] |
//! | figures, goals and the table | [`report`] |
//! | times of searches, with and without word vectors | [`speed`] |
//!
//! The tools of a set are those of one in-process server, so that the whole catalog is searched as a model's
//! search does.

mod bfcl;
mod plain_bm25;
mod report;
mod set;
mod speed;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcparley::catalog::{Catalog, SearchQuery};
use mcparley::{Host, Paths, RunOptions};
use mcparley_bench::inside::ManyToolsServer;
use tokio::runtime::Builder;

use plain_bm25::PlainBm25;
pub(crate) use report::RetrievalReport;
use report::{HitGoals, RankTally, SearchTally, SetReport};
use set::RetrievalSet;

/// The number of ranks that count: a tool further down is not found.
const RANKS: usize = 20;

/// The timeout for listing the tools on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Measure how often search finds the right tool, beside plain BM25
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder of the installed package `bfcl-eval`: its questions are the first set
    #[arg(long, value_name = "FOLDER")]
    bfcl: Option<PathBuf>,
    /// A further set: {"tools": [{name, description, inputSchema}], "queries": [[text, [expected names]]]}
    #[arg(long, value_name = "FILE")]
    set: Vec<PathBuf>,
    /// With `--check`, the least hit@5 of the further sets
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    hit_at_5: f64,
    /// Rank also with the word vectors in this folder, and measure the times of searches
    #[arg(long, value_name = "FOLDER")]
    vectors: Option<PathBuf>,
    /// With `--check` and `--vectors`, the least hit@5 of the further sets with vectors
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    fused_hit_at_5: f64,
    #[command(flatten)]
    pub(crate) output: crate::ReportOutput,
}

pub(crate) fn run_retrieval(options: &Options) -> io::Result<RetrievalReport> {
    let (mut sets, vectors) = (Vec::new(), options.vectors.as_deref());
    if let Some(folder) = &options.bfcl {
        let goals = HitGoals { words: bfcl::HIT_AT_5, fused: bfcl::HIT_AT_5 };
        sets.push(measure_set(&bfcl::read_package(folder)?, vectors, goals)?);
    }
    for file in &options.set {
        let goals = HitGoals { words: options.hit_at_5, fused: options.fused_hit_at_5 };
        sets.push(measure_set(&RetrievalSet::read_file(file)?, vectors, goals)?);
    }
    let times = vectors.map(speed::measure_speed).transpose()?.unwrap_or_default();
    Ok(RetrievalReport { sets, times })
}

/// Measures one set.
fn measure_set(set: &RetrievalSet, vectors: Option<&Path>, goals: HitGoals) -> io::Result<SetReport> {
    let measure =
        |vectors: Option<&Path>| io::Result::Ok(measure_search(set, build_catalog(set, vectors)?.as_ref()));
    let ours = measure(None)?;
    let fused = vectors.map(|vectors| measure(Some(vectors))).transpose()?;
    let plain = PlainBm25::new(&set.tools);
    let mut bm25 = RankTally::default();
    for query in &set.queries {
        let found = plain.rank_tools(&query.text, RANKS);
        bm25.add(
            found.iter().position(|place| {
                set.tools.get(*place).is_some_and(|tool| query.expected.contains(&tool.name))
            }),
        );
    }
    Ok(SetReport { name: set.name.clone(), tools: set.tools.len(), ours, fused, bm25, goals })
}

fn measure_search(set: &RetrievalSet, catalog: &Catalog) -> SearchTally {
    let mut ranks = RankTally::default();
    for query in &set.queries {
        let found = search_names(catalog, &query.text);
        ranks.add(found.iter().position(|name| query.expected.contains(name)));
    }
    let is_first = |name: &&String| search_names(catalog, name).first() == Some(*name);
    let names_first = set.tools.iter().map(|tool| &tool.name).filter(is_first).count();
    SearchTally { ranks, names_first }
}

fn search_names(catalog: &Catalog, text: &str) -> Vec<String> {
    let found = catalog.search_tools(&SearchQuery::new(text).with_limit(RANKS)).tools;
    found.iter().map(|entry| entry.tool.name.as_str().to_owned()).collect()
}

/// The catalog of a host with one server, which has the tools of the set.
fn build_catalog(set: &RetrievalSet, vectors: Option<&Path>) -> io::Result<Arc<Catalog>> {
    let definitions: Vec<serde_json::Value> = set.tools.iter().map(|tool| tool.definition.clone()).collect();
    let server = ManyToolsServer::with_tools(&set.name, &definitions)?;
    let catalog = open_catalog(&[server], vectors)?;
    if catalog.iter().len() < set.tools.len() {
        return Err(io::Error::other(format!("{}: only {} tools", set.name, catalog.iter().len())));
    }
    Ok(catalog)
}

/// The catalog of a host with these servers.
fn open_catalog(servers: &[ManyToolsServer], vectors: Option<&Path>) -> io::Result<Arc<Catalog>> {
    let home = tempfile::tempdir()?;
    let paths = Paths::new(home.path(), home.path());
    let search_vectors = vectors.map(Path::to_owned);
    let run_options = RunOptions { strict: true, search_vectors, ..RunOptions::default() };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut builder = Host::builder(&paths, &run_options).without_built_in_server();
        for server in servers {
            builder = server.add_to_host(builder);
        }
        let host = builder.start();
        host.wait_until_ready(LIMIT).await;
        host.check_search_vectors().map_err(io::Error::other)?;
        let catalog = host.publish_catalog();
        host.shut_down().await;
        Ok(catalog)
    })
}
