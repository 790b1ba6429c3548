//! The development chores of the workspace: `cargo xtask <chore>`.
//!
//! | chore | where |
//! |---|---|
//! | run every test | [`mod@test`] |
//! | install the servers that tests talk to | [`fleet`] |
//! | run the official conformance suite | [`conformance`] |
//! | compare a server with itself behind the gateway | [`transparency`] |
//! | check the source | [`lint`], [`lint::tree`], [`lint::structure`], [`lint::flow_tables`], [`lint::links`] |
//! | write the reference pages | [`generate`] |
//! | measure | [`mod@bench`] |
//! | pack a release, and build it a second time | [`dist`] |
//! | compare the library with that of an earlier commit | [`semver`] |
//! | check that a version can be published | [`release`] |
//! | run the fuzz targets | [`fuzz`] |
//! | measure how many changes of the code the tests notice | [`mutants`] |
//!
//! A chore is a sequence of commands; [`step`] prints and runs one, [`tool`] installs its program if needed.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "chores run programs, read the environment cargo sets, write documentation and talk to a developer"
)]

mod bench;
mod conformance;
mod dist;
mod error;
mod fleet;
mod fuzz;
mod generate;
mod lint;
mod mutants;
mod release;
mod semver;
mod step;
mod test;
mod tool;
mod transparency;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Run the chores of the mcparley workspace
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Run every test: unit, integration and documentation tests
    ///
    /// Installs cargo-nextest into `.tools` if it is missing or of another version, brings the fleet up to
    /// date, and builds the programs that tests start.
    Test {
        /// Arguments for `cargo nextest run`, such as a test's name
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "NEXTEST-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Install the third-party servers that tests talk to, as pinned in `fleet/`
    ///
    /// They go into `.tools/fleet`. Packages that are installed as pinned are left alone. Needs Node 20 with
    /// npm, and Python 3.10 or newer.
    Fleet {
        /// Run the servers through the library, the command line and the gateway, and write `docs/compatibility.md`
        #[arg(long)]
        report: bool,
    },
    /// Run the official conformance suite against a client and the gateway, every scenario strictly
    ///
    /// Installs the suite into `.tools/conformance` as pinned in `fleet/conformance`, and a Node for it where
    /// the machine has none of version 22 or newer. A warning, a time-out, a crash or a scenario without a
    /// single success counts as a failure.
    Conformance(conformance::ConformanceOptions),
    /// Compare a server with the same server behind `mcparley serve --one`, message by message
    ///
    /// Every definition, result and error is compared token by token, for clients of both eras over standard
    /// streams and HTTP. Where the server and the client are of different eras, members that depend on the era
    /// are left out.
    Transparency(transparency::TransparencyOptions),
    /// Check the source: layout, structure, format, lints, each crate alone, dependencies, documentation
    ///
    /// Installs cargo-deny into `.tools` if it is missing or of another version. Security advisories are not
    /// part of it: they need a database from the network. `cargo deny check advisories` looks them up.
    Lint,
    /// Write the pages of `docs/reference` and `docs/man` from the code
    Generate {
        /// Write nothing; fail if a page is missing, stale or no longer generated
        #[arg(long)]
        check: bool,
    },
    /// Run the fuzz targets, and fail on the first finding of each
    ///
    /// Needs a nightly compiler. Installs cargo-fuzz into `.tools` if it is missing or of another version. The
    /// corpora stay in `fuzz/targets/corpus`, so that each run continues the one before.
    Fuzz(fuzz::FuzzOptions),
    /// Change the code of policies, permissions, masks and names in many places, and fail if too few changes
    /// are noticed by a test
    ///
    /// Installs cargo-mutants into `.tools` if it is missing or of another version. The changes are made in a
    /// copy of the workspace; the result is in `target/mutants`.
    Mutants(mutants::MutantOptions),
    /// Build a release and pack it: archive, checksums, npm package, in `target/packages`
    Dist(dist::DistOptions),
    /// Compare the public interface of the library with that of an earlier commit
    ///
    /// Installs cargo-semver-checks into `.tools` if it is missing or of another version.
    Semver(semver::SemverOptions),
    /// Check that a version can be published: packages, interface, reproduction; `CONTRIBUTING.md` has the rest
    Release(release::ReleaseOptions),
    /// Measure the figures with a limit: planning, cold start, memory, naming
    Bench {
        /// Fail if a figure is over its limit
        #[arg(long)]
        strict: bool,
        #[command(subcommand)]
        instead: Option<Measure>,
    },
}

#[derive(Debug, Subcommand)]
enum Measure {
    /// Measure calls and the command line against the least possible cost; see `bench/README.md`
    Calls {
        /// Arguments for `mcparley-bench`, such as `--check`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "BENCH-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Measure the gateway against a relay that only moves bytes; see `bench/README.md`
    Gateway {
        /// Arguments for `mcparley-bench`, such as `--check`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "BENCH-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Run the soak test: load many servers while they are being killed; see `bench/README.md`
    Soak {
        /// Arguments for `mcparley-bench soak`, such as `--check` or `--for 1h`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SOAK-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Measure how often search finds the right tool, beside plain BM25; see `bench/README.md`
    ///
    /// Installs the questions of the Berkeley Function Calling Leaderboard into `.tools/retrieval`, as pinned in
    /// `fleet/requirements/retrieval.txt`.
    Retrieval {
        /// Arguments for `mcparley-bench retrieval`, such as `--check` or `--set FILE`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "RETRIEVAL-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Run the misrouting test: many clients with colliding ids through the gateway; see `bench/README.md`
    Misrouting {
        /// Arguments for `mcparley-bench misrouting`, such as `--check` or `--kill`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "MISROUTING-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Fail if a call or a command needs over a quarter more processor time than accepted; see `bench/README.md`
    ///
    /// Compares the program of `cargo build --release` with a client without a library, and the ratios with
    /// `bench/baseline.json`. Takes a minute once everything is built.
    Smoke {
        /// Arguments for `mcparley-smoke`, such as `--write`, which accepts the measured ratios
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "SMOKE-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Write `docs/benchmarks.md`: all figures, beside the peers that are installed; see `bench/README.md`
    ///
    /// Installs the peers into `.tools` as pinned in `fleet/`. Run it on a machine that does nothing else.
    Page(bench::PageOptions),
    /// Measure what clients of the gateway see of faults: outcome and time of each; see `bench/README.md`
    Faults {
        /// Arguments for `mcparley-bench faults`, such as `--check` or `--seconds 60`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FAULT-ARGUMENTS")]
        passed_on: Vec<String>,
    },
    /// Measure the daemon with real servers and many clients; see `bench/README.md`
    Daemon {
        /// Arguments for `mcparley-bench daemon`, such as `--check` or `--only warm`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "DAEMON-ARGUMENTS")]
        passed_on: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Test { passed_on } => test::run_tests(&passed_on),
        Chore::Fleet { report: false } => fleet::install_fleet(),
        Chore::Fleet { report: true } => test::write_compatibility(),
        Chore::Conformance(wishes) => conformance::run_conformance(&wishes),
        Chore::Transparency(wishes) => transparency::run_comparison(&wishes),
        Chore::Lint => lint::run_lints(),
        Chore::Fuzz(options) => fuzz::run_targets(&options),
        Chore::Mutants(options) => mutants::run_mutants(&options),
        Chore::Dist(options) => dist::build_release(&options),
        Chore::Semver(options) => semver::compare_interface(&options),
        Chore::Release(options) => release::check_release(&options),
        Chore::Generate { check: true } => generate::check_pages(),
        Chore::Generate { check: false } => generate::write_pages(),
        Chore::Bench { strict, instead: None } => bench::run_benches(strict),
        Chore::Bench { instead: Some(Measure::Calls { passed_on }), .. } => bench::run_call_bench(&passed_on),
        Chore::Bench { instead: Some(Measure::Gateway { passed_on }), .. } => {
            bench::run_gateway_bench(&passed_on)
        }
        Chore::Bench { instead: Some(Measure::Soak { passed_on }), .. } => bench::run_soak(&passed_on),
        Chore::Bench { instead: Some(Measure::Retrieval { passed_on }), .. } => {
            bench::run_retrieval_bench(&passed_on)
        }
        Chore::Bench { instead: Some(Measure::Misrouting { passed_on }), .. } => {
            bench::run_misrouting(&passed_on)
        }
        Chore::Bench { instead: Some(Measure::Faults { passed_on }), .. } => {
            bench::run_fault_bench(&passed_on)
        }
        Chore::Bench { instead: Some(Measure::Smoke { passed_on }), .. } => bench::run_smoke(&passed_on),
        Chore::Bench { instead: Some(Measure::Page(options)), .. } => bench::write_page(&options),
        Chore::Bench { instead: Some(Measure::Daemon { passed_on }), .. } => {
            bench::run_daemon_bench(&passed_on)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn no_chore_has_two_options_of_one_name() {
        Cli::command().debug_assert();
    }
}
