//! `permissions test`: what would be decided about a call, and by which rule.

use mcparley::Loaded;
use mcparley::model::name::{ServerName, ToolName};
use mcparley::model::permission::{
    Decision, KnownServers, Mode, Rule, RuleKind, RuleScope, RuleSet, Subject, decide,
};
use mcparley::model::scope::{Origin, Source};
use mcparley::model::text::display;
use serde_json::{Value, json};

use super::{Done, tell_problems};
use crate::args::{PermissionsCommand, PermissionsTestArgs};
use crate::error::CommandError;
use crate::exit;
use crate::out::{Out, bold};

pub(super) fn run(command: &PermissionsCommand, loaded: &Loaded, out: &mut Out) -> Done {
    match command {
        PermissionsCommand::Test(args) => test(args, loaded, out),
    }
}

fn test(args: &PermissionsTestArgs, loaded: &Loaded, out: &mut Out) -> Done {
    let known = KnownServers::new(loaded.plan.servers.iter().map(|server| server.name.clone()));
    let (server, tool) = pair(args, &known)?;
    let arguments = args.arguments.as_deref().map(parse).transpose()?;
    let rules = RuleSet::new(loaded.settings.rules.iter().cloned());
    let mode = loaded.settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value);
    let subject = Subject {
        server: &server,
        tool: &tool,
        public: None,
        arguments: arguments.as_ref(),
        read_only: args.read_only,
    };
    let decision = decide(&subject, &rules, mode, &known);
    let dead = rules.dead(&known);
    if out.json {
        out.value(&json!({
            "server": server, "tool": tool, "mode": mode, "decision": decision, "deadRules": dead,
        }));
        return Ok(exit::OK);
    }
    tell_problems(loaded, out);
    render(&server, &tool, &decision, out);
    for rule in dead {
        out.warn(&rule.to_string());
        out.hint(&rule.hint());
    }
    if loaded.plan.named(server.as_str()).is_empty() {
        out.warn(&format!("no server named `{}` is configured", server.as_str()));
    }
    Ok(exit::OK)
}

fn render(server: &ServerName, tool: &ToolName, decision: &Decision, out: &mut Out) {
    let call = format!("{} of {}", display(tool.as_str()), display(server.as_str()));
    out.line(format!("{}  {call}", bold(&decision.verdict.to_string())));
    out.line(format!("  because of {}", display(&decision.why.to_string())));
}

/// The server and the tool, either given apart or read from a whole name.
fn pair(args: &PermissionsTestArgs, known: &KnownServers) -> Result<(ServerName, ToolName), CommandError> {
    if let Some(tool) = &args.tool {
        return Ok((ServerName::new(&args.server), ToolName::new(tool)));
    }
    // A whole name is understood as a rule would be: by the servers there are, never by splitting it.
    let origin = Origin::whole(Source::inline("the command line"));
    let rule = Rule::parse(RuleKind::Allow, &args.server, origin, RuleScope::CommandLine);
    let readings = rule.as_ref().map(|rule| rule.readings(known)).unwrap_or_default();
    match readings.as_slice() {
        [reading] if !reading.tool.is_empty() => {
            Ok((ServerName::new(&reading.server), ToolName::new(&reading.tool)))
        }
        [] | [_] => Err(CommandError::usage(
            format!("`{}` names no tool of a configured server", args.server),
            "give server and tool apart: `mcparley permissions test SERVER TOOL`",
        )),
        [_, _, ..] => Err(CommandError::usage(
            format!("`{}` could mean several tools", args.server),
            "give server and tool apart: `mcparley permissions test SERVER TOOL`",
        )),
    }
}

fn parse(text: &str) -> Result<Value, CommandError> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) | Err(_) => Err(CommandError::usage(
            "the arguments are not a JSON object",
            r#"write them like --arguments '{"key":"value"}'"#,
        )),
    }
}
