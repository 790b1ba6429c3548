//! What a soak found: the promises, and the figures behind them.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::census::Census;
use super::ending::Ending;
use super::histogram::Histogram;
use super::options::Options;
use super::shooter::Kills;
use super::tally::{GRACE, Tally};
use super::watch::Drift;
use crate::table::aligned;

/// Everything that was seen.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) options: Options,
    pub(crate) seed: u64,
    pub(crate) calls: Tally,
    pub(crate) kills: Kills,
    /// Servers that did not answer any more when all was over.
    pub(crate) missing: Vec<String>,
    pub(crate) memory: Drift,
    /// How the memory went.
    pub(crate) course: Vec<f64>,
    /// Open files with every server connected and no call under way, before the load and after it.
    pub(crate) files_at_rest: (usize, usize),
    /// Open files before the library began and after it ended.
    pub(crate) files_around: (usize, usize),
    /// Processes at the end of the load, and after the library ended.
    pub(crate) processes: [Census; 2],
    /// How long ending every server took.
    pub(crate) shut_down: Duration,
}

/// One promise.
#[derive(Clone, Debug)]
struct Promise {
    what: &'static str,
    measured: String,
    promised: String,
    kept: bool,
}

impl Report {
    pub(crate) fn broken(&self) -> Vec<&'static str> {
        self.promises().into_iter().filter(|promise| !promise.kept).map(|promise| promise.what).collect()
    }

    fn promises(&self) -> Vec<Promise> {
        let calls = &self.calls;
        let untrue = Ending::ALL.into_iter().filter(|ending| ending.is_untrue());
        let mut promises = vec![
            none("calls with a wrong answer", calls.of(Ending::Wrong)),
            none("calls that never ended", calls.of(Ending::Never)),
            none("calls that were not begun", calls.held_back),
            Promise {
                measured: match calls.late {
                    0 => "0".to_owned(),
                    late => format!("{late}, the latest by {:.0?}", calls.latest),
                },
                promised: format!("0, within {GRACE:?}"),
                ..none("calls that ended after their limit", calls.late)
            },
            none("calls with an error that no kill explains", untrue.map(|ending| calls.of(ending)).sum()),
        ];
        promises.push(Promise {
            measured: match self.missing.as_slice() {
                [] => "0".to_owned(),
                missing => missing.join(" "),
            },
            ..none("servers that stayed away", self.missing.len() as u64)
        });
        promises.extend(self.resources());
        promises.extend(self.population());
        promises
    }

    fn resources(&self) -> [Promise; 3] {
        let Self { memory, options, files_at_rest, files_around, .. } = self;
        let no_more_files = |what, &(before, after): &(usize, usize)| Promise {
            what,
            measured: format!("{before} → {after}"),
            promised: "no more".to_owned(),
            kept: after <= before,
        };
        [
            Promise {
                what: "memory, from the warm-up to the end",
                measured: format!(
                    "{:+.1} %: {} → {}",
                    memory.growth(),
                    megabytes(memory.first),
                    megabytes(memory.last)
                ),
                promised: format!("≤ +{} %", options.growth),
                kept: memory.growth() <= options.growth,
            },
            no_more_files("open files at rest, before and after the load", files_at_rest),
            no_more_files("open files, before and after the library", files_around),
        ]
    }

    fn population(&self) -> [Promise; 2] {
        let [end, after] = self.processes;
        let (local, remote) = self.options.servers;
        let promise = |what, measured: Census, promised: Census| Promise {
            what,
            measured: told(measured),
            promised: told(promised),
            kept: measured == promised,
        };
        let houses = usize::from(local > 0);
        let alive = Census { locals: local, guardians: local, houses, remotes: remote, zombies: 0 };
        [
            promise("processes at the end", end, alive),
            promise("processes after the shut-down", after, Census { remotes: remote, ..Census::default() }),
        ]
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = self.heading();
        let verdict = |kept| if kept { "ok" } else { "BROKEN" }.to_owned();
        let row = |promise: Promise| {
            vec![promise.what.to_owned(), promise.measured, promise.promised, verdict(promise.kept)]
        };
        let head = ["promise", "measured", "promised", ""].map(str::to_owned).to_vec();
        let rows: Vec<_> = std::iter::once(head).chain(self.promises().into_iter().map(row)).collect();
        text.push_str(&aligned(&rows, |_| true));
        text.push('\n');
        text.push_str(&aligned(&self.endings(), |column| column != 1));
        text.push('\n');
        text.push_str(&aligned(&self.times(), |column| column == 0));
        text
    }

    fn heading(&self) -> String {
        let Options { lasts, servers: (local, remote), rate, .. } = self.options;
        let Kills { locals, remotes } = self.kills;
        format!(
            "{local} local servers and {remote} behind a URL, {rate} calls a second for {lasts:?}; \
             {locals} and {remotes} times one was killed; seed {}; shut down in {:.0?}\n\n",
            self.seed, self.shut_down
        )
    }

    fn endings(&self) -> Vec<Vec<String>> {
        let mut rows = vec![vec!["ending".to_owned(), self.calls.all().to_string(), String::new()]];
        for ending in Ending::ALL.into_iter().filter(|ending| self.calls.of(*ending) > 0) {
            let said = self.calls.said(ending).map(|said| format!("as in: {said}")).unwrap_or_default();
            rows.push(vec![ending.as_str().to_owned(), self.calls.of(ending).to_string(), said]);
        }
        rows
    }

    fn times(&self) -> Vec<Vec<String>> {
        let mut rows = vec![["time", "count", "p50", "p99", "longest"].map(str::to_owned).to_vec()];
        for (what, times) in self.histograms() {
            let shown = [times.share(0.5), times.share(0.99), times.most()].map(milliseconds);
            rows.push([what.to_owned(), times.count().to_string()].into_iter().chain(shown).collect());
        }
        rows
    }

    fn histograms(&self) -> [(&'static str, &Histogram); 5] {
        let Tally { answered, failed, late_begun, recovered: [local, remote], .. } = &self.calls;
        [
            ("calls that succeeded", answered),
            ("calls that failed", failed),
            ("how late calls began", late_begun),
            ("from a kill to the next success, local", local),
            ("from a kill to the next success, behind a URL", remote),
        ]
    }

    /// For programs: seconds and bytes.
    pub(crate) fn json(&self) -> Value {
        let promise = |promise: &Promise| {
            let Promise { what, measured, promised, kept } = promise;
            json!({ "promise": what, "measured": measured, "promised": promised, "kept": kept })
        };
        let ending = |ending: Ending| (ending.as_str().to_owned(), Value::from(self.calls.of(ending)));
        let times = |(what, times): (&str, &Histogram)| {
            let [p50, p99, most] =
                [times.share(0.5), times.share(0.99), times.most()].map(|time| time.as_secs_f64());
            (what.to_owned(), json!({ "count": times.count(), "p50": p50, "p99": p99, "longest": most }))
        };
        let drift = |drift: Drift| json!({ "first": drift.first, "last": drift.last });
        json!({
            "seed": self.seed,
            "seconds": self.options.lasts.as_secs_f64(),
            "kills": { "local": self.kills.locals, "remote": self.kills.remotes },
            "promises": self.promises().iter().map(promise).collect::<Vec<_>>(),
            "endings": Ending::ALL.into_iter().map(ending).collect::<Map<_, _>>(),
            "times": self.histograms().into_iter().map(times).collect::<Map<_, _>>(),
            "memory": drift(self.memory),
            "memoryCourse": self.course,
            "filesAtRest": { "before": self.files_at_rest.0, "after": self.files_at_rest.1 },
            "shutDown": self.shut_down.as_secs_f64(),
        })
    }
}

/// Something that must not happen.
fn none(what: &'static str, count: u64) -> Promise {
    Promise { what, measured: count.to_string(), promised: "0".to_owned(), kept: count == 0 }
}

fn told(Census { locals, guardians, houses, remotes, zombies }: Census) -> String {
    format!(
        "{locals} local, {guardians} guardians, {houses} guardhouses, {remotes} behind a URL, {zombies} zombies"
    )
}

fn megabytes(bytes: f64) -> String {
    format!("{:.2} MB", bytes / 1e6)
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
