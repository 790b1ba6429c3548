//! `cargo xtask bench`: measures the figures with a limit, and compares each with its limit.
//!
//! The limits are defined here and nowhere else. Pure computation is measured by the benches of the crates,
//! the start of the program from outside, as its user experiences it. Medians count; the fastest run is shown
//! next to them, because a wide gap between the two means that the machine was busy.

mod amount;
mod cold_start;
mod divan;
mod page;
mod peer_programs;
mod retrieval_set;
mod smoke;

use std::fmt;
use std::time::Duration;

use crate::error::ChoreError;
use crate::fleet;
use crate::step::ChoreStep;
use amount::Amount;
use divan::BenchTiming;

pub(crate) use page::{PageOptions, write_page};
pub(crate) use smoke::run_smoke;

const PLAN: Amount = Amount::Time(Duration::from_millis(10));
const NAMING: Amount = Amount::Time(Duration::from_millis(20));
const FRAME: Amount = Amount::Time(Duration::from_millis(16));
const DECISION: Amount = Amount::Time(Duration::from_micros(2));
const START: Amount = Amount::Time(Duration::from_millis(15));
const MEMORY: Amount = Amount::Memory(15_000_000);

/// A bench whose median has a limit.
struct LimitedBench {
    bench: &'static str,
    what: &'static str,
    limit: Amount,
}

const fn limited_bench(bench: &'static str, what: &'static str, limit: Amount) -> LimitedBench {
    LimitedBench { bench, what, limit }
}

const LIMITED: [LimitedBench; 12] = [
    limited_bench("declarations_of_seven_sources", "plan of 1,000 servers, 7 sources, already read", PLAN),
    limited_bench("declarations_under_managed_servers", "the same, managed servers exclude the others", PLAN),
    limited_bench("files_of_six_sources", "plan of 1,000 servers, 6 sources, read from files", PLAN),
    limited_bench("files_of_seven_sources", "the same, with managed servers as the seventh", PLAN),
    limited_bench("plain_names", "names for 10,000 tools", NAMING),
    limited_bench("names_too_long", "names for 10,000 tools, all too long", NAMING),
    limited_bench("names_that_all_collide", "names for 10,000 tools, all collide", NAMING),
    limited_bench("decision_among_200_rules", "decision among 200 rules", DECISION),
    limited_bench(
        "decision_among_200_rules_of_one_server",
        "the same, all for tools of one server",
        DECISION,
    ),
    limited_bench("decision_among_200_rules_about_arguments", "the same, all about an argument", DECISION),
    limited_bench("draw/(200, 60)", "frame of the screen, 100 servers of 100 tools", FRAME),
    limited_bench("refresh_and_draw/(200, 60)", "the same, after a change of the host", FRAME),
];

/// One measured value and its limit.
#[derive(Clone, Debug)]
struct LimitedFigure {
    what: String,
    measured: Amount,
    /// The fastest run, where several were timed.
    best: Option<Amount>,
    limit: Amount,
}

/// A figure that is over its limit.
#[derive(Debug)]
pub(crate) struct OverLimit(LimitedFigure);

/// Measures all figures, prints the table and, if `strict`, fails if a figure is over its limit.
pub(crate) fn run_benches(strict: bool) -> Result<(), ChoreError> {
    let mut figures = measure_medians()?;
    let (started, unmeasured) = measure_cold_start()?;
    figures.extend(started);
    print!("\n{}", render_table(&figures));
    for figure in &unmeasured {
        println!("not measured: {figure}");
    }
    if strict { judge_figures(figures, &unmeasured) } else { Ok(()) }
}

/// Fails if a figure is over its limit, or could not be measured: then its limit holds no promise.
fn judge_figures(figures: Vec<LimitedFigure>, unmeasured: &[String]) -> Result<(), ChoreError> {
    let over: Vec<_> = figures.into_iter().filter(LimitedFigure::is_over).map(OverLimit).collect();
    match (over.is_empty(), unmeasured.is_empty()) {
        (true, true) => Ok(()),
        (true, false) => Err(ChoreError::Unmeasured { figures: unmeasured.join(", ") }),
        (false, _) => Err(ChoreError::OverLimit(over)),
    }
}

/// Runs the benchmark of calls and the command line, whose limits are relative to the least possible cost.
pub(crate) fn run_call_bench(passed_on: &[String]) -> Result<(), ChoreError> {
    bench_program_step(&[]).with_args(passed_on).run()
}

/// Measures the gateway against a relay that only moves bytes.
pub(crate) fn run_gateway_bench(passed_on: &[String]) -> Result<(), ChoreError> {
    bench_program_step(&["--only", "gateway"]).with_args(passed_on).run()
}

/// Runs the soak test: load on many servers while they are being killed.
pub(crate) fn run_soak(passed_on: &[String]) -> Result<(), ChoreError> {
    bench_program_step(&["soak"]).with_args(passed_on).run()
}

/// Measures how often search finds the right tool.
pub(crate) fn run_retrieval_bench(passed_on: &[String]) -> Result<(), ChoreError> {
    let folder = retrieval_set::install_set()?;
    bench_program_step(&["retrieval", "--bfcl", &folder.to_string_lossy()]).with_args(passed_on).run()
}

/// Runs the misrouting test: many clients with colliding ids through the gateway.
pub(crate) fn run_misrouting(passed_on: &[String]) -> Result<(), ChoreError> {
    bench_program_step(&["misrouting"]).with_args(passed_on).run()
}

/// Measures what clients of the gateway see while servers and other clients fail.
pub(crate) fn run_fault_bench(passed_on: &[String]) -> Result<(), ChoreError> {
    bench_program_step(&["faults"]).with_args(passed_on).run()
}

/// Measures the daemon with the servers of the fleet, which are installed first.
pub(crate) fn run_daemon_bench(passed_on: &[String]) -> Result<(), ChoreError> {
    fleet::install_fleet()?;
    bench_program_step(&["daemon"]).with_args(passed_on).run()
}

/// The command that runs the `mcparley-bench` program.
fn bench_program_step(arguments: &[&str]) -> ChoreStep {
    let program = ["run", "--profile", "dist", "--quiet", "--package", "mcparley-bench", "--"];
    ChoreStep::cargo(&[&program, arguments].concat())
}

/// Runs the benches of all crates in one build.
fn measure_medians() -> Result<Vec<LimitedFigure>, ChoreError> {
    let step = ChoreStep::cargo(&[
        "bench",
        "--workspace",
        "--bench",
        "plan",
        "--bench",
        "naming",
        "--bench",
        "screen",
    ]);
    let line = step.line().to_owned();
    let output = step.run_for_output()?;
    print!("{output}");
    let figure = |bench: &LimitedBench| {
        let silent = || ChoreError::Silent { line: line.clone(), wanted: format!("`{}`", bench.bench) };
        let timing = divan::find_timing(&output, bench.bench).ok_or_else(silent)?;
        Ok(LimitedFigure::from_timing(bench.what.to_owned(), &timing, bench.limit))
    };
    LIMITED.iter().map(figure).collect()
}

/// The figures of a start, and the names of those that this system cannot measure.
fn measure_cold_start() -> Result<(Vec<LimitedFigure>, Vec<String>), ChoreError> {
    let measured = cold_start::measure_cold_start()?;
    let what = format!("`mcparley plan`, {} servers: ", cold_start::SERVERS);
    let mut figures = vec![LimitedFigure::from_timing(format!("{what}cold start"), &measured.timing, START)];
    let mut unmeasured = Vec::new();
    match measured.peak_memory {
        Some(bytes) => figures.push(LimitedFigure {
            what: format!("{what}peak memory"),
            measured: Amount::Memory(bytes),
            best: None,
            limit: MEMORY,
        }),
        None => unmeasured.push(format!("{what}peak memory, which `/proc` does not tell here")),
    }
    Ok((figures, unmeasured))
}

impl LimitedFigure {
    fn from_timing(what: String, timing: &BenchTiming, limit: Amount) -> Self {
        let best = Some(Amount::Time(timing.fastest));
        Self { what, measured: Amount::Time(timing.median), best, limit }
    }

    fn is_over(&self) -> bool {
        self.measured > self.limit
    }

    fn verdict(&self) -> &'static str {
        if self.is_over() { "OVER" } else { "ok" }
    }
}

fn render_table(figures: &[LimitedFigure]) -> String {
    let width = figures.iter().map(|figure| figure.what.chars().count()).max().unwrap_or(0);
    let row = |what: &str, [measured, best, limit]: [&str; 3], verdict: &str| {
        format!("{what:width$}  {measured:>10}  {best:>10}  {limit:>10}  {verdict}\n")
    };
    let mut text = row("figure", ["measured", "fastest", "limit"], "verdict");
    for figure in figures {
        let best = figure.best.map(|best| best.to_string()).unwrap_or_default();
        let amounts = [&figure.measured.to_string(), &best, &figure.limit.to_string()];
        text.push_str(&row(&figure.what, amounts.map(String::as_str), figure.verdict()));
    }
    text
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(LimitedFigure { what, measured, limit, .. }) = self;
        write!(f, "{what}: {measured}, limit {limit}")
    }
}

#[cfg(test)]
mod tests;
