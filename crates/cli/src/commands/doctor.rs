//! `doctor`: why servers do not work, and what to do; each as soon as it is known.

use std::collections::BTreeSet;

use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::model::text::display;
use mcparley::{Doctor, Examined, Finding, Loaded, Passed, Stage, Verdict};

use super::{Done, code_of, tell_problems};
use crate::args::DoctorArgs;
use crate::context::Context;
use crate::error::{CommandError, standing_code};
use crate::exit::{self, Code};
use crate::live;
use crate::out::{Out, bold, dim, verdict, weight};
use crate::report::DoctorReport;

/// How many of the last lines of standard error people see.
const STDERR_LINES: usize = 8;

pub(super) fn run(args: &DoctorArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let servers = chosen(args, loaded, out)?;
    let surroundings = context.surroundings(loaded);
    let doctor = Doctor::of(surroundings.clone());
    let findings = doctor.findings(loaded, &servers);
    if !out.json {
        findings.iter().for_each(|finding| tell_finding(finding, out));
    }
    let mut left = servers.iter().filter(|server| server.standing == ServerStanding::Ready).count();
    let mut examined: Vec<Examined> = Vec::new();
    wait(left, out);
    let examining = doctor.examine(&servers, |server| {
        if server.standing == ServerStanding::Ready {
            left = left.saturating_sub(1);
        }
        wait(left, out);
        if !out.json {
            tell_server(&server, out);
        }
        examined.push(server);
    });
    let cautions = live::run_with(&surroundings, examining)?;
    out.waited();
    if !out.json {
        cautions.iter().for_each(|caution| out.line(format!("caution: {caution}")));
    }
    let code = code(args, loaded, &findings, &examined);
    let report = DoctorReport::of(&findings, examined, &cautions);
    match out.json {
        true => out.value(&report),
        false => out.line(report.in_words()),
    }
    Ok(code)
}

/// The declarations to look into, in the order of the plan, the strongest first.
fn chosen<'l>(
    args: &DoctorArgs,
    loaded: &'l Loaded,
    out: &mut Out,
) -> Result<Vec<&'l Planned>, CommandError> {
    if args.servers.is_empty() {
        return Ok(loaded.plan.servers.iter().rev().collect());
    }
    let mut servers = Vec::new();
    let names: BTreeSet<&String> = args.servers.iter().collect();
    for name in names {
        let named = loaded.plan.named(name);
        if named.is_empty() {
            // It may stand in a file that could not be read.
            tell_problems(loaded, out);
            return Err(CommandError::NotFound { name: name.clone(), similar: loaded.similar(name) });
        }
        servers.extend(named);
    }
    Ok(servers)
}

/// Who has to do something.
fn code(args: &DoctorArgs, loaded: &Loaded, findings: &[Finding], examined: &[Examined]) -> Code {
    let is_broken = |server: &&Examined| server.is == Verdict::Broken;
    if loaded.managed_problem.is_some() {
        return code_of(loaded);
    }
    if examined.iter().filter(is_broken).any(|server| server.standing == ServerStanding::Ready) {
        return exit::UNREACHABLE;
    }
    if examined.iter().any(|server| is_broken(&server))
        || findings.iter().any(|finding| finding.id == "configuration")
    {
        return exit::CONFIG;
    }
    args.servers.iter().find_map(|name| refusal(name, examined)).unwrap_or(exit::OK)
}

/// The code for a server that was asked for by name and may not run.
fn refusal(name: &str, examined: &[Examined]) -> Option<Code> {
    let mut named = examined.iter().filter(|server| server.name.as_str() == name);
    let first = named.next()?;
    let runs = |server: &Examined| server.standing == ServerStanding::Ready;
    (!runs(first) && !named.any(runs)).then(|| standing_code(&first.standing))
}

fn wait(left: usize, out: &mut Out) {
    match left {
        0 => out.waited(),
        left => out.waiting(&format!("waiting for {left} server(s) …")),
    }
}

fn tell_finding(finding: &Finding, out: &mut Out) {
    out.line(format!("{} {}", weight(finding.weight), display(&finding.message)));
    if let Some(hint) = &finding.hint {
        out.line(format!("  do: {}", display(hint)));
    }
}

fn tell_server(server: &Examined, out: &mut Out) {
    out.line(format!("{}: {}", bold(server.name.as_str()), verdict(server.is, &summary(server))));
    if let Some(diagnosis) = &server.diagnosis {
        out.line(format!("  cause: {} {}", display(&diagnosis.cause), dim(&format!("[{}]", diagnosis.id))));
        for hint in &diagnosis.hints {
            out.line(format!("  do: {}", display(hint)));
        }
    }
    for note in &server.notes {
        out.line(format!("  note: {}", display(note)));
    }
    for caution in &server.cautions {
        out.line(format!("  caution: {caution}"));
    }
    tell_trouble(server, out);
    if !server.phases.is_empty() && (server.trouble.is_some() || out.verbose > 0) {
        let phases: Vec<String> = server.phases.iter().map(in_words).collect();
        out.line(format!("  {}", dim(&format!("tried: {}", phases.join(", ")))));
    }
    if server.is != Verdict::Works {
        out.line(format!("  {}", dim(&format!("declared in {}", server.origin))));
    }
}

fn tell_trouble(server: &Examined, out: &mut Out) {
    let Some(trouble) = &server.trouble else { return };
    out.line(format!("  {}", dim(&format!("error: {}", trouble.error))));
    if let Some(stray) = &server.stray {
        let first = stray.first.display();
        out.line(format!("  {}", dim(&format!("{} line(s) on stdout are not MCP: {first}", stray.lines))));
    }
    // Frames of a stack crowd the reason out, which stands above them; `--json` has them.
    let said: Vec<&String> =
        trouble.stderr.iter().filter(|line| !line.trim_start().starts_with("at ")).collect();
    for line in said.iter().skip(said.len().saturating_sub(STDERR_LINES)) {
        out.line(format!("  {}", dim(&format!("it said: {line}"))));
    }
}

fn summary(server: &Examined) -> String {
    let took = server.took.as_millis();
    match (&server.offers, server.is) {
        (Some(offers), _) => format!(
            "works ({} tools, {} prompts, {} resources, {}, {took} ms)",
            offers.tools, offers.prompts, offers.resources, offers.protocol
        ),
        (None, Verdict::Resting) => server.standing.as_str().to_owned(),
        (None, Verdict::Broken | Verdict::Works | Verdict::Flawed) => "does not work".to_owned(),
    }
}

fn in_words(passed: &Passed) -> String {
    let what = match passed.stage {
        Stage::Find => "find the program",
        Stage::Resolve => "resolve the name",
        Stage::Reach => "reach the port",
        Stage::Open => "start",
        Stage::Probe => "ask for the new protocol",
        Stage::Greet => "greet in the old one",
        Stage::Reopen => "start again",
        Stage::Legacy => "try the oldest transport",
        Stage::List => "list",
        Stage::Close => "close",
        _ => passed.stage.as_str(),
    };
    let found = passed.found.as_ref().map(|found| format!(" ({found})")).unwrap_or_default();
    format!("{what} {} ms{found}", passed.took.as_millis())
}
