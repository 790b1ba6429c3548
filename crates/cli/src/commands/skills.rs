//! `skills`: the skills that servers offer; one of them, or one of its files.

use mcparley::model::name::ServerName;
use mcparley::model::text::{beginning, display};
use mcparley::{Block, Body, Host, Loaded, Remembered, Server, Skill, SkillError, Start};
use serde::Serialize;

use super::listing::{self, Wanted};
use super::usable::{self, Lacking};
use super::{Done, code_of, tell_problems};
use crate::args::SkillsArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::{Out, bold};

/// How much of a description stands on one line.
const LINE_CHARS: usize = 100;

/// What `skills` shows.
#[derive(Serialize)]
struct Report {
    skills: Vec<Skill>,
    /// What became of the servers that offer nothing, or not all.
    servers: Vec<Lacking>,
}

pub(super) fn run(args: &SkillsArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    if let (Some(server), Some(skill)) = (&args.server, &args.skill) {
        return read(&ServerName::new(server), skill, args.file.as_deref(), (context, loaded), out);
    }
    let wanted = Wanted { server: args.server.as_deref(), refresh: args.refresh };
    listing::run(&wanted, context, loaded, out, |known, out| {
        let skills = known.either(Remembered::skills, Host::skills);
        show(&wanted, skills, known.servers(), loaded, out)
    })
}

fn show(wanted: &Wanted<'_>, skills: Vec<Skill>, servers: &[Server], loaded: &Loaded, out: &mut Out) -> Done {
    let only = wanted.usable(loaded, servers, out)?;
    let is_wanted = |skill: &Skill| only.as_ref().is_none_or(|only| skill.server == *only);
    let report = Report {
        skills: skills.into_iter().filter(is_wanted).collect(),
        servers: usable::lacking(loaded, servers, only.as_ref()),
    };
    if out.json {
        out.value(&report);
        return Ok(code_of(loaded));
    }
    tell_problems(loaded, out);
    if report.skills.is_empty() {
        out.say("There are no skills.");
    }
    for Skill { server, name, description, .. } in &report.skills {
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let about = match beginning(&description, LINE_CHARS) {
            Some(beginning) => format!("{}…", display(beginning)),
            None => display(&description).into_owned(),
        };
        out.line(format!("{}  {}  {about}", display(server.as_str()), bold(name)));
    }
    report.servers.iter().for_each(|lacking| lacking.tell(out));
    Ok(code_of(loaded))
}

/// Prints the `SKILL.md` of a skill, or another of its files.
fn read(
    server: &ServerName,
    word: &str,
    file: Option<&str>,
    (context, loaded): (&Context, &Loaded),
    out: &mut Out,
) -> Done {
    let start = Start::Only(vec![server.clone()]);
    live::with_host(context.host(loaded.clone()).start_with(start), async |host| {
        usable::named(loaded, &host.servers(), server.as_str(), out)?;
        let servers = usable::settled(host, out).await;
        usable::usable(&servers, server, out)?;
        let skill = host.skill(server, &address(host, server, word)?).await?;
        match file {
            None if out.json => out.value(&skill),
            None => out.foreign(&skill.text),
            Some(file) => {
                let read = host.skill_file(&skill.skill, file).await?;
                if out.json {
                    out.value(&read);
                } else {
                    read.content.iter().for_each(|block| print(block, out));
                }
            }
        }
        Ok(exit::OK)
    })
}

/// The address of the skill that is meant: by its address, or by its name where only one has it.
fn address(host: &Host, server: &ServerName, word: &str) -> Result<String, CommandError> {
    let skills = host.skills();
    let own = || skills.iter().filter(|skill| skill.server == *server);
    let named: Vec<&Skill> = own().filter(|skill| skill.name == word).collect();
    match named.as_slice() {
        _ if word.contains("://") => Ok(word.to_owned()),
        [skill] => Ok(skill.uri.clone()),
        [] => Err(SkillError::Unknown { server: server.clone(), uri: word.to_owned() }.into()),
        several => {
            let addresses: Vec<&str> = several.iter().map(|skill| skill.uri.as_str()).collect();
            let hint = format!("name it by its address: {}", addresses.join(", "));
            Err(CommandError::usage(format!("several skills are called `{word}`"), hint))
        }
    }
}

fn print(block: &Block, out: &mut Out) {
    match block {
        Block::Text(text) | Block::Resource { body: Body::Text(text), .. } => out.foreign(text),
        _ => out.remark("no text; `mcparley read` writes it to a file"),
    }
}
