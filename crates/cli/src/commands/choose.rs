//! `approve`, `reject`, `enable`, `disable` and `reset-project-choices`.

use mcparley::Loaded;
use mcparley::change::{self, Switched, SwitchedTools};
use mcparley::model::plan::{Planned, ServerStanding};
use mcparley::model::text::display;
use serde_json::{Value, json};

use super::{Done, agents, trust};
use crate::args::{ApproveArgs, DisableArgs, EnableArgs, RejectArgs};
use crate::context::{self, Context};
use crate::exit;
use crate::out::{Out, bold};
use crate::report::effective;

pub(super) fn approve(args: &ApproveArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let loaded = &agents::chosen(&args.seen_by, &args.names, context, loaded)?;
    let waiting = |server: &&Planned| is_waiting(server);
    let names: Vec<String> = if args.all {
        loaded.plan.servers.iter().filter(waiting).map(|server| server.name.as_str().to_owned()).collect()
    } else {
        args.names.clone()
    };
    // Whoever names the definition has looked at it.
    let is_shown = args.definition.is_none() && show(&names, loaded, out);
    if is_shown && !args.yes && !is_agreed(args, out) {
        return Ok(exit::DENIED);
    }
    let mut reports = Vec::new();
    for name in &names {
        let chosen = change::approve(&context.paths, loaded, name, args.definition.as_deref())?;
        let definition = chosen.definition.map(|definition| definition.to_string());
        reports.push(json!({
            "approved": chosen.name, "definition": definition, "file": chosen.file.to_string_lossy(),
            "stillRejectedBy": chosen.still_rejected,
        }));
        if !out.json {
            out.line(format!("Approved {} as it is defined now", bold(name)));
            out.line(format!("File: {}", display(&chosen.file.to_string_lossy())));
            if let Some(by) = &chosen.still_rejected {
                out.warn(&format!("it is still rejected in {by}, and a rejection wins"));
            }
        }
    }
    finish("choices", &reports, "Nothing waits for approval.", out)
}

/// Asks at a terminal. Without one, naming a server is consent enough.
fn is_agreed(args: &ApproveArgs, out: &mut Out) -> bool {
    let is_asked = !out.json && context::is_interactive();
    let is_agreed = if is_asked { trust::ask("Approve? [y/N]", out) } else { !args.all };
    match (is_agreed, is_asked) {
        (true, _) => {}
        (false, true) => out.line("Nothing was approved."),
        (false, false) => {
            out.hint("nothing was approved; `mcparley approve --all --yes` approves all of them");
        }
    }
    is_agreed
}

/// Shows the servers that wait, whole; tells whether there is any.
fn show(names: &[String], loaded: &Loaded, out: &mut Out) -> bool {
    let mut is_any = false;
    for name in names {
        let servers = loaded.plan.named(name);
        let Some(server) = servers.iter().find(|server| is_waiting(server)) else { continue };
        if !out.json {
            trust::show_server(server, loaded.agent.as_deref(), loaded, out);
        }
        is_any = true;
    }
    is_any
}

fn is_waiting(server: &Planned) -> bool {
    matches!(server.standing, ServerStanding::NeedsApproval(_))
}

pub(super) fn reject(args: &RejectArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let loaded = &agents::chosen(&args.seen_by, &args.names, context, loaded)?;
    let mut reports = Vec::new();
    for name in &args.names {
        let chosen = change::reject(&context.paths, loaded, name, args.scope.into())?;
        reports.push(json!({ "rejected": chosen.name, "file": chosen.file.to_string_lossy() }));
        if !out.json {
            out.line(format!("Rejected {}", bold(name)));
            out.line(format!("File: {}", display(&chosen.file.to_string_lossy())));
        }
    }
    finish("choices", &reports, "", out)
}

pub(super) fn enable(args: &EnableArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    if !args.tools.is_empty() {
        let switched = change::enable_tools(&context.paths, loaded, &args.name, &args.tools)?;
        return tell_tools(&switched, true, out);
    }
    let mut reports = Vec::new();
    for name in named(&args.name, loaded) {
        let switched = change::enable(&context.paths, loaded, &name)?;
        tell(&switched, "on", out);
        reports.push(report(&switched, true));
    }
    finish("servers", &reports, "No servers are configured.", out)
}

pub(super) fn disable(args: &DisableArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    if !args.tools.is_empty() {
        let switched = change::disable_tools(&context.paths, loaded, &args.name, &args.tools)?;
        return tell_tools(&switched, false, out);
    }
    let mut reports = Vec::new();
    for name in named(&args.name, loaded) {
        let switched = change::disable(&context.paths, loaded, &name, args.scope.into())?;
        tell(&switched, "off", out);
        reports.push(report(&switched, false));
    }
    finish("servers", &reports, "No servers are configured.", out)
}

fn tell_tools(switched: &SwitchedTools, enabled: bool, out: &mut Out) -> Done {
    let SwitchedTools { server, tools, file, is_old, still_disabled } = switched;
    if out.json {
        out.value(&json!({
            "name": server, "tools": tools, "enabled": enabled && still_disabled.is_none(),
            "file": file.to_string_lossy(), "existed": is_old, "stillDisabledBy": still_disabled,
        }));
        return Ok(exit::OK);
    }
    let (way, tools) = (if enabled { "on" } else { "off" }, display(&tools.join(", ")).into_owned());
    match is_old {
        true => out.line(format!("{} of {server} was already switched {way}", bold(&tools))),
        false => {
            out.line(format!("Switched {} of {server} {way}", bold(&tools)));
            out.line(format!("File: {}", display(&file.to_string_lossy())));
        }
    }
    if let Some(glob) = still_disabled {
        out.warn(&format!("`{}` in `disabledTools` still switches it off", display(glob)));
    }
    Ok(exit::OK)
}

pub(super) fn reset(context: &Context, out: &mut Out) -> Done {
    let files = change::reset_project_choices(&context.paths)?;
    let files: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    if out.json {
        out.value(&json!({ "reset": files }));
        return Ok(exit::OK);
    }
    if files.is_empty() {
        out.line("There were no choices for this project.");
    }
    for file in files {
        out.line(format!("Forgot the choices in {}", display(&file)));
    }
    Ok(exit::OK)
}

/// The name given, or every name there is; a server really called `all` comes first.
fn named(name: &str, loaded: &Loaded) -> Vec<String> {
    if name == "all" && loaded.plan.named(name).is_empty() {
        return effective(&loaded.plan).into_iter().map(|server| server.name.as_str().to_owned()).collect();
    }
    vec![name.to_owned()]
}

fn tell(switched: &Switched, way: &str, out: &mut Out) {
    if out.json {
        return;
    }
    match switched.files.as_slice() {
        [] => out.line(format!("{} was already switched {way}", bold(&switched.name))),
        files => {
            out.line(format!("Switched {} {way}", bold(&switched.name)));
            for file in files {
                out.line(format!("File: {}", display(&file.to_string_lossy())));
            }
        }
    }
    if let Some(by) = &switched.still_disabled {
        out.warn(&format!("it is still switched off in {by}"));
    }
}

fn report(switched: &Switched, enabled: bool) -> Value {
    let files: Vec<_> = switched.files.iter().map(|file| file.to_string_lossy()).collect();
    json!({
        "name": switched.name,
        "enabled": enabled && switched.still_disabled.is_none(),
        "files": files,
        "stillDisabledBy": switched.still_disabled,
    })
}

fn finish(key: &str, reports: &[Value], nothing: &str, out: &mut Out) -> Done {
    if out.json {
        out.value(&json!({ key: reports }));
    } else if reports.is_empty() {
        out.line(nothing);
    }
    Ok(exit::OK)
}
