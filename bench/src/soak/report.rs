//! The report of a soak test: its promises, and the figures behind them.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::census::ProcessCensus;
use super::ending::CallEnding;
use super::histogram::TimeHistogram;
use super::options::Options;
use super::shooter::KillCounts;
use super::tally::{CallTally, GRACE};
use super::watch::MemoryDrift;
use crate::table::align_columns;

/// The results of a soak test.
#[derive(Debug)]
pub(crate) struct SoakReport {
    pub(crate) options: Options,
    pub(crate) seed: u64,
    pub(crate) calls: CallTally,
    pub(crate) kills: KillCounts,
    /// Servers that did not answer at the end.
    pub(crate) missing: Vec<String>,
    pub(crate) memory: MemoryDrift,
    /// The memory over time.
    pub(crate) course: Vec<f64>,
    /// Open files with every server connected and no call running, before the load and after it.
    pub(crate) files_at_rest: (usize, usize),
    /// Open files before the library started and after it ended.
    pub(crate) files_around: (usize, usize),
    /// Processes at the end of the load, and after the library ended.
    pub(crate) processes: [ProcessCensus; 2],
    /// The time to end all servers.
    pub(crate) shut_down: Duration,
}

/// One promise.
#[derive(Clone, Debug)]
struct SoakPromise {
    what: &'static str,
    measured: String,
    promised: String,
    kept: bool,
}

impl SoakReport {
    pub(crate) fn broken_promises(&self) -> Vec<&'static str> {
        self.all_promises().into_iter().filter(|promise| !promise.kept).map(|promise| promise.what).collect()
    }

    fn all_promises(&self) -> Vec<SoakPromise> {
        let calls = &self.calls;
        let untrue = CallEnding::ALL.into_iter().filter(|ending| ending.is_untrue());
        let mut promises = vec![
            never_promise("calls with a wrong answer", calls.ending_count(CallEnding::Wrong)),
            never_promise("calls that never ended", calls.ending_count(CallEnding::Never)),
            never_promise("calls that were not begun", calls.held_back),
            SoakPromise {
                measured: match calls.late {
                    0 => "0".to_owned(),
                    late => format!("{late}, the latest by {:.0?}", calls.latest),
                },
                promised: format!("0, within {GRACE:?}"),
                ..never_promise("calls that ended after their limit", calls.late)
            },
            never_promise(
                "calls with an error that no kill explains",
                untrue.map(|ending| calls.ending_count(ending)).sum(),
            ),
        ];
        promises.push(SoakPromise {
            measured: match self.missing.as_slice() {
                [] => "0".to_owned(),
                missing => missing.join(" "),
            },
            ..never_promise("servers that stayed away", self.missing.len() as u64)
        });
        promises.extend(self.resource_promises());
        promises.extend(self.process_promises());
        promises
    }

    fn resource_promises(&self) -> [SoakPromise; 3] {
        let Self { memory, options, files_at_rest, files_around, .. } = self;
        let no_more_files = |what, &(before, after): &(usize, usize)| SoakPromise {
            what,
            measured: format!("{before} → {after}"),
            promised: "no more".to_owned(),
            kept: after <= before,
        };
        [
            SoakPromise {
                what: "memory, from the warm-up to the end",
                measured: format!(
                    "{:+.1} %: {} → {}",
                    memory.growth(),
                    format_megabytes(memory.first),
                    format_megabytes(memory.last)
                ),
                promised: format!("≤ +{} %", options.growth),
                kept: memory.growth() <= options.growth,
            },
            no_more_files("open files at rest, before and after the load", files_at_rest),
            no_more_files("open files, before and after the library", files_around),
        ]
    }

    fn process_promises(&self) -> [SoakPromise; 2] {
        let [end, after] = self.processes;
        let (local, remote) = self.options.servers;
        let promise = |what, measured: ProcessCensus, promised: ProcessCensus| SoakPromise {
            what,
            measured: describe_census(measured),
            promised: describe_census(promised),
            kept: measured == promised,
        };
        let houses = usize::from(local > 0);
        let alive = ProcessCensus { locals: local, guardians: local, houses, remotes: remote, zombies: 0 };
        [
            promise("processes at the end", end, alive),
            promise(
                "processes after the shut-down",
                after,
                ProcessCensus { remotes: remote, ..ProcessCensus::default() },
            ),
        ]
    }

    /// The report for people.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.heading();
        let verdict = |kept| if kept { "ok" } else { "BROKEN" }.to_owned();
        let row = |promise: SoakPromise| {
            vec![promise.what.to_owned(), promise.measured, promise.promised, verdict(promise.kept)]
        };
        let head = ["promise", "measured", "promised", ""].map(str::to_owned).to_vec();
        let rows: Vec<_> = std::iter::once(head).chain(self.all_promises().into_iter().map(row)).collect();
        text.push_str(&align_columns(&rows, |_| true));
        text.push('\n');
        text.push_str(&align_columns(&self.ending_rows(), |column| column != 1));
        text.push('\n');
        text.push_str(&align_columns(&self.time_rows(), |column| column == 0));
        text
    }

    fn heading(&self) -> String {
        let Options { lasts, servers: (local, remote), rate, .. } = self.options;
        let KillCounts { locals, remotes } = self.kills;
        format!(
            "{local} local servers and {remote} behind a URL, {rate} calls a second for {lasts:?}; \
             {locals} and {remotes} times one was killed; seed {}; shut down in {:.0?}\n\n",
            self.seed, self.shut_down
        )
    }

    fn ending_rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![vec!["ending".to_owned(), self.calls.total_count().to_string(), String::new()]];
        for ending in CallEnding::ALL.into_iter().filter(|ending| self.calls.ending_count(*ending) > 0) {
            let said = self.calls.last_error(ending).map(|said| format!("as in: {said}")).unwrap_or_default();
            rows.push(vec![ending.as_str().to_owned(), self.calls.ending_count(ending).to_string(), said]);
        }
        rows
    }

    fn time_rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![["time", "count", "p50", "p99", "longest"].map(str::to_owned).to_vec()];
        for (what, times) in self.histograms() {
            let shown =
                [times.percentile(0.5), times.percentile(0.99), times.max_time()].map(format_milliseconds);
            rows.push([what.to_owned(), times.count().to_string()].into_iter().chain(shown).collect());
        }
        rows
    }

    fn histograms(&self) -> [(&'static str, &TimeHistogram); 5] {
        let CallTally { answered, failed, late_begun, recovered: [local, remote], .. } = &self.calls;
        [
            ("calls that succeeded", answered),
            ("calls that failed", failed),
            ("how late calls began", late_begun),
            ("from a kill to the next success, local", local),
            ("from a kill to the next success, behind a URL", remote),
        ]
    }

    /// The report for programs, in seconds and bytes.
    pub(crate) fn to_json(&self) -> Value {
        let promise = |promise: &SoakPromise| {
            let SoakPromise { what, measured, promised, kept } = promise;
            json!({ "promise": what, "measured": measured, "promised": promised, "kept": kept })
        };
        let ending =
            |ending: CallEnding| (ending.as_str().to_owned(), Value::from(self.calls.ending_count(ending)));
        let times = |(what, times): (&str, &TimeHistogram)| {
            let [p50, p99, most] = [times.percentile(0.5), times.percentile(0.99), times.max_time()]
                .map(|time| time.as_secs_f64());
            (what.to_owned(), json!({ "count": times.count(), "p50": p50, "p99": p99, "longest": most }))
        };
        let drift = |drift: MemoryDrift| json!({ "first": drift.first, "last": drift.last });
        json!({
            "seed": self.seed,
            "seconds": self.options.lasts.as_secs_f64(),
            "kills": { "local": self.kills.locals, "remote": self.kills.remotes },
            "promises": self.all_promises().iter().map(promise).collect::<Vec<_>>(),
            "endings": CallEnding::ALL.into_iter().map(ending).collect::<Map<_, _>>(),
            "times": self.histograms().into_iter().map(times).collect::<Map<_, _>>(),
            "memory": drift(self.memory),
            "memoryCourse": self.course,
            "filesAtRest": { "before": self.files_at_rest.0, "after": self.files_at_rest.1 },
            "shutDown": self.shut_down.as_secs_f64(),
        })
    }
}

/// A promise that an event never happens.
fn never_promise(what: &'static str, count: u64) -> SoakPromise {
    SoakPromise { what, measured: count.to_string(), promised: "0".to_owned(), kept: count == 0 }
}

fn describe_census(ProcessCensus { locals, guardians, houses, remotes, zombies }: ProcessCensus) -> String {
    format!(
        "{locals} local, {guardians} guardians, {houses} guardhouses, {remotes} behind a URL, {zombies} zombies"
    )
}

fn format_megabytes(bytes: f64) -> String {
    format!("{:.2} MB", bytes / 1e6)
}

fn format_milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
