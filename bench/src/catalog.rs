//! Measures the cost of thousands of tools: assembling the catalog, searching it, and rendering it for a
//! model.
//!
//! Ten in-process servers offer the tools, so that only our own code is measured.

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use mcparley::catalog::{Budget, Dialect, SearchQuery};
use mcparley::{Host, Paths, RunOptions};
use mcparley_bench::inside::ManyToolsServer;
use tokio::runtime::Builder;

use crate::figure::{BenchFigure, FigureBound, FigureUnit};
use crate::rounds::RoundSamples;
use crate::stage::BenchStage;

pub(crate) const SERVERS: usize = 10;
pub(crate) const TOOLS: usize = 500;

/// The timeout for listing all tools on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The pause between two looks at whether the index is built.
const POLL: Duration = Duration::from_millis(1);

/// The search queries, repeated within one round.
pub(crate) const QUERIES: [&str; 8] = [
    "create a new invoice",
    "delete user from team",
    "list all open orders",
    "+server_3 update report",
    "find customers by city and date",
    "send",
    "how do I export the results of last month as a table",
    "select:mcp__server_1__create_invoice_7",
];

/// The number of searches: enough for a percentile.
const SEARCHES: usize = 400;

pub(crate) fn measure_catalog(
    stage: &BenchStage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<BenchFigure>> {
    let all = SERVERS * TOOLS;
    let names = [
        format!("assemble {all} tools"),
        format!("first search over {all} tools, index prepared"),
        format!("search over {all} tools, p99"),
        format!("say {all} tools to Anthropic"),
        format!("say {all} tools to Gemini"),
    ];
    if !names.iter().any(|name| wanted(name)) {
        return Ok(Vec::new());
    }
    let [assembled, first, search, untouched, rewritten] = names;
    let servers: Vec<ManyToolsServer> =
        (0..SERVERS).map(|server| ManyToolsServer::new(server, TOOLS)).collect::<io::Result<_>>()?;
    let mut taken: [Vec<f64>; 5] = Default::default();
    for _ in 0..=rounds {
        let once = measure_round(stage, &servers)?;
        taken.iter_mut().zip(once).for_each(|(samples, sample)| samples.push(sample));
    }
    let [assembling, first_search, searching, anthropic, gemini] =
        taken.map(|samples| RoundSamples::after_warming_up(&samples));
    let figures = [
        BenchFigure::Alone {
            name: assembled,
            unit: FigureUnit::Time,
            ours: assembling,
            bound: FigureBound::Within(0.050),
        },
        BenchFigure::Alone {
            name: first,
            unit: FigureUnit::Time,
            ours: first_search,
            bound: FigureBound::Within(0.005),
        },
        BenchFigure::Alone {
            name: search,
            unit: FigureUnit::Time,
            ours: searching,
            bound: FigureBound::Within(0.001),
        },
        BenchFigure::Alone {
            name: untouched,
            unit: FigureUnit::Time,
            ours: anthropic,
            bound: FigureBound::Within(0.100),
        },
        BenchFigure::Alone {
            name: rewritten,
            unit: FigureUnit::Time,
            ours: gemini,
            bound: FigureBound::Within(0.060),
        },
    ];
    Ok(figures.into_iter().filter(|figure| wanted(figure.name())).collect())
}

/// One round in one host: the time to assemble, the first search, the 99th percentile of a search, and the time
/// of two lists for models.
fn measure_round(stage: &BenchStage, servers: &[ManyToolsServer]) -> io::Result<[f64; 5]> {
    let paths = Paths::new(stage.home(), stage.home());
    let run_options = RunOptions { strict: true, ..RunOptions::default() };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut builder = Host::builder(&paths, &run_options).without_built_in_server();
        for server in servers {
            builder = server.add_to_host(builder);
        }
        let host = builder.start();
        host.wait_until_ready(LIMIT).await;
        let begun = Instant::now();
        let catalog = host.publish_catalog();
        let assembling = begun.elapsed().as_secs_f64();
        if catalog.iter().len() < SERVERS * TOOLS {
            return Err(io::Error::other(format!("only {} tools are there", catalog.iter().len())));
        }
        host.prepare_search();
        let prepared = async {
            while !catalog.is_search_prepared() {
                tokio::time::sleep(POLL).await;
            }
        };
        tokio::time::timeout(LIMIT, prepared).await.map_err(io::Error::other)?;
        let first = time_work(|| catalog.search_tools(&SearchQuery::new("warm up")));
        let queries = QUERIES.iter().cycle().take(SEARCHES);
        let mut times: Vec<f64> =
            queries.map(|query| time_work(|| catalog.search_tools(&SearchQuery::new(query)))).collect();
        times.sort_by(f64::total_cmp);
        let slow = times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN);
        let offer = catalog.model_offer(&Budget::without_limit());
        let [anthropic, gemini] =
            [Dialect::Anthropic, Dialect::Gemini].map(|dialect| time_work(|| offer.for_model(dialect)));
        host.shut_down().await;
        Ok([assembling, first, slow, anthropic, gemini])
    })
}

fn time_work<T>(work: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed().as_secs_f64()
}
