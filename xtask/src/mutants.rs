//! `cargo xtask mutants`: changes the code that decides about safety in many places, and counts the changes that
//! a test notices.
//!
//! Only code is changed whose silent failure would cost the user something: a rule that no longer denies, a
//! mask that shows a token, a name that reaches another tool. [`scope`] lists it.

mod result;
mod scope;

use std::path::{Path, PathBuf};

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::tool::MUTANTS;
use crate::workspace;
use result::MutationResult;
use scope::{MutationScope, SCOPES};

/// The least share of changes that the tests have to notice, in percent.
const LEAST: usize = 90;

/// The time for one change, in seconds: build and tests, on two cores that do nothing else.
const SECONDS_EACH: u64 = 15;

/// The folder with the results, below the workspace's root.
const RESULTS: &str = "target/mutants";

/// The options of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct MutantOptions {
    /// The part of the code to change. Unless given, all parts are changed
    #[arg(long, value_name = "NAME", value_parser = scope::find_scope)]
    part: Option<&'static MutationScope>,
    /// Make every Nth change, beginning with the Kth from zero
    #[arg(long, value_name = "K/N", conflicts_with = "minutes")]
    shard: Option<String>,
    /// Make as many changes as fit into this time
    #[arg(long, default_value_t = 60, value_name = "MINUTES")]
    minutes: u64,
    /// The choice of the changes that are made within the time
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
}

/// Runs the tests for each change of a shard, and prints the score.
pub(crate) fn run_mutants(options: &MutantOptions) -> Result<(), ChoreError> {
    let program = MUTANTS.find_or_install()?;
    let scopes: Vec<&MutationScope> = match options.part {
        Some(scope) => vec![scope],
        None => SCOPES.iter().collect(),
    };
    let counts = scopes.iter().map(|scope| count_changes(&program, scope)).collect::<Result<Vec<_>, _>>()?;
    let shard = match &options.shard {
        Some(shard) => shard.clone(),
        None => choose_shard(counts.iter().sum(), options.minutes, options.seed),
    };
    let mut all = MutationResult::default();
    for (scope, count) in scopes.iter().zip(counts) {
        eprintln!("{}: shard {shard} of {count} changes", scope.name);
        let result = run_scope(&program, scope, &shard)?;
        print!("{}", result.render(scope.name));
        all.add(&result);
    }
    print!("{}", all.render("all"));
    let missed = workspace::workspace_root().join(RESULTS);
    match all.caught * 100 >= all.decided() * LEAST {
        true => Ok(()),
        false => {
            Err(ChoreError::MutationScore { caught: all.caught, all: all.decided(), least: LEAST, missed })
        }
    }
}

/// The shard of a seed that takes about this time.
fn choose_shard(changes: u64, minutes: u64, seed: u64) -> String {
    let shards = (changes * SECONDS_EACH).div_ceil((minutes * 60).max(1)).max(1);
    format!("{}/{shards}", seed % shards)
}

fn count_changes(program: &Path, scope: &MutationScope) -> Result<u64, ChoreError> {
    let list = [&scope.selection()[..], &["--list".to_owned()]].concat();
    let text = ChoreStep::program(program, &["mutants"]).with_args(&list).run_for_output()?;
    Ok(text.lines().count() as u64)
}

fn run_scope(program: &Path, scope: &MutationScope, shard: &str) -> Result<MutationResult, ChoreError> {
    let root = workspace::workspace_root();
    let folder = root.join(RESULTS).join(scope.name);
    std::fs::create_dir_all(&folder).map_err(ChoreError::file_error(&folder))?;
    let output = folder.to_string_lossy();
    let settings = ["--output", &*output, "--shard", shard, "--sharding", "round-robin", "--jobs", "1"];
    let settings = [&settings[..], &["--test-tool", "nextest"]].concat();
    let settings = [&settings[..], &["--no-shuffle", "--colors", "never", "--"], scope.tests].concat();
    let settings: Vec<String> = settings.into_iter().map(str::to_owned).collect();
    let step = ChoreStep::program(program, &["mutants"]).with_args(&scope.selection()).with_args(&settings);
    let step = step.with_env("CARGO_PROFILE_DEV_DEBUG", "0");
    let line = step.line().to_owned();
    match step.run() {
        // 2: a change was missed, 3: a test did not end. Both are counted.
        Ok(()) | Err(ChoreError::Step { code: 2 | 3, .. }) => {}
        Err(error) => return Err(error),
    }
    let path: PathBuf = folder.join("mutants.out/outcomes.json");
    let text = std::fs::read_to_string(&path).map_err(ChoreError::file_error(&path))?;
    MutationResult::parse(&text).ok_or(ChoreError::Silent { line, wanted: "its outcomes".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::choose_shard;

    #[test]
    fn shard_fits_the_time_and_follows_from_the_seed() {
        assert_eq!(choose_shard(100, 60, 0), "0/1");
        assert_eq!(choose_shard(1000, 60, 0), "0/5");
        assert_eq!(choose_shard(1000, 60, 7), "2/5");
        assert_eq!(choose_shard(0, 60, 7), "0/1");
    }
}
