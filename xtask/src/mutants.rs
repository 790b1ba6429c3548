//! `cargo xtask mutants`: changes the code that decides about safety in many places, and counts the changes that
//! a test notices.
//!
//! Only code is changed whose silent failure would cost the user something: a rule that no longer denies, a
//! mask that shows a token, a name that reaches another tool. [`scope`] lists it.

mod result;
mod scope;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::tool::{MUTANTS, NEXTEST};
use crate::workspace;
use result::{LEAST, MutationResult};
use scope::{MutationScope, SCOPES};

/// The folder with the results, below the workspace's root.
const RESULTS: &str = "target/mutants";

/// The target folder of all builds, below that of the results: the programs that tests start are built into it once,
/// beside which the tests of every copy find them.
const BUILD: &str = "build";

/// The options of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct MutantOptions {
    /// The part of the code to change. Unless given, all parts are changed
    #[arg(long, value_name = "NAME", value_parser = scope::find_scope)]
    part: Option<&'static MutationScope>,
    /// Make every Nth change, beginning with the Kth from zero
    #[arg(long, value_name = "K/N", conflicts_with = "minutes")]
    shard: Option<String>,
    /// Make as many changes as fit into this time; what is not done then is left out
    #[arg(long, default_value_t = 60, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    minutes: u64,
    /// The choice of the changes that are made within the time
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
}

/// The share of a part in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ScopeShare {
    shard: String,
    /// The time for the changes of the part; absent where a shard was asked for.
    time: Option<Duration>,
}

/// Runs the tests for each change of a shard, and prints the score.
pub(crate) fn run_mutants(options: &MutantOptions) -> Result<(), ChoreError> {
    let tools = MutationTools::prepare()?;
    let scopes: Vec<&MutationScope> = match options.part {
        Some(scope) => vec![scope],
        None => SCOPES.iter().collect(),
    };
    tools.build_programs(&scopes)?;
    let counts = scopes.iter().map(|scope| tools.count_changes(scope)).collect::<Result<Vec<_>, _>>()?;
    let all: u64 = scopes.iter().zip(&counts).map(|(scope, count)| scope.seconds_each * count).sum();
    let mut results = Vec::new();
    for (scope, count) in scopes.iter().zip(counts) {
        let share = match &options.shard {
            Some(shard) => ScopeShare { shard: shard.clone(), time: None },
            None => choose_share(scope.seconds_each * count, all, scopes.len(), options),
        };
        eprintln!("{}: shard {} of {count} changes", scope.name, share.shard);
        results.push((scope.name, tools.run_scope(scope, &share)?));
    }
    judge_results(&results)
}

/// Prints the table; fails if a part has no change that was tested, or too few were noticed.
fn judge_results(results: &[(&'static str, MutationResult)]) -> Result<(), ChoreError> {
    let mut all = MutationResult::default();
    for (name, result) in results {
        print!("{}", result.render(name));
        all.add(result);
    }
    print!("{}", all.render("all"));
    let untested: Vec<&str> =
        results.iter().filter(|(_, result)| result.decided() == 0).map(|(name, _)| *name).collect();
    if !untested.is_empty() {
        return Err(ChoreError::NoMutation { parts: untested.join(", ") });
    }
    let missed = workspace::workspace_root().join(RESULTS);
    match all.is_enough() {
        true => Ok(()),
        false => {
            Err(ChoreError::MutationScore { caught: all.caught, all: all.decided(), least: LEAST, missed })
        }
    }
}

/// The share of a part that takes `seconds` of the `all` seconds that all changes of all `parts` take.
fn choose_share(seconds: u64, all: u64, parts: usize, options: &MutantOptions) -> ScopeShare {
    let budget = options.minutes * 60;
    // Half of the time is for the changes. The other half is divided evenly: the first build and the tests of the
    // unchanged code take as long for a small part as for a large one.
    let half = budget / 2;
    let shards = all.div_ceil(half).max(1);
    let time = (half * seconds).checked_div(all).unwrap_or_default() + half / parts.max(1) as u64;
    ScopeShare { shard: format!("{}/{shards}", options.seed % shards), time: Some(Duration::from_secs(time)) }
}

/// The installed programs, and the folder of the results.
struct MutationTools {
    mutants: PathBuf,
    /// The search path, with the folder of the installed programs: cargo-mutants runs `cargo nextest`.
    path: OsString,
    results: PathBuf,
}

impl MutationTools {
    fn prepare() -> Result<Self, ChoreError> {
        NEXTEST.find_or_install()?;
        let root = workspace::workspace_root();
        let mut path = root.join(".tools/bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Ok(Self { mutants: MUTANTS.find_or_install()?, path, results: root.join(RESULTS) })
    }

    /// Builds the programs that the tests of these parts start.
    fn build_programs(&self, scopes: &[&MutationScope]) -> Result<(), ChoreError> {
        let mut programs: Vec<&str> = scopes.iter().flat_map(|scope| scope.programs).copied().collect();
        programs.sort_unstable();
        programs.dedup();
        if programs.is_empty() {
            return Ok(());
        }
        let packages = programs.iter().flat_map(|program| ["--package", program]);
        let arguments: Vec<&str> = ["build", "--bins"].into_iter().chain(packages).collect();
        self.prepare_step(ChoreStep::cargo(&arguments)).run()
    }

    /// Sets the target folder and the profile, which are the same for all builds.
    fn prepare_step(&self, step: ChoreStep) -> ChoreStep {
        let build = self.results.join(BUILD);
        step.with_env("CARGO_TARGET_DIR", &build.to_string_lossy()).with_env("CARGO_PROFILE_DEV_DEBUG", "0")
    }

    fn count_changes(&self, scope: &MutationScope) -> Result<u64, ChoreError> {
        let list = [&scope.selection()[..], &["--list".to_owned()]].concat();
        let text = ChoreStep::program(&self.mutants, &["mutants"]).with_args(&list).run_for_output()?;
        Ok(text.lines().count() as u64)
    }

    fn run_scope(&self, scope: &MutationScope, share: &ScopeShare) -> Result<MutationResult, ChoreError> {
        let folder = self.results.join(scope.name);
        std::fs::create_dir_all(&folder).map_err(ChoreError::file_error(&folder))?;
        let path: PathBuf = folder.join("mutants.out/outcomes.json");
        remove_stale(&path)?;
        let arguments = scope.run_arguments(&share.shard, &folder.to_string_lossy());
        let step = ChoreStep::program(&self.mutants, &["mutants"]).with_args(&arguments);
        let step = self.prepare_step(step).with_env("PATH", &self.path.to_string_lossy());
        let line = step.line().to_owned();
        let ended = match share.time {
            Some(time) => step.run_until(Instant::now() + time),
            None => step.run().map(|()| true),
        };
        match ended {
            // 2: a change was missed, 3: a test did not end. Both are counted.
            Ok(true) | Err(ChoreError::Step { code: 2 | 3, .. }) => {}
            Ok(false) => eprintln!("{}: the time is over; the other changes are left out", scope.name),
            Err(error) => return Err(error),
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => MutationResult::parse(&text)
                .ok_or(ChoreError::Silent { line, wanted: "its outcomes".to_owned() }),
            // The time was over before the first outcome.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(MutationResult::default()),
            Err(error) => Err(ChoreError::file_error(&path)(error)),
        }
    }
}

/// Removes the outcomes of an earlier run, which must not count for this one.
fn remove_stale(outcomes: &Path) -> Result<(), ChoreError> {
    match std::fs::remove_file(outcomes) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ChoreError::file_error(outcomes)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MutantOptions, MutationResult, choose_share, judge_results};
    use crate::error::ChoreError;

    fn options(minutes: u64, seed: u64) -> MutantOptions {
        MutantOptions { part: None, shard: None, minutes, seed }
    }

    #[test]
    fn shard_fits_half_of_the_time_and_follows_from_the_seed() {
        let shard = |all: u64, seed: u64| choose_share(all, all, 1, &options(60, seed)).shard;
        assert_eq!(shard(1500, 0), "0/1");
        assert_eq!(shard(9000, 0), "0/5");
        assert_eq!(shard(9000, 7), "2/5");
        assert_eq!(shard(0, 7), "0/1");
    }

    #[test]
    fn times_of_all_parts_are_the_time_of_the_run_and_a_small_part_can_build() {
        let time = |seconds: u64| choose_share(seconds, 4000, 2, &options(60, 0)).time.unwrap();
        assert_eq!(time(3999) + time(1), Duration::from_secs(3599));
        assert!(time(1) >= Duration::from_mins(15));
    }

    #[test]
    fn part_without_a_tested_change_fails_the_run_and_is_named() {
        let good = MutationResult::parse(r#"{"missed":0,"caught":9,"timeout":0,"unviable":0}"#).unwrap();
        judge_results(&[("rules", good)]).unwrap();
        let error = judge_results(&[("rules", good), ("files", MutationResult::default())]).unwrap_err();
        assert!(matches!(&error, ChoreError::NoMutation { parts } if parts == "files"), "{error}");
        let error = judge_results(&[]).unwrap_err();
        assert!(matches!(error, ChoreError::MutationScore { all: 0, .. }), "{error}");
    }
}
