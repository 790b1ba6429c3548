//! `import`: shows what other programs have configured, and adds it when told to.

use std::io::{BufRead, Write};

use mcparley::change::{self, ChangeError, FileChoice, NewServer};
use mcparley::import::{self, Imported, Os, Program};
use mcparley::model::config::{RawServer, Reveal};
use mcparley::model::document::Document;
use mcparley::model::import::ImportPlaces;
use mcparley::model::name::{ServerName, normalise_server};
use mcparley::model::scope::Source;
use mcparley::model::text::display;
use mcparley::{Loaded, Severity};
use serde_json::{Value, json};

use super::Done;
use crate::args::ImportArgs;
use crate::context::{self, Context};
use crate::error::CommandError;
use crate::exit;
use crate::out::{Out, bold, dim};

pub(super) fn run(args: &ImportArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let search = search(args, context)?;
    if let Some(problem) = search.problems.iter().find(|problem| problem.severity == Severity::Given) {
        return Err(CommandError::Source(problem.clone()));
    }
    let offers = offers(&search, args);
    if !out.json {
        search.problems.iter().for_each(|problem| out.problem(problem));
        show(&search, &offers, out);
    }
    let added = if offers.is_empty() || !agreed(args, offers.len(), out) {
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
        return Ok(import::read(*program, &context.places.cwd.join(from)));
    }
    let places = ImportPlaces {
        home: &context.places.home,
        config_home: &context.config_home,
        project: &context.places.project,
        os: Os::current(),
    };
    let programs = if programs.is_empty() { Program::ALL.to_vec() } else { programs };
    Ok(import::find(&programs, &places))
}

/// A server that can be added, under a name that can be used here.
struct Offer<'s> {
    program: Program,
    name: String,
    imported: &'s Imported,
}

fn offers<'s>(search: &'s import::Search, args: &ImportArgs) -> Vec<Offer<'s>> {
    let all = search.found.iter().flat_map(|found| {
        found.harvest.found.iter().map(|imported| Offer {
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

fn agreed(args: &ImportArgs, count: usize, out: &mut Out) -> bool {
    if args.yes {
        return true;
    }
    if out.json || !context::is_interactive() {
        out.hint("nothing was added; `--yes` adds them");
        return false;
    }
    let scope: change::WriteScope = args.scope.into();
    out.say(format!("Add {count} server(s) to {} scope? [y/N]", scope.as_str()));
    let mut answer = String::new();
    // The question must be on the screen before the wait for its answer.
    let asked = std::io::stderr().flush().and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    asked.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn add_all(
    args: &ImportArgs,
    context: &Context,
    loaded: &Loaded,
    offers: &[Offer<'_>],
    out: &mut Out,
) -> Vec<Result<String, (String, ChangeError)>> {
    let mut results = Vec::new();
    for offer in offers {
        let new = NewServer {
            name: offer.name.clone(),
            entry: offer.imported.entry.clone(),
            scope: args.scope.into(),
            file: FileChoice::Settings,
        };
        let result = change::add(&context.places, &context.wishes, loaded, &new);
        if !out.json {
            match &result {
                Ok(added) => out.line(format!("Added {}", bold(added.name.as_str()))),
                Err(error) => out.warn(&format!("`{}` was not added: {error}", offer.name)),
            }
        }
        results.push(result.map(|_| offer.name.clone()).map_err(|error| (offer.name.clone(), error)));
    }
    results
}

fn report(
    search: &import::Search,
    offers: &[Offer<'_>],
    added: &[Result<String, (String, ChangeError)>],
) -> Value {
    let found: Vec<Value> = offers
        .iter()
        .map(|offer| {
            json!({
                "name": offer.name, "program": offer.program.as_str(), "origin": offer.imported.origin,
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
    let names: Vec<&String> = added.iter().filter_map(|result| result.as_ref().ok()).collect();
    json!({ "found": found, "skipped": skipped, "added": names, "failed": failed, "problems": search.problems })
}
