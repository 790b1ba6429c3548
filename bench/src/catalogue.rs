//! What thousands of tools cost: putting the catalogue together, searching it, and saying it to a model.
//!
//! Ten servers inside this program offer them, so that nothing but our own work is measured.

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use mcparley::{Budget, Dialect, Host, Paths, RunOptions, SearchQuery};
use mcparley_bench::inside::Inside;
use tokio::runtime::Builder;

use crate::figure::{Bound, Figure, Unit};
use crate::rounds::Samples;
use crate::stage::Stage;

pub(crate) const SERVERS: usize = 10;
pub(crate) const TOOLS: usize = 500;

/// As long as listing all can take on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// What is searched for, over and over, in one round.
const QUERIES: [&str; 8] = [
    "create a new invoice",
    "delete user from team",
    "list all open orders",
    "+server_3 update report",
    "find customers by city and date",
    "send",
    "how do I export the results of last month as a table",
    "select:mcp__server_1__create_invoice_7",
];

/// As many searches as a percentile needs.
const SEARCHES: usize = 400;

pub(crate) fn measure(
    stage: &Stage,
    rounds: usize,
    wanted: &dyn Fn(&str) -> bool,
) -> io::Result<Vec<Figure>> {
    let all = SERVERS * TOOLS;
    let names = [
        format!("assemble {all} tools"),
        format!("search over {all} tools, p99"),
        format!("say {all} tools to Anthropic"),
        format!("say {all} tools to Gemini"),
    ];
    if !names.iter().any(|name| wanted(name)) {
        return Ok(Vec::new());
    }
    let [assembled, search, untouched, rewritten] = names;
    let servers: Vec<Inside> =
        (0..SERVERS).map(|server| Inside::new(server, TOOLS)).collect::<io::Result<_>>()?;
    let mut taken: [Vec<f64>; 4] = Default::default();
    for _ in 0..=rounds {
        let once = once(stage, &servers)?;
        taken.iter_mut().zip(once).for_each(|(samples, sample)| samples.push(sample));
    }
    let [assembling, searching, anthropic, gemini] = taken.map(|samples| Samples::after_warming_up(&samples));
    let figures = [
        Figure::Alone { name: assembled, unit: Unit::Time, ours: assembling, bound: Bound::Within(0.050) },
        Figure::Alone { name: search, unit: Unit::Time, ours: searching, bound: Bound::Within(0.001) },
        Figure::Alone { name: untouched, unit: Unit::Time, ours: anthropic, bound: Bound::Within(0.100) },
        Figure::Alone { name: rewritten, unit: Unit::Time, ours: gemini, bound: Bound::Within(0.100) },
    ];
    Ok(figures.into_iter().filter(|figure| wanted(figure.name())).collect())
}

/// The time to assemble, the time of the hundredth slowest search, and that of two lists for
/// models, in one host.
fn once(stage: &Stage, servers: &[Inside]) -> io::Result<[f64; 4]> {
    let paths = Paths::of(stage.home(), stage.home());
    let run_options = RunOptions { strict: true, ..RunOptions::default() };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut builder = Host::builder(&paths, &run_options).without_own_server();
        for server in servers {
            builder = server.join(builder);
        }
        let host = builder.start();
        host.ready(LIMIT).await;
        let begun = Instant::now();
        let catalog = host.catalog();
        let assembling = begun.elapsed().as_secs_f64();
        if catalog.iter().len() < SERVERS * TOOLS {
            return Err(io::Error::other(format!("only {} tools are there", catalog.iter().len())));
        }
        // The first search takes the texts apart.
        black_box(catalog.search(&SearchQuery::new("warm up")));
        let queries = QUERIES.iter().cycle().take(SEARCHES);
        let mut times: Vec<f64> =
            queries.map(|query| timed(|| catalog.search(&SearchQuery::new(query)))).collect();
        times.sort_by(f64::total_cmp);
        let slow = times.get(times.len() * 99 / 100).copied().unwrap_or(f64::NAN);
        let offer = catalog.offer(&Budget::unlimited());
        let [anthropic, gemini] =
            [Dialect::Anthropic, Dialect::Gemini].map(|dialect| timed(|| offer.for_model(dialect)));
        host.shut_down().await;
        Ok([assembling, slow, anthropic, gemini])
    })
}

fn timed<T>(work: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed().as_secs_f64()
}
