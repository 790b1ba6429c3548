//! Looks through a command line: which programs it would start, and which packages it would fetch.
//!
//! `env A=1 prog`, `sh -c 'prog'` and `npx prog` start something else than their first word says. Policy and the
//! check for recursion judge everything on the way. The reading is a heuristic over words: it never runs anything,
//! and a script that hides its program on purpose gets past it. What must hold regardless has a second net.

mod package;
mod runner;
mod script;
#[cfg(test)]
mod tests;
mod unpinned;
mod wrapper;

pub use package::Package;
pub use unpinned::UnpinnedStep;

/// How many programs may stand inside each other before the reading stops.
const DEPTH: usize = 8;

/// How many steps one command line may have before the reading stops.
const STEPS: usize = 256;

/// One thing that a command line would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A program would be started with these words, its own name first.
    Program(Vec<String>),
    /// A package runner would fetch a package and run it.
    Package(Package),
    /// A script would run what it downloads.
    DownloadedScript,
}

/// Everything that `argv` would start, the outermost program first.
#[must_use]
pub fn unfold(argv: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    unfold_into(&mut steps, argv.iter().map(|&word| word.to_owned()).collect(), 0);
    steps
}

/// The name a program goes by: the last part of its path, without the ending that Windows adds.
#[must_use]
pub fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let ending = [".exe", ".cmd", ".bat", ".ps1"].into_iter().find(|ending| {
        let at = name.len().saturating_sub(ending.len());
        name.get(at..).is_some_and(|tail| tail.eq_ignore_ascii_case(ending))
    });
    ending.and_then(|ending| name.get(..name.len() - ending.len())).unwrap_or(name)
}

fn unfold_into(steps: &mut Vec<Step>, argv: Vec<String>, depth: usize) {
    let Some((program, arguments)) = argv.split_first() else { return };
    if depth > DEPTH || steps.len() > STEPS {
        return;
    }
    let name = program_name(program).to_owned();
    let arguments = arguments.to_vec();
    steps.push(Step::Program(argv));
    if let Some(script) = script::of_shell(&name, &arguments) {
        return unfold_script(steps, &script, depth);
    }
    if let Some(inner) = wrapper::inner_command(&name, &arguments) {
        return unfold_into(steps, inner, depth + 1);
    }
    if let Some(run) = runner::read(&name, &arguments) {
        steps.extend(run.packages.into_iter().map(Step::Package));
        for inner in run.scripts {
            unfold_script(steps, &inner, depth);
        }
        unfold_into(steps, run.command, depth + 1);
    }
}

fn unfold_script(steps: &mut Vec<Step>, script: &script::Script, depth: usize) {
    let before = steps.len();
    for command in &script.commands {
        unfold_into(steps, command.clone(), depth + 1);
    }
    let inside = steps.get(before..).unwrap_or_default();
    if script.runs_output && inside.iter().any(downloads) && inside.iter().any(interprets) {
        steps.push(Step::DownloadedScript);
    }
}

fn downloads(step: &Step) -> bool {
    is_program(step, |name| matches!(name, "curl" | "wget"))
}

fn interprets(step: &Step) -> bool {
    is_program(step, |name| {
        script::is_shell(name)
            || matches!(name, "eval" | "source" | "." | "node")
            || name.starts_with("python")
    })
}

fn is_program(step: &Step, wanted: impl Fn(&str) -> bool) -> bool {
    match step {
        Step::Program(argv) => argv.first().is_some_and(|program| wanted(program_name(program))),
        Step::Package(_) | Step::DownloadedScript => false,
    }
}
