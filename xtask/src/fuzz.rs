//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/targets`, each for some time, and fails on a finding.
//!
//! The oracles are in `fuzz/src`. libFuzzer needs a nightly compiler, for the coverage that guides it; nothing
//! else in the workspace does.

mod engine_output;
mod table;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;

use crate::error::ChoreError;
use crate::step::ChoreStep;
use crate::tool::FUZZ;
use crate::workspace;
use engine_output::EngineOutput;
use table::FuzzRow;

/// The targets, in the order of the table in `fuzz/src/lib.rs`.
const TARGETS: [&str; 8] = [
    "stdio_lines",
    "json_rpc",
    "sse_events",
    "config_files",
    "policy_match",
    "names_and_rules",
    "sign_in_documents",
    "display_text",
];

/// The package of the targets, with the corpora and the findings.
const FOLDER: &str = "fuzz/targets";

/// The limits of one input: more memory or time is a finding.
const LIMITS: [&str; 3] = ["-rss_limit_mb=512", "-timeout=1", "-print_final_stats=1"];

/// The last lines of libFuzzer that are printed for a finding: the broken rule is among them.
const SHOWN_LINES: usize = 40;

/// The options of fuzzing.
#[derive(Debug, clap::Args)]
pub(crate) struct FuzzOptions {
    /// The time for each target
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// The target to run; may be repeated. Unless given, all are run
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(TARGETS))]
    target: Vec<String>,
    /// Run the one target on this input only, to reproduce a finding
    #[arg(long, value_name = "FILE", requires = "target")]
    input: Option<PathBuf>,
}

/// Runs the targets and prints a table.
pub(crate) fn run_targets(options: &FuzzOptions) -> Result<(), ChoreError> {
    let fuzzer = Fuzzer::find()?;
    fuzzer.step(&["build"]).run()?;
    let chosen =
        |target: &&str| options.target.is_empty() || options.target.iter().any(|name| name == target);
    let targets: Vec<&str> = TARGETS.into_iter().filter(chosen).collect();
    if let Some(input) = &options.input {
        let input = std::path::absolute(input).map_err(ChoreError::file_error(input))?;
        let input = input.to_string_lossy();
        return targets.iter().try_for_each(|target| fuzzer.step(&["run", target, &input]).run());
    }
    let mut rows = Vec::new();
    for target in targets {
        rows.push(fuzzer.run_target(target, options.seconds)?);
    }
    print!("{}", table::render_table(&rows));
    let findings = rows.iter().filter(|row| !row.is_clean()).count();
    if findings == 0 { Ok(()) } else { Err(ChoreError::Findings { targets: findings }) }
}

/// cargo-fuzz with a nightly compiler.
struct Fuzzer {
    program: PathBuf,
}

impl Fuzzer {
    fn find() -> Result<Self, ChoreError> {
        let nightly = ["run", "nightly", "cargo", "--version"];
        if ChoreStep::program(Path::new("rustup"), &nightly).run_silently().is_none() {
            return Err(ChoreError::Missing {
                program: "nightly Rust",
                hint: "install it with `rustup toolchain install nightly`; only fuzzing needs it",
            });
        }
        Ok(Self { program: FUZZ.find_or_install()? })
    }

    /// A step that runs a command of cargo-fuzz.
    fn step(&self, arguments: &[&str]) -> ChoreStep {
        let program = self.program.to_string_lossy();
        let Some((command, rest)) = arguments.split_first() else { unreachable!("every call has a command") };
        let before = ["run", "nightly", &*program, "fuzz", command, "--fuzz-dir", FOLDER];
        let step = ChoreStep::program(Path::new("rustup"), &[&before, rest].concat());
        // Without `CARGO`, cargo-fuzz would build with the stable cargo that runs this chore. A backtrace takes
        // longer than an input may, so that every finding would look like one of time.
        step.with_env("CARGO", "cargo").with_env("RUST_BACKTRACE", "0")
    }

    fn run_target(&self, target: &'static str, seconds: u64) -> Result<FuzzRow, ChoreError> {
        let root = workspace::workspace_root();
        let corpus = root.join(FOLDER).join("corpus").join(target);
        std::fs::create_dir_all(&corpus).map_err(ChoreError::file_error(&corpus))?;
        let seeds = root.join("fuzz/seeds").join(target);
        let (corpus_path, seeds) = (corpus.to_string_lossy(), seeds.to_string_lossy());
        let time = format!("-max_total_time={seconds}");
        let run = ["run", target, &corpus_path, &seeds, "--", &time];
        let (is_clean, text) = self.step(&[&run[..], &LIMITS].concat()).run_for_errors()?;
        let output = EngineOutput::parse(&text);
        if !is_clean {
            let lines: Vec<&str> = text.lines().collect();
            eprintln!(
                "{}",
                lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default().join("\n")
            );
            for finding in &output.findings {
                eprintln!("reproduce it with: cargo xtask fuzz --target {target} --input {finding}");
            }
        }
        let files = std::fs::read_dir(&corpus).map_err(ChoreError::file_error(&corpus))?.count();
        Ok(FuzzRow { target, output, corpus: files, has_failed: !is_clean })
    }
}

#[cfg(test)]
mod tests {
    use super::{FOLDER, TARGETS};
    use crate::workspace;

    #[test]
    fn each_target_has_a_program_and_seeds() {
        let root = workspace::workspace_root();
        let manifest = std::fs::read_to_string(root.join(FOLDER).join("Cargo.toml")).unwrap();
        assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
        for target in TARGETS {
            assert!(manifest.contains(&format!("path = \"{target}.rs\"")), "{target}");
            assert!(root.join(FOLDER).join(target).with_extension("rs").is_file(), "{target}");
            assert!(root.join("fuzz/seeds").join(target).is_dir(), "{target}");
        }
    }
}
