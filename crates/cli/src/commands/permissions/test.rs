//! `permissions test`: what would be decided about a call, and by which rule.

use mcparley::model::name::{ServerName, ToolName};
use mcparley::model::permission::{
    Decision, KnownServers, Mode, Rule, RuleKind, RuleScope, RuleSet, Subject, Verdict, Why, decide,
};
use mcparley::model::scope::{Origin, Source};
use mcparley::model::text::display;
use mcparley::{Entry, Loaded, Remembered};
use serde_json::{Value, json};

use super::{Done, known, remembered, tell_problems};
use crate::args::PermissionsTestArgs;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit;
use crate::out::{Out, bold};

pub(super) fn run(args: &PermissionsTestArgs, context: &Context, loaded: &Loaded, out: &mut Out) -> Done {
    let known = known(loaded);
    let (server, tool) = pair(args, &known)?;
    let arguments = args.arguments.as_deref().map(parse).transpose()?;
    let remembered = remembered(context, loaded);
    let entry = remembered.as_ref().and_then(|remembered| remembered.catalog.of(&server, &tool));
    let rules = RuleSet::new(loaded.settings.rules.iter().cloned());
    let mode = loaded.settings.mode.as_ref().map_or(Mode::Default, |mode| mode.value);
    let decision = match (&remembered, entry) {
        (Some(remembered), Some(entry)) if !args.read_only => remembered.decide(entry, arguments.as_ref()),
        _ => {
            let (arguments, read_only) = (arguments.as_ref(), args.read_only);
            let subject = Subject { server: &server, tool: &tool, public: None, arguments, read_only };
            decide(&subject, &rules, mode, &known)
        }
    };
    let dead = rules.dead(&known);
    let definition = Definition::of(remembered.as_ref(), entry.map(|entry| &**entry), (&server, &tool));
    if out.json {
        out.value(&json!({
            "server": server, "tool": tool, "mode": mode, "toolPin": loaded.settings.pins.in_force(),
            "definition": definition.word(), "difference": definition.lines(),
            "decision": decision, "deadRules": dead,
        }));
        return Ok(exit::OK);
    }
    tell_problems(loaded, out);
    render(&server, &tool, &decision, out);
    definition.render(out);
    for rule in dead {
        out.warn(&rule.to_string());
        out.hint(&rule.hint());
    }
    if loaded.plan.named(server.as_str()).is_empty() {
        out.warn(&format!("no server named `{}` is configured", server.as_str()));
    }
    Ok(exit::OK)
}

/// How the tool's definition stands.
enum Definition {
    /// Nothing is remembered of it.
    Unknown,
    /// As it was when it was first seen or last reviewed.
    Same,
    /// Another one.
    Changed { lines: Vec<String>, withheld: bool },
}

impl Definition {
    fn of(
        remembered: Option<&Remembered>,
        entry: Option<&Entry>,
        (server, tool): (&ServerName, &ToolName),
    ) -> Self {
        let changed = remembered.into_iter().flat_map(|remembered| remembered.catalog.changed());
        let mut changed = changed.filter(|changed| changed.server == *server && changed.tool == *tool);
        match (changed.next(), entry) {
            (Some(changed), _) => {
                Self::Changed { lines: changed.change.lines.clone(), withheld: changed.withheld }
            }
            (None, Some(_)) => Self::Same,
            (None, None) => Self::Unknown,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Same => "same",
            Self::Changed { withheld: false, .. } => "changed",
            Self::Changed { withheld: true, .. } => "withheld",
        }
    }

    fn lines(&self) -> &[String] {
        match self {
            Self::Unknown | Self::Same => &[],
            Self::Changed { lines, .. } => lines,
        }
    }

    fn render(&self, out: &mut Out) {
        let Self::Changed { lines, withheld } = self else { return };
        out.line("  the tool has changed since it was first seen or last reviewed:");
        for line in lines {
            out.line(format!("    {line}"));
        }
        if *withheld {
            out.line("  it is withheld until it is reviewed");
        }
        out.hint("accept it as it is now with `mcparley permissions review --accept`");
    }
}

fn render(server: &ServerName, tool: &ToolName, decision: &Decision, out: &mut Out) {
    let call = format!("{} of {}", display(tool.as_str()), display(server.as_str()));
    out.line(format!("{}  {call}", bold(&decision.verdict.to_string())));
    out.line(format!("  because of {}", display(&decision.why.to_string())));
    if decision.verdict == Verdict::Ask && decision.is_left_to_classifier() {
        out.line("  a classifier decides when it is called");
    }
    if let Why::ServerReplaced { rule } = &decision.why {
        let rule = display(rule.text());
        out.hint(&format!("if it is meant for this server too: `mcparley permissions allow '{rule}'`"));
    }
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
