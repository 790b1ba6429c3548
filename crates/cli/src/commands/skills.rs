//! `skills`: lists the skills of servers, or prints one skill or one of its files.

use mcparley::catalog::Skill;
use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::host::HostServer;
use mcparley::model::name::ServerName;
use mcparley::model::text::{display_line, truncated_prefix};
use mcparley::results::ResourceBody;
use mcparley::skill::SkillError;
use mcparley::{ContentBlock, Host};
use serde::Serialize;

use super::listing::{self, ListingRequest};
use super::usable::{self, IncompleteServer};
use super::{CommandResult, base_exit_code, print_problems};
use crate::args::SkillsArgs;
use crate::context::Context;
use crate::error::{CommandError, UsageError};
use crate::exit;
use crate::out::{TerminalOutput, bold};
use crate::runtime;

/// The maximum length of a description on one line.
const LINE_CHARS: usize = 100;

/// The report of `skills`.
#[derive(Serialize)]
struct SkillsReport {
    skills: Vec<Skill>,
    /// The servers with missing or incomplete lists, with the reason.
    servers: Vec<IncompleteServer>,
}

pub(super) fn run(
    args: &SkillsArgs,
    context: &Context,
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    if let (Some(server), Some(skill)) = (&args.server, &args.skill) {
        return print_skill(&ServerName::new(server), skill, args.file.as_deref(), (context, loaded), out);
    }
    let wanted = ListingRequest { server: args.server.as_deref(), refresh: args.refresh };
    listing::run_listing(&wanted, context, loaded, out, |host, servers, out| {
        show_skills(&wanted, host.skills(), servers, loaded, out)
    })
}

fn show_skills(
    wanted: &ListingRequest<'_>,
    skills: Vec<Skill>,
    servers: &[HostServer],
    loaded: &LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let only = wanted.require_usable_server(loaded, servers, out)?;
    let is_wanted = |skill: &Skill| only.as_ref().is_none_or(|only| skill.server == *only);
    let report = SkillsReport {
        skills: skills.into_iter().filter(is_wanted).collect(),
        servers: usable::find_incomplete_servers(loaded, servers, only.as_ref()),
    };
    if out.json {
        out.print_json(&report);
        return Ok(base_exit_code(loaded));
    }
    print_problems(loaded, out);
    if report.skills.is_empty() {
        out.print_message("No skills found.");
    }
    for Skill { server, name, description, .. } in &report.skills {
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        let about = match truncated_prefix(&description, LINE_CHARS) {
            Some(beginning) => format!("{}…", display_line(beginning)),
            None => display_line(&description).into_owned(),
        };
        out.print_line(format!("{}  {}  {about}", display_line(server.as_str()), bold(name)));
    }
    report.servers.iter().for_each(|lacking| lacking.print_warnings(out));
    Ok(base_exit_code(loaded))
}

/// Prints the `SKILL.md` of a skill, or another of its files.
fn print_skill(
    server: &ServerName,
    word: &str,
    file: Option<&str>,
    (context, loaded): (&Context, &LoadedConfig),
    out: &mut TerminalOutput,
) -> CommandResult {
    let start = StartPolicy::Only(vec![server.clone()]);
    runtime::run_with_host(
        context.host_for_model(loaded.clone(), out.dialogs()).start_with(start),
        async |host| {
            usable::find_server(loaded, &host.servers(), server.as_str(), out)?;
            let servers = usable::wait_until_settled(host, out).await;
            usable::require_usable(&servers, server, out)?;
            let skill = host.load_skill(server, &skill_uri(host, server, word)?).await?;
            match file {
                None if out.json => out.print_json(&skill),
                None => out.print_untrusted(&skill.text),
                Some(file) => {
                    let read = host.read_skill_file(&skill.skill, file).await?;
                    if out.json {
                        out.print_json(&read);
                    } else {
                        read.content.iter().for_each(|block| print_block(block, out));
                    }
                }
            }
            Ok(exit::OK)
        },
    )
}

/// The URI of a skill, given by its URI, or by its name if the name is unique.
fn skill_uri(host: &Host, server: &ServerName, word: &str) -> Result<String, CommandError> {
    let skills = host.skills();
    let own = || skills.iter().filter(|skill| skill.server == *server);
    let named: Vec<&Skill> = own().filter(|skill| skill.name == word).collect();
    match named.as_slice() {
        _ if word.contains("://") => Ok(word.to_owned()),
        [skill] => Ok(skill.uri.clone()),
        [] => Err(SkillError::Unknown { server: server.clone(), uri: word.to_owned() }.into()),
        several => {
            let addresses = several.iter().map(|skill| skill.uri.clone()).collect();
            Err(UsageError::AmbiguousSkill { name: word.to_owned(), addresses }.into())
        }
    }
}

fn print_block(block: &ContentBlock, out: &mut TerminalOutput) {
    match block {
        ContentBlock::Text(text) | ContentBlock::Resource { body: ResourceBody::Text(text), .. } => {
            out.print_untrusted(text)
        }
        _ => out.print_remark("binary content; use `mcparley read` to write it to a file"),
    }
}
