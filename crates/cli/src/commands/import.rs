//! `import`: lists the servers configured in other programs, and adds them after consent.

mod number_choice;

use std::io::{BufRead, Write};

use mcparley::config::change::{self, AddedServer, ChangeError, NewServer, WriteScope};
use mcparley::config::import::{self, ImportPaths, ImportedServer, Os, Program};
use mcparley::config::{LoadedConfig, Severity};
use mcparley::model::approval::Provenance;
use mcparley::model::config::{RawServer, SecretVisibility};
use mcparley::model::document::JsonDocument;
use mcparley::model::name::{ServerName, normalize_server};
use mcparley::model::scope::Source;
use mcparley::model::text::display_line;
use serde_json::{Value, json};

use super::CommandResult;
use super::add::warnings;
use crate::args::ImportArgs;
use crate::context::{self, Context};
use crate::error::{CommandError, UsageError};
use crate::exit;
use crate::out::{TerminalOutput, bold, dim};

pub(super) fn run(
    args: &ImportArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let mut search = search_programs(args, context)?;
    search.skip_mcparley(loaded);
    if let Some(problem) = search.problems.iter().find(|problem| problem.severity == Severity::Given) {
        return Err(CommandError::Source(problem.clone()));
    }
    let mut offers = collect_offers(&search, args, context);
    let is_asked = !args.yes && !out.json && context::is_interactive();
    if !out.json {
        search.problems.iter().for_each(|problem| out.report_problem(problem));
        show_offers(&search, &offers, is_asked, out);
    }
    let added = match (args.yes, is_asked) {
        _ if offers.is_empty() => Vec::new(),
        (true, _) => add_all(args, context, loaded, &offers, out),
        (false, true) => {
            choose_offers(&mut offers, out);
            add_all(args, context, loaded, &offers, out)
        }
        (false, false) => {
            out.hint("no server was added; use `--yes` to add them");
            Vec::new()
        }
    };
    if out.json {
        out.print_json(&import_report(&search, &offers, &added));
    }
    Ok(exit::OK)
}

fn search_programs(args: &ImportArgs, context: &Context) -> Result<import::ImportSearch, UsageError> {
    let programs: Vec<Program> = args.programs.iter().filter_map(|word| Program::parse(word)).collect();
    if let Some(from) = &args.from {
        let [program] = programs.as_slice() else {
            return Err(UsageError::ProgramMissing);
        };
        return Ok(import::read_servers(*program, &context.paths.cwd.join(from)));
    }
    let programs = if programs.is_empty() { Program::ALL.to_vec() } else { programs };
    Ok(import::find_servers(&programs, &import_places(context)))
}

fn import_places(context: &Context) -> ImportPaths<'_> {
    ImportPaths {
        home: &context.paths.home,
        config_home: &context.config_home,
        project: &context.paths.project,
        os: Os::current(),
    }
}

/// A server that can be imported, with a valid name.
struct ImportOffer<'s> {
    program: Program,
    name: String,
    scope: WriteScope,
    imported: &'s ImportedServer,
}

fn collect_offers<'s>(
    search: &'s import::ImportSearch,
    args: &ImportArgs,
    context: &Context,
) -> Vec<ImportOffer<'s>> {
    let all = search.found.iter().flat_map(|found| {
        let scope = args.scope.map_or_else(|| default_scope(found, context), Into::into);
        found.harvest.found.iter().map(move |imported| ImportOffer {
            scope,
            program: found.app,
            name: normalize_server(&ServerName::new(&imported.name)).chars().take(64).collect(),
            imported,
        })
    });
    let wanted = |offer: &ImportOffer<'_>| {
        args.only.is_empty()
            || args.only.iter().any(|name| *name == offer.name || *name == offer.imported.name)
    };
    all.filter(wanted).collect()
}

/// The default scope: user for a file of the user, local for a file of the project.
fn default_scope(found: &import::ImportedFile, context: &Context) -> WriteScope {
    let is_project_file =
        found.source.path().is_some_and(|path| import_places(context).is_project_file(path));
    if is_project_file { WriteScope::Local } else { WriteScope::User }
}

fn show_offers(
    search: &import::ImportSearch,
    offers: &[ImportOffer<'_>],
    is_numbered: bool,
    out: &mut TerminalOutput,
) {
    if offers.is_empty() {
        out.print_line("No servers of other programs found.");
    }
    for (index, offer) in offers.iter().enumerate() {
        let place = offer.imported.origin.to_string();
        let number = if is_numbered { format!("{:>2}  ", index + 1) } else { String::new() };
        out.print_line(format!("{number}{}  {}  {}", bold(&offer.name), offer.program.as_str(), dim(&place)));
        out.print_line(format!("  {}", display_line(&mask_entry(offer).to_string())));
        for note in &offer.imported.notes {
            out.print_line(format!("  {}", dim(&format!("note: {note}"))));
        }
    }
    for skipped in search.found.iter().flat_map(|found| &found.harvest.skipped) {
        out.warn(&format!("{}: skipped `{}`: {}", skipped.origin, skipped.name, skipped.reason));
    }
}

/// The entry with secrets masked.
fn mask_entry(offer: &ImportOffer<'_>) -> Value {
    let text = Value::Object(offer.imported.entry.clone()).to_string();
    let source = Source::from_label("import");
    let document = JsonDocument::parse(source, &text).ok();
    let raw = document
        .as_ref()
        .and_then(JsonDocument::root)
        .and_then(|root| RawServer::from_node(&offer.name, root).ok());
    raw.and_then(|raw| {
        let kind = raw.effective_kind(&offer.imported.origin).ok();
        serde_json::to_value(raw.to_displayed(kind, SecretVisibility::Masked)).ok()
    })
    .unwrap_or(Value::Null)
}

/// Asks which servers to add, and keeps those. Input that is no choice is asked for again.
fn choose_offers(offers: &mut Vec<ImportOffer<'_>>, out: &mut TerminalOutput) {
    let counts = WriteScope::ALL.into_iter().filter_map(|scope| {
        let count = offers.iter().filter(|offer| offer.scope == scope).count();
        (count > 0).then(|| format!("{count} to {} scope", scope.as_str()))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let chosen = loop {
        out.print_message(format!(
            "Add which servers ({counts})? Numbers such as 1,3-5, all, or none [none]"
        ));
        let mut answer = String::new();
        // Flushed, so that the question is visible before the program waits for the answer.
        let asked = std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
        if !matches!(asked, Ok(1..)) {
            break Vec::new();
        }
        match number_choice::parse_choice(&answer, offers.len()) {
            Ok(chosen) => break chosen,
            Err(word) => out.warn(&format!("`{word}` is not a number from 1 to {}", offers.len())),
        }
    };
    let mut index = 0;
    offers.retain(|_| {
        index += 1;
        chosen.contains(&(index - 1))
    });
}

/// A server that was added, or the name of one that was not added and the error.
type Addition = Result<AddedServer, (String, ChangeError)>;

fn add_all(
    args: &ImportArgs,
    context: &Context,
    loaded: &LoadedConfig,
    offers: &[ImportOffer<'_>],
    out: &mut TerminalOutput,
) -> Vec<Addition> {
    let mut results = Vec::new();
    for offer in offers {
        let new = NewServer {
            name: offer.name.clone(),
            entry: offer.imported.entry.clone(),
            scope: offer.scope,
            file: args.file.map(Into::into),
            replace: false,
            provenance: entry_provenance(offer, context),
        };
        let result = change::add_server(&context.paths, &context.run_options, loaded, &new);
        if !out.json {
            print_addition(&new, &result, out);
        }
        results.push(result.map_err(|error| (offer.name.clone(), error)));
    }
    results
}

fn print_addition(new: &NewServer, result: &Result<AddedServer, ChangeError>, out: &mut TerminalOutput) {
    match result {
        Ok(added) => {
            let file = display_line(&added.file.to_string_lossy()).into_owned();
            out.print_line(format!(
                "Added {} to {} scope: {file}",
                bold(added.name.as_str()),
                added.scope.as_str()
            ));
            warnings::print_warnings(added, out);
            if new.provenance == Provenance::Folder {
                out.hint("it comes from a file of this folder and needs approval: run `mcparley trust`");
            }
        }
        Err(error) => out.warn(&format!("cannot add `{}`: {error}", new.name)),
    }
}

/// The provenance of the entry: one from a file in the project folder was not necessarily written by the
/// user.
fn entry_provenance(offer: &ImportOffer<'_>, context: &Context) -> Provenance {
    let paths = &context.paths;
    let file = offer.imported.origin.source.path();
    let is_in_project = file.is_some_and(|file| paths.is_in_project(file));
    if is_in_project && !paths.is_home_or_root() { Provenance::Folder } else { Provenance::Own }
}

fn import_report(search: &import::ImportSearch, offers: &[ImportOffer<'_>], added: &[Addition]) -> Value {
    let found: Vec<Value> = offers
        .iter()
        .map(|offer| {
            json!({
                "name": offer.name, "program": offer.program.as_str(), "origin": offer.imported.origin,
                "scope": offer.scope,
                "entry": mask_entry(offer), "notes": offer.imported.notes,
            })
        })
        .collect();
    let skipped: Vec<Value> = search
        .found
        .iter()
        .flat_map(|found| &found.harvest.skipped)
        .map(|skipped| json!({ "name": skipped.name, "origin": skipped.origin, "reason": skipped.reason }))
        .collect();
    let failed: Vec<Value> = added
        .iter()
        .filter_map(|result| result.as_ref().err())
        .map(|(name, error)| json!({ "name": name, "reason": error.to_string() }))
        .collect();
    let written: Vec<&AddedServer> = added.iter().filter_map(|result| result.as_ref().ok()).collect();
    let names: Vec<_> = written.iter().map(|added| &added.name).collect();
    let warnings: Vec<String> = written
        .iter()
        .flat_map(|added| warnings::addition_warnings(added))
        .map(|warning| warning.text)
        .collect();
    let mut files: Vec<_> = written.iter().map(|added| added.file.to_string_lossy()).collect();
    files.dedup();
    json!({
        "found": found, "skipped": skipped, "added": names, "files": files, "failed": failed,
        "warnings": warnings, "problems": search.problems,
    })
}
