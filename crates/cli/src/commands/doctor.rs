//! `doctor`: diagnoses servers that do not work, and prints each result as soon as it is known.

use std::collections::BTreeSet;

use mcparley::config::LoadedConfig;
use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::model::text::display_line;
use mcparley::pool::connect::{ConnectStage, StageTiming};

use mcparley_diagnosis::{Doctor, DoctorFinding, HealthVerdict, ServerExamination};

use super::{CommandResult, base_exit_code, print_problems};
use crate::args::DoctorArgs;
use crate::context::Context;
use crate::error::{CommandError, plan_status_code};
use crate::exit::{self, NamedExitCode};
use crate::out::{TerminalOutput, bold, color_verdict, color_weight, dim};
use crate::runtime;
use mcparley_report::DoctorReport;

/// The maximum number of stderr lines in the text output.
const STDERR_LINES: usize = 8;

pub(super) fn run(
    args: &DoctorArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let servers = select_servers(args, loaded, out)?;
    let mut connect_context = context.connect_context(loaded);
    // The servers of the daemon are running already; a diagnosis starts its own.
    connect_context.dialer.daemon = None;
    let doctor = Doctor::new(connect_context.clone());
    let findings = doctor.findings(loaded, &servers);
    if !out.json {
        findings.iter().for_each(|finding| print_finding(finding, out));
    }
    let mut left = servers.iter().filter(|server| server.status == PlanStatus::Ready).count();
    let mut examined: Vec<ServerExamination> = Vec::new();
    show_remaining(left, out);
    let examining = doctor.examine_servers(&servers, |server| {
        if server.standing == PlanStatus::Ready {
            left = left.saturating_sub(1);
        }
        show_remaining(left, out);
        if !out.json {
            print_server(&server, out);
        }
        examined.push(server);
    });
    let cautions = runtime::run_with_accounts(&connect_context, examining)?;
    out.stop_waiting();
    if !out.json {
        cautions.iter().for_each(|caution| out.print_line(format!("caution: {caution}")));
    }
    let code = doctor_exit_code(args, loaded, &findings, &examined);
    let report = DoctorReport::from_examinations(&findings, examined, &cautions);
    match out.json {
        true => out.print_json(&report),
        false => out.print_line(report.summary_line()),
    }
    Ok(code)
}

/// The entries to examine, in the order of the plan, highest precedence first.
fn select_servers<'l>(
    args: &DoctorArgs,
    loaded: &'l LoadedConfig,
    out: &mut TerminalOutput,
) -> Result<Vec<&'l PlannedServer>, CommandError> {
    if args.servers.is_empty() {
        return Ok(loaded.plan.servers.iter().rev().collect());
    }
    let mut servers = Vec::new();
    let names: BTreeSet<&String> = args.servers.iter().collect();
    for name in names {
        let named = loaded.plan.servers_by_name(name);
        if named.is_empty() {
            // The server may be in a file that could not be read.
            print_problems(loaded, out);
            return Err(CommandError::NotFound {
                name: name.clone(),
                similar: loaded.similar_server_names(name),
            });
        }
        servers.extend(named);
    }
    Ok(servers)
}

/// The exit code: the most serious problem that was found.
fn doctor_exit_code(
    args: &DoctorArgs,
    loaded: &LoadedConfig,
    findings: &[DoctorFinding],
    examined: &[ServerExamination],
) -> NamedExitCode {
    let is_broken = |server: &&ServerExamination| server.is == HealthVerdict::Broken;
    if loaded.managed_problem.is_some() {
        return base_exit_code(loaded);
    }
    if examined.iter().filter(is_broken).any(|server| server.standing == PlanStatus::Ready) {
        return exit::UNREACHABLE;
    }
    if examined.iter().any(|server| is_broken(&server))
        || findings.iter().any(|finding| finding.id == "configuration")
    {
        return exit::CONFIG;
    }
    args.servers.iter().find_map(|name| refusal_code(name, examined)).unwrap_or(exit::OK)
}

/// The exit code for a server that was named on the command line and may not run.
fn refusal_code(name: &str, examined: &[ServerExamination]) -> Option<NamedExitCode> {
    let mut named = examined.iter().filter(|server| server.name.as_str() == name);
    let first = named.next()?;
    let runs = |server: &ServerExamination| server.standing == PlanStatus::Ready;
    (!runs(first) && !named.any(runs)).then(|| plan_status_code(&first.standing))
}

fn show_remaining(left: usize, out: &mut TerminalOutput) {
    match left {
        0 => out.stop_waiting(),
        left => out.show_waiting(&format!("waiting for {left} server(s) …")),
    }
}

fn print_finding(finding: &DoctorFinding, out: &mut TerminalOutput) {
    out.print_line(format!("{} {}", color_weight(finding.weight), display_line(&finding.message)));
    if let Some(hint) = &finding.hint {
        out.print_line(format!("  do: {}", display_line(hint)));
    }
}

fn print_server(server: &ServerExamination, out: &mut TerminalOutput) {
    out.print_line(format!(
        "{}: {}",
        bold(server.name.as_str()),
        color_verdict(server.is, &verdict_summary(server))
    ));
    if let Some(diagnosis) = &server.diagnosis {
        out.print_line(format!(
            "  cause: {} {}",
            display_line(&diagnosis.cause),
            dim(&format!("[{}]", diagnosis.id))
        ));
        for hint in &diagnosis.hints {
            out.print_line(format!("  do: {}", display_line(hint)));
        }
    }
    for note in &server.notes {
        out.print_line(format!("  note: {}", display_line(note)));
    }
    for caution in &server.cautions {
        out.print_line(format!("  caution: {caution}"));
    }
    print_failure(server, out);
    if !server.phases.is_empty() && (server.trouble.is_some() || out.verbose > 0) {
        let phases: Vec<String> = server.phases.iter().map(phase_text).collect();
        out.print_line(format!("  {}", dim(&format!("steps: {}", phases.join(", ")))));
    }
    if server.is != HealthVerdict::Works {
        out.print_line(format!("  {}", dim(&format!("declared in {}", server.origin))));
    }
}

fn print_failure(server: &ServerExamination, out: &mut TerminalOutput) {
    let Some(trouble) = &server.trouble else { return };
    out.print_line(format!("  {}", dim(&format!("error: {}", trouble.error))));
    if let Some(stray) = &server.stray {
        let first = stray.first.display_line();
        out.print_line(format!(
            "  {}",
            dim(&format!("{} line(s) on stdout are not MCP: {first}", stray.lines))
        ));
    }
    // Stack frames would displace the reason, which precedes them. `--json` includes them.
    let said: Vec<&String> =
        trouble.stderr.iter().filter(|line| !line.trim_start().starts_with("at ")).collect();
    for line in said.iter().skip(said.len().saturating_sub(STDERR_LINES)) {
        out.print_line(format!("  {}", dim(&format!("stderr: {line}"))));
    }
}

fn verdict_summary(server: &ServerExamination) -> String {
    let took = server.took.as_millis();
    match (&server.offers, server.is) {
        (Some(offers), _) => format!(
            "works ({} tools, {} prompts, {} resources, {}, {took} ms)",
            offers.tools, offers.prompts, offers.resources, offers.protocol
        ),
        (None, HealthVerdict::Resting) => server.standing.as_str().to_owned(),
        (None, HealthVerdict::Broken | HealthVerdict::Works | HealthVerdict::Flawed) => {
            "does not work".to_owned()
        }
    }
}

fn phase_text(passed: &StageTiming) -> String {
    let what = match passed.stage {
        ConnectStage::Find => "find program",
        ConnectStage::Resolve => "resolve name",
        ConnectStage::Reach => "connect",
        ConnectStage::Open => "start",
        ConnectStage::Probe => "handshake (2026-07-28)",
        ConnectStage::Greet => "handshake (initialize)",
        ConnectStage::Reopen => "restart",
        ConnectStage::Legacy => "fall back to SSE",
        ConnectStage::List => "list",
        ConnectStage::Close => "close",
    };
    let found = passed.detail.as_ref().map(|found| format!(" ({found})")).unwrap_or_default();
    format!("{what} {} ms{found}", passed.duration.as_millis())
}
