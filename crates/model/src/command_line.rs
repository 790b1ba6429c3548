//! Analyzes a command line: which programs it would start, and which packages it would download.
//!
//! `env A=1 prog`, `sh -c 'prog'` and `npx prog` start another program than their first word. Policy and
//! the recursion check look at every program on the way. The analysis is a heuristic over words: it never
//! runs a command, and a script that hides its program on purpose gets past it. Rules that must hold
//! regardless have a second check, such as [`crate::ancestry`].

mod package;
mod runner;
mod script;
#[cfg(test)]
mod tests;
mod unpinned;
mod wrapper;

pub use package::{Package, PackageRegistry};
pub use script::is_shell;
pub use unpinned::UnpinnedStep;

/// The maximum nesting of programs before the analysis stops.
const DEPTH: usize = 8;

/// The maximum number of steps of one command line before the analysis stops.
const STEPS: usize = 256;

/// One step of a command line: a program it starts or code it downloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandStep {
    /// A program would be started with these words, its own name first.
    Program(Vec<String>),
    /// A package runner would fetch a package and run it.
    Package(Package),
    /// A script would run code that it downloads.
    DownloadedScript,
    /// The rest of the command line, which is nested too deeply to be analyzed.
    TooDeep,
}

/// Lists the steps of the command line `argv`, the outermost program first.
#[must_use]
pub fn unfold_command(argv: &[&str]) -> Vec<CommandStep> {
    let mut steps = Vec::new();
    unfold_into(&mut steps, argv.iter().map(|&word| word.to_owned()).collect(), 0);
    steps
}

/// The name of a program: the last part of its path, without the extension that Windows adds.
#[must_use]
pub fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let ending = [".exe", ".cmd", ".bat", ".ps1"].into_iter().find(|ending| {
        let at = name.len().saturating_sub(ending.len());
        name.get(at..).is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
    });
    ending.and_then(|ending| name.get(..name.len() - ending.len())).unwrap_or(name)
}

fn unfold_into(steps: &mut Vec<CommandStep>, argv: Vec<String>, depth: usize) {
    let Some((program, arguments)) = argv.split_first() else { return };
    if depth > DEPTH || steps.len() > STEPS {
        if steps.last() != Some(&CommandStep::TooDeep) {
            steps.push(CommandStep::TooDeep);
        }
        return;
    }
    let name = program_name(program).to_owned();
    let arguments = arguments.to_vec();
    steps.push(CommandStep::Program(argv));
    if let Some(script) = script::parse_shell_arguments(&name, &arguments) {
        return unfold_script(steps, &script, depth);
    }
    if let Some(inner) = wrapper::inner_command(&name, &arguments) {
        return unfold_into(steps, inner, depth + 1);
    }
    if let Some(run) = runner::parse_invocation(&name, &arguments) {
        steps.extend(run.packages.into_iter().map(CommandStep::Package));
        for inner in run.scripts {
            unfold_script(steps, &inner, depth);
        }
        unfold_into(steps, run.command, depth + 1);
    }
}

fn unfold_script(steps: &mut Vec<CommandStep>, script: &script::Script, depth: usize) {
    let before = steps.len();
    for command in &script.commands {
        unfold_into(steps, command.clone(), depth + 1);
    }
    let inside = steps.get(before..).unwrap_or_default();
    if script.runs_output && inside.iter().any(is_download) && inside.iter().any(is_interpreter) {
        steps.push(CommandStep::DownloadedScript);
    }
}

fn is_download(step: &CommandStep) -> bool {
    is_program(step, |name| matches!(name, "curl" | "wget"))
}

fn is_interpreter(step: &CommandStep) -> bool {
    is_program(step, |name| {
        script::is_shell(name)
            || matches!(name, "eval" | "source" | "." | "node")
            || name.starts_with("python")
    })
}

fn is_program(step: &CommandStep, wanted: impl Fn(&str) -> bool) -> bool {
    match step {
        CommandStep::Program(argv) => argv.first().is_some_and(|program| wanted(program_name(program))),
        CommandStep::Package(_) | CommandStep::DownloadedScript | CommandStep::TooDeep => false,
    }
}
