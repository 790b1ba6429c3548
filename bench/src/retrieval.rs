//! Measures how often tool search finds the right tool, beside plain BM25, on public sets of tools and queries.
//!
//! | part | module |
//! |---|---|
//! | a set, as a file has it | [`set`] |
//! | the set that is built from the Berkeley Function Calling Leaderboard | [`bfcl`] |
//! | plain BM25, the ranking to beat | [`plain_bm25`] |
//! | figures, goals and the table | [`report`] |
//!
//! The tools of a set are those of one in-process server, so that the whole catalog is searched as a model's
//! search does.

mod bfcl;
mod plain_bm25;
mod report;
mod set;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcparley::catalog::{Catalog, SearchQuery};
use mcparley::{Host, Paths, RunOptions};
use mcparley_bench::inside::ManyToolsServer;
use tokio::runtime::Builder;

use plain_bm25::PlainBm25;
pub(crate) use report::RetrievalReport;
use report::{RankTally, SetReport};
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
    #[command(flatten)]
    pub(crate) output: crate::ReportOutput,
}

pub(crate) fn run_retrieval(options: &Options) -> io::Result<RetrievalReport> {
    let mut sets = Vec::new();
    if let Some(folder) = &options.bfcl {
        sets.push(measure_set(&bfcl::read_package(folder)?, bfcl::HIT_AT_5)?);
    }
    for file in &options.set {
        sets.push(measure_set(&RetrievalSet::read_file(file)?, options.hit_at_5)?);
    }
    Ok(RetrievalReport { sets })
}

/// Measures one set; `hit_at_5` is its goal.
fn measure_set(set: &RetrievalSet, hit_at_5: f64) -> io::Result<SetReport> {
    let catalog = build_catalog(set)?;
    let plain = PlainBm25::new(&set.tools);
    let (mut ours, mut bm25) = (RankTally::default(), RankTally::default());
    for query in &set.queries {
        let found = search_names(&catalog, &query.text);
        ours.add(found.iter().position(|name| query.expected.contains(name)));
        let found = plain.rank_tools(&query.text, RANKS);
        bm25.add(
            found.iter().position(|place| {
                set.tools.get(*place).is_some_and(|tool| query.expected.contains(&tool.name))
            }),
        );
    }
    let is_first = |name: &&String| search_names(&catalog, name).first() == Some(*name);
    let names_first = set.tools.iter().map(|tool| &tool.name).filter(is_first).count();
    Ok(SetReport { name: set.name.clone(), tools: set.tools.len(), names_first, ours, bm25, hit_at_5 })
}

fn search_names(catalog: &Catalog, text: &str) -> Vec<String> {
    let found = catalog.search_tools(&SearchQuery::new(text).with_limit(RANKS)).tools;
    found.iter().map(|entry| entry.tool.name.as_str().to_owned()).collect()
}

/// The catalog of a host with one server, which has the tools of the set.
fn build_catalog(set: &RetrievalSet) -> io::Result<Arc<Catalog>> {
    let home = tempfile::tempdir()?;
    let paths = Paths::new(home.path(), home.path());
    let run_options = RunOptions { strict: true, ..RunOptions::default() };
    let definitions: Vec<serde_json::Value> = set.tools.iter().map(|tool| tool.definition.clone()).collect();
    let server = ManyToolsServer::with_tools(&set.name, &definitions)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let builder = Host::builder(&paths, &run_options).without_built_in_server();
        let host = server.add_to_host(builder).start();
        host.wait_until_ready(LIMIT).await;
        let catalog = host.publish_catalog();
        host.shut_down().await;
        if catalog.iter().len() < set.tools.len() {
            return Err(io::Error::other(format!("{}: only {} tools", set.name, catalog.iter().len())));
        }
        Ok(catalog)
    })
}
