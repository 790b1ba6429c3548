//! `cargo xtask bench`: what the product promises to need, measured and set against its limit.
//!
//! The limits stand here and nowhere else. Pure work is measured by the benches of the crates, the start of
//! the program from outside, as its user meets it. Medians count; the fastest run stands beside them, because
//! a wide gap between the two says that the machine was busy.

mod amount;
mod cold_start;
mod divan;

use std::fmt;
use std::time::Duration;

use crate::error::ChoreError;
use crate::step::Step;
use amount::Amount;
use divan::Timing;

const PLAN: Amount = Amount::Time(Duration::from_millis(10));
const NAMING: Amount = Amount::Time(Duration::from_millis(20));
const DECISION: Amount = Amount::Time(Duration::from_micros(2));
const START: Amount = Amount::Time(Duration::from_millis(15));
const MEMORY: Amount = Amount::Memory(15_000_000);

/// A bench whose median has a limit.
struct Limited {
    bench: &'static str,
    what: &'static str,
    limit: Amount,
}

const fn limited(bench: &'static str, what: &'static str, limit: Amount) -> Limited {
    Limited { bench, what, limit }
}

const LIMITED: [Limited; 10] = [
    limited("declarations_of_seven_sources", "plan of 1,000 servers, 7 sources, already read", PLAN),
    limited("declarations_under_managed_servers", "the same, managed servers exclude the others", PLAN),
    limited("files_of_six_sources", "plan of 1,000 servers, 6 sources, read from files", PLAN),
    limited("files_of_seven_sources", "the same, with managed servers as the seventh", PLAN),
    limited("plain_names", "names for 10,000 tools", NAMING),
    limited("names_too_long", "names for 10,000 tools, all too long", NAMING),
    limited("names_that_all_collide", "names for 10,000 tools, all collide", NAMING),
    limited("decision_among_200_rules", "decision among 200 rules", DECISION),
    limited("decision_among_200_rules_of_one_server", "the same, all for tools of one server", DECISION),
    limited("decision_among_200_rules_about_arguments", "the same, all about an argument", DECISION),
];

/// One measured value and its limit.
#[derive(Clone, Debug)]
struct Figure {
    what: String,
    measured: Amount,
    /// The fastest run, where several were timed.
    best: Option<Amount>,
    limit: Amount,
}

/// A figure that is over its limit.
#[derive(Debug)]
pub(crate) struct OverLimit(Figure);

/// Measures, shows the table and, if `strict`, fails if a figure is over its limit.
pub(crate) fn run(strict: bool) -> Result<(), ChoreError> {
    let mut figures = medians()?;
    figures.extend(cold_start()?);
    print!("\n{}", table(&figures));
    let over: Vec<_> = figures.into_iter().filter(Figure::is_over).map(OverLimit).collect();
    if strict && !over.is_empty() { Err(ChoreError::OverLimit(over)) } else { Ok(()) }
}

/// Measures what has no limit in milliseconds: calls and the command line, next to the least they can cost.
pub(crate) fn calls(passed_on: &[String]) -> Result<(), ChoreError> {
    beside(&[]).args(passed_on).run()
}

/// Loads many servers while they are being killed.
pub(crate) fn soak(passed_on: &[String]) -> Result<(), ChoreError> {
    beside(&["soak"]).args(passed_on).run()
}

/// The program that has the measurements without a limit in milliseconds.
fn beside(arguments: &[&str]) -> Step {
    let program = ["run", "--release", "--quiet", "--package", "mcparley-bench", "--"];
    Step::cargo(&[&program, arguments].concat())
}

/// Runs the benches of all crates in one build.
fn medians() -> Result<Vec<Figure>, ChoreError> {
    let step = Step::cargo(&["bench", "--workspace", "--bench", "plan", "--bench", "naming"]);
    let line = step.line().to_owned();
    let output = step.output()?;
    print!("{output}");
    let figure = |bench: &Limited| {
        let silent = || ChoreError::Silent { line: line.clone(), wanted: format!("`{}`", bench.bench) };
        let timing = divan::timing(&output, bench.bench).ok_or_else(silent)?;
        Ok(Figure::timed(bench.what.to_owned(), &timing, bench.limit))
    };
    LIMITED.iter().map(figure).collect()
}

fn cold_start() -> Result<Vec<Figure>, ChoreError> {
    let measured = cold_start::measure()?;
    let what = format!("`mcparley plan`, {} servers: ", cold_start::SERVERS);
    let mut figures = vec![Figure::timed(format!("{what}cold start"), &measured.timing, START)];
    match measured.peak_memory {
        Some(bytes) => figures.push(Figure {
            what: format!("{what}peak memory"),
            measured: Amount::Memory(bytes),
            best: None,
            limit: MEMORY,
        }),
        None => eprintln!("peak memory is not measured: this system has no `/proc`"),
    }
    Ok(figures)
}

impl Figure {
    fn timed(what: String, timing: &Timing, limit: Amount) -> Self {
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

fn table(figures: &[Figure]) -> String {
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
        let Self(Figure { what, measured, limit, .. }) = self;
        write!(f, "{what}: {measured}, limit {limit}")
    }
}
