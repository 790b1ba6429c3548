//! `import`: shows what other programs have configured, and adds it when told to.

use std::io::{BufRead, Write};

use mcparley::change::{self, Added, ChangeError, NewServer, WriteScope};
use mcparley::import::{self, Imported, Os, Program};
use mcparley::model::approval::Provenance;
use mcparley::model::config::{RawServer, Reveal};
use mcparley::model::document::Document;
use mcparley::model::import::ImportPlaces;
use mcparley::model::name::{ServerName, normalise_server};
use mcparley::model::scope::Source;
use mcparley::model::text::display;
use mcparley::{Loaded, Severity};
use serde_json::{Value, json};

use super::Done;
use super::add::warnings;
use crate::args::ImportArgs;
use crate::context::{self, Context};
use crate::error::CommandError;
use crate::exit;
use crate::out::{Out, bold, dim};

pub(super) fn run(args: &ImportArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let mut search = search(args, context)?;
    search.leave_out_itself(loaded);
    if let Some(problem) = search.problems.iter().find(|problem| problem.severity == Severity::Given) {
        return Err(CommandError::Source(problem.clone()));
    }
    let offers = offers(&search, args, context);
    if !out.json {
        search.problems.iter().for_each(|problem| out.problem(problem));
        show(&search, &offers, out);
    }
    let added = if offers.is_empty() || !agreed(args, &offers, out) {
        Vec::new()
    } else {
        add_all(args, context, loaded, &offers, out)
    };
    if out.json {
        out.value(&report(&search, &offers, &added));
    }
    Ok(exit::OK)
}

fn search(args: &ImportArgs, context: &Context) -> Result<import::Search, CommandError> {
    let programs: Vec<Program> = args.programs.iter().filter_map(|word| Program::parse(word)).collect();
    if let Some(from) = &args.from {
        let [program] = programs.as_slice() else {
            return Err(CommandError::usage(
                "`--from` needs exactly one program",
                "for example `mcparley import cursor --from mcp.json`",
            ));
        };
        return Ok(import::read(*program, &context.paths.cwd.join(from)));
    }
    let programs = if programs.is_empty() { Program::ALL.to_vec() } else { programs };
    Ok(import::find(&programs, &import_places(context)))
}

fn import_places(context: &Context) -> ImportPlaces<'_> {
    ImportPlaces {
        home: &context.paths.home,
        config_home: &context.config_home,
        project: &context.paths.project,
        os: Os::current(),
    }
}

/// A server that can be added, under a name that can be used here.
struct Offer<'s> {
    program: Program,
    name: String,
    scope: WriteScope,
    imported: &'s Imported,
}

fn offers<'s>(search: &'s import::Search, args: &ImportArgs, context: &Context) -> Vec<Offer<'s>> {
    let all = search.found.iter().flat_map(|found| {
        let scope = args.scope.map_or_else(|| default_scope(found, context), Into::into);
        found.harvest.found.iter().map(move |imported| Offer {
            scope,
            program: found.app,
            name: normalise_server(&ServerName::new(&imported.name)).chars().take(64).collect(),
            imported,
        })
    });
    let wanted = |offer: &Offer<'_>| {
        args.only.is_empty()
            || args.only.iter().any(|name| *name == offer.name || *name == offer.imported.name)
    };
    all.filter(wanted).collect()
}

/// A user-wide file is the user's everywhere; a file of the project holds for this project.
fn default_scope(found: &import::Found, context: &Context) -> WriteScope {
    let is_project_file =
        found.source.path().is_some_and(|path| import_places(context).is_project_file(path));
    if is_project_file { WriteScope::Local } else { WriteScope::User }
}

fn show(search: &import::Search, offers: &[Offer<'_>], out: &mut Out) {
    if offers.is_empty() {
        out.line("No servers of other programs were found.");
    }
    for offer in offers {
        let place = offer.imported.origin.to_string();
        out.line(format!("{}  {}  {}", bold(&offer.name), offer.program.as_str(), dim(&place)));
        out.line(format!("  {}", display(&masked(offer).to_string())));
        for note in &offer.imported.notes {
            out.line(format!("  {}", dim(&format!("note: {note}"))));
        }
    }
    for skipped in search.found.iter().flat_map(|found| &found.harvest.skipped) {
        out.warn(&format!("{}: `{}` is left out: {}", skipped.origin, skipped.name, skipped.reason));
    }
}

/// The entry as people may see it.
fn masked(offer: &Offer<'_>) -> Value {
    let text = Value::Object(offer.imported.entry.clone()).to_string();
    let source = Source::inline("import");
    let document = Document::parse(source, &text).ok();
    let raw =
        document.as_ref().and_then(Document::root).and_then(|root| RawServer::read(&offer.name, root).ok());
    raw.and_then(|raw| {
        let kind = raw.effective_kind(&offer.imported.origin).ok();
        serde_json::to_value(raw.shown(kind, Reveal::Masked)).ok()
    })
    .unwrap_or(Value::Null)
}

fn agreed(args: &ImportArgs, offers: &[Offer<'_>], out: &mut Out) -> bool {
    if args.yes {
        return true;
    }
    if out.json || !context::is_interactive() {
        out.hint("nothing was added; `--yes` adds them");
        return false;
    }
    let counts = WriteScope::ALL.into_iter().filter_map(|scope| {
        let count = offers.iter().filter(|offer| offer.scope == scope).count();
        (count > 0).then(|| format!("{count} server(s) to {} scope", scope.as_str()))
    });
    out.say(format!("Add {}? [y/N]", counts.collect::<Vec<_>>().join(" and ")));
    let mut answer = String::new();
    // The question must be on the screen before the wait for its answer.
    let asked = std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    asked.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// A server that was added, or the name of one that was not and why.
type Addition = Result<Added, (String, ChangeError)>;

fn add_all(
    args: &ImportArgs,
    context: &Context,
    loaded: &Loaded,
    offers: &[Offer<'_>],
    out: &mut Out,
) -> Vec<Addition> {
    let mut results = Vec::new();
    for offer in offers {
        let new = NewServer {
            name: offer.name.clone(),
            entry: offer.imported.entry.clone(),
            scope: offer.scope,
            file: args.file.map(Into::into),
            replace: false,
            provenance: provenance(offer, context),
        };
        let result = change::add(&context.paths, &context.run_options, loaded, &new);
        if !out.json {
            tell_addition(&new, &result, out);
        }
        results.push(result.map_err(|error| (offer.name.clone(), error)));
    }
    results
}

fn tell_addition(new: &NewServer, result: &Result<Added, ChangeError>, out: &mut Out) {
    match result {
        Ok(added) => {
            let file = display(&added.file.to_string_lossy()).into_owned();
            out.line(format!(
                "Added {} to {} scope: {file}",
                bold(added.name.as_str()),
                added.scope.as_str()
            ));
            warnings::tell(added, out);
            if new.provenance == Provenance::Folder {
                out.hint("it came with this folder and waits for approval: `mcparley trust`");
            }
        }
        Err(error) => out.warn(&format!("`{}` was not added: {error}", new.name)),
    }
}

/// Who wrote the entry: a file of the project folder is somebody else's word, whichever program it is for.
fn provenance(offer: &Offer<'_>, context: &Context) -> Provenance {
    let paths = &context.paths;
    let file = offer.imported.origin.source.path();
    let is_in_project = file.is_some_and(|file| paths.is_in_project(file));
    if is_in_project && !paths.is_home_or_root() { Provenance::Folder } else { Provenance::Own }
}

fn report(search: &import::Search, offers: &[Offer<'_>], added: &[Addition]) -> Value {
    let found: Vec<Value> = offers
        .iter()
        .map(|offer| {
            json!({
                "name": offer.name, "program": offer.program.as_str(), "origin": offer.imported.origin,
                "scope": offer.scope,
                "entry": masked(offer), "notes": offer.imported.notes,
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
    let written: Vec<&Added> = added.iter().filter_map(|result| result.as_ref().ok()).collect();
    let names: Vec<_> = written.iter().map(|added| &added.name).collect();
    let warnings: Vec<String> =
        written.iter().flat_map(|added| warnings::of(added)).map(|warning| warning.text).collect();
    let mut files: Vec<_> = written.iter().map(|added| added.file.to_string_lossy()).collect();
    files.dedup();
    json!({
        "found": found, "skipped": skipped, "added": names, "files": files, "failed": failed,
        "warnings": warnings, "problems": search.problems,
    })
}
