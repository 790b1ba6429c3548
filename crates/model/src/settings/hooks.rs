//! Reads `hooks`, in the form Claude Code gives them, and what settings say about running them (P5).
//!
//! One bad entry is left out with its place and never hides another. Which of the hooks may run is decided by
//! [`crate::hook`].

use std::sync::Arc;
use std::time::Duration;

use super::{Layer, Settings, Warning};
use crate::document::Node;
use crate::hook::{Event, Hook, Hooks, Matcher};
use crate::limits::{HOOK_TIME, HOOK_TIME_MOST, HOOKS};
use crate::secret::Secret;

/// Members of a hook that change nothing here.
const HARMLESS: [&str; 3] = ["statusMessage", "description", "once"];

impl Hooks {
    /// The keys of settings that are about hooks.
    pub(super) const KEYS: [&str; 4] =
        ["hooks", "disableAllHooks", "allowManagedHooksOnly", "blockOnHookFailure"];
}

impl Settings {
    pub(super) fn read_about_hooks(&mut self, key: &str, value: Node<'_>, layer: Layer) {
        match key {
            "hooks" => self.read_hooks(value, layer),
            _ => self.read_hook_switch(key, value, layer),
        }
    }

    /// Hooks can guard calls, so a project's folder can switch none off.
    fn read_hook_switch(&mut self, key: &str, value: Node<'_>, layer: Layer) {
        let Some(is_on) = value.as_bool() else {
            return self.warn(value, format!("`{key}` is neither true nor false"));
        };
        match key {
            _ if !is_on => {}
            "blockOnHookFailure" => self.hooks.block_on_failure = true,
            "allowManagedHooksOnly" if layer == Layer::Managed => {
                self.hooks.managed_only = Some(value.origin());
            }
            "allowManagedHooksOnly" => self.warn(value, format!("`{key}` counts only in managed settings")),
            _ if layer.is_outside() => self.hooks.off.push((layer, value.origin())),
            _ => self.warn(value, "a file in the project's folder cannot switch hooks off".to_owned()),
        }
    }

    fn read_hooks(&mut self, value: Node<'_>, layer: Layer) {
        let Some(members) = value.as_object() else {
            return self.warn(value, format!("`hooks` is {}, not an object", value.kind()));
        };
        let mut others = Vec::new();
        for member in members {
            match Event::parse(member.name) {
                Some(event) => self.read_groups(event, member.value, layer),
                None => others.push(format!("`{}`", member.name)),
            }
        }
        if !others.is_empty() {
            let text = format!("hooks for {} do not run here", others.join(", "));
            self.hooks.hints.push(Warning { text, origin: value.origin() });
        }
    }

    fn read_groups(&mut self, event: Event, value: Node<'_>, layer: Layer) {
        let Some(groups) = value.as_array() else {
            return self.warn(value, format!("`hooks.{event}` is {}, not an array", value.kind()));
        };
        for group in groups {
            let hooks = match (matcher(group), group.get("hooks").and_then(Node::as_array)) {
                (Err(reason), _) => Err(reason),
                (Ok(_), None) => Err(format!("an entry of `hooks.{event}` has no array `hooks`")),
                (Ok(matcher), Some(hooks)) => Ok((matcher, hooks)),
            };
            match hooks {
                Ok((matcher, hooks)) => {
                    hooks.for_each(|hook| self.read_hook((event, &matcher), hook, layer));
                }
                Err(reason) => self.warn(group, format!("hooks left out: {reason}")),
            }
        }
    }

    fn read_hook(&mut self, (event, matcher): (Event, &Matcher), value: Node<'_>, layer: Layer) {
        if self.hooks.all.len() >= HOOKS {
            return self.warn(value, format!("hook left out: there are more than {HOOKS}"));
        }
        match command(value) {
            Ok((command, args, limit)) => {
                let (matcher, origin) = (matcher.clone(), value.origin());
                let hook = Hook { event, matcher, command, args, limit, layer, origin };
                self.hooks.all.push(Arc::new(hook));
                self.tell_unknown(value);
            }
            Err(reason) => self.warn(value, format!("hook left out: {reason}")),
        }
    }

    fn tell_unknown(&mut self, value: Node<'_>) {
        let known =
            |name: &str| matches!(name, "type" | "command" | "args" | "timeout") || HARMLESS.contains(&name);
        let members = value.as_object().into_iter().flatten();
        for member in members.filter(|member| !known(member.name)) {
            let text = format!("`{}` of a hook means nothing here", member.name);
            self.hooks.hints.push(Warning { text, origin: member.origin() });
        }
    }
}

fn matcher(group: Node<'_>) -> Result<Matcher, String> {
    let Some(matcher) = group.get("matcher") else { return Ok(Matcher::all()) };
    let text = matcher.as_str().ok_or_else(|| format!("`matcher` is {}, not a string", matcher.kind()))?;
    Matcher::new(text).map_err(|error| error.to_string())
}

type Runnable = (Secret<String>, Option<Vec<Secret<String>>>, Duration);

fn command(value: Node<'_>) -> Result<Runnable, String> {
    if value.as_object().is_none() {
        return Err(format!("a hook is an object, not {}", value.kind()));
    }
    match value.get("type").map(Node::as_str) {
        None | Some(Some("command")) => {}
        Some(Some(other)) => return Err(format!("hooks of type `{other}` are not run here")),
        Some(None) => return Err("`type` is not a string".to_owned()),
    }
    let command = value.get("command").and_then(Node::as_str).filter(|command| !command.trim().is_empty());
    let command = command.ok_or("it has no `command`")?;
    Ok((Secret::new(command.to_owned()), args(value)?, limit(value)?))
}

fn args(value: Node<'_>) -> Result<Option<Vec<Secret<String>>>, String> {
    let Some(args) = value.get("args") else { return Ok(None) };
    let elements = args.as_array().ok_or_else(|| format!("`args` is {}, not an array", args.kind()))?;
    let texts: Option<Vec<_>> =
        elements.map(|arg| arg.as_str().map(|arg| Secret::new(arg.to_owned()))).collect();
    texts.map(Some).ok_or_else(|| "`args` holds something that is not a string".to_owned())
}

fn limit(value: Node<'_>) -> Result<Duration, String> {
    let Some(timeout) = value.get("timeout") else { return Ok(HOOK_TIME) };
    let seconds = timeout.as_number().and_then(|number| number.parse::<f64>().ok());
    match seconds.filter(|seconds| *seconds > 0.0) {
        Some(seconds) => {
            Ok(Duration::try_from_secs_f64(seconds).unwrap_or(HOOK_TIME_MOST).min(HOOK_TIME_MOST))
        }
        None => Err("`timeout` is not a positive number of seconds".to_owned()),
    }
}
