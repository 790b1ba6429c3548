//! Reads `hooks`, in the format of Claude Code, and the settings that disable hooks.
//!
//! A bad entry is skipped with a warning that has its location, and never hides another. [`crate::hook`]
//! decides which of the hooks may run.

use std::sync::Arc;
use std::time::Duration;

use super::{MergedSettings, SettingsLayer, SettingsWarning};
use crate::document::Node;
use crate::hook::{Hook, HookEvent, HookSet, Matcher};
use crate::limits::{HOOK_TIME, HOOK_TIME_MOST, HOOKS};
use crate::secret::Secret;

/// Members of a hook that have no effect here and do no harm.
const HARMLESS: [&str; 3] = ["statusMessage", "description", "once"];

impl HookSet {
    /// The keys of settings about hooks.
    pub(super) const KEYS: [&str; 4] =
        ["hooks", "disableAllHooks", "allowManagedHooksOnly", "blockOnHookFailure"];
}

impl MergedSettings {
    pub(super) fn read_hook_settings(&mut self, key: &str, value: Node<'_>, layer: SettingsLayer) {
        match key {
            "hooks" => self.read_hooks(value, layer),
            _ => self.read_hook_switch(key, value, layer),
        }
    }

    /// Reads a switch for hooks. Hooks can guard calls, so files in a project's folder cannot disable them.
    fn read_hook_switch(&mut self, key: &str, value: Node<'_>, layer: SettingsLayer) {
        let Some(is_on) = value.as_bool() else {
            return self.add_warning(value, format!("`{key}` is neither true nor false"));
        };
        match key {
            _ if !is_on => {}
            "blockOnHookFailure" => self.hooks.block_on_failure = true,
            "allowManagedHooksOnly" if layer == SettingsLayer::Managed => {
                self.hooks.managed_only = Some(value.origin());
            }
            "allowManagedHooksOnly" => {
                self.add_warning(value, format!("`{key}` counts only in managed settings"))
            }
            _ if layer.is_outside_project() => self.hooks.disabled_by.push((layer, value.origin())),
            _ => self.add_warning(value, "a file in the project's folder cannot switch hooks off".to_owned()),
        }
    }

    fn read_hooks(&mut self, value: Node<'_>, layer: SettingsLayer) {
        let Some(members) = value.as_object() else {
            return self.add_warning(value, format!("`hooks` is {}, not an object", value.kind()));
        };
        let mut others = Vec::new();
        for member in members {
            match HookEvent::parse(member.name) {
                Some(event) => self.read_groups(event, member.value, layer),
                None => others.push(format!("`{}`", member.name)),
            }
        }
        if !others.is_empty() {
            let text = format!("hooks for {} do not run here", others.join(", "));
            self.hooks.hints.push(SettingsWarning { text, origin: value.origin() });
        }
    }

    fn read_groups(&mut self, event: HookEvent, value: Node<'_>, layer: SettingsLayer) {
        let Some(groups) = value.as_array() else {
            return self.add_warning(value, format!("`hooks.{event}` is {}, not an array", value.kind()));
        };
        for group in groups {
            let hooks = match (parse_matcher(group), group.get("hooks").and_then(Node::as_array)) {
                (Err(reason), _) => Err(reason),
                (Ok(_), None) => Err(format!("an entry of `hooks.{event}` has no array `hooks`")),
                (Ok(matcher), Some(hooks)) => Ok((matcher, hooks)),
            };
            match hooks {
                Ok((matcher, hooks)) => {
                    hooks.for_each(|hook| self.read_hook((event, &matcher), hook, layer));
                }
                Err(reason) => self.add_warning(group, format!("hooks left out: {reason}")),
            }
        }
    }

    fn read_hook(&mut self, (event, matcher): (HookEvent, &Matcher), value: Node<'_>, layer: SettingsLayer) {
        if self.hooks.all.len() >= HOOKS {
            return self.add_warning(value, format!("hook left out: there are more than {HOOKS}"));
        }
        match parse_command(value) {
            Ok((command, args, limit)) => {
                let (matcher, origin) = (matcher.clone(), value.origin());
                let hook = Hook { event, matcher, command, args, limit, layer, origin };
                self.hooks.all.push(Arc::new(hook));
                self.add_unknown_member_hints(value);
            }
            Err(reason) => self.add_warning(value, format!("hook left out: {reason}")),
        }
    }

    fn add_unknown_member_hints(&mut self, value: Node<'_>) {
        let known =
            |name: &str| matches!(name, "type" | "command" | "args" | "timeout") || HARMLESS.contains(&name);
        let members = value.as_object().into_iter().flatten();
        for member in members.filter(|member| !known(member.name)) {
            let text = format!("`{}` of a hook has no effect here", member.name);
            self.hooks.hints.push(SettingsWarning { text, origin: member.origin() });
        }
    }
}

fn parse_matcher(group: Node<'_>) -> Result<Matcher, String> {
    let Some(matcher) = group.get("matcher") else { return Ok(Matcher::for_all_names()) };
    let text = matcher.as_str().ok_or_else(|| format!("`matcher` is {}, not a string", matcher.kind()))?;
    Matcher::new(text).map_err(|error| error.to_string())
}

type HookCommandParts = (Secret<String>, Option<Vec<Secret<String>>>, Duration);

fn parse_command(value: Node<'_>) -> Result<HookCommandParts, String> {
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
    Ok((Secret::new(command.to_owned()), parse_args(value)?, parse_timeout(value)?))
}

fn parse_args(value: Node<'_>) -> Result<Option<Vec<Secret<String>>>, String> {
    let Some(args) = value.get("args") else { return Ok(None) };
    let elements = args.as_array().ok_or_else(|| format!("`args` is {}, not an array", args.kind()))?;
    let texts: Option<Vec<_>> =
        elements.map(|arg| arg.as_str().map(|arg| Secret::new(arg.to_owned()))).collect();
    texts.map(Some).ok_or_else(|| "`args` holds something that is not a string".to_owned())
}

fn parse_timeout(value: Node<'_>) -> Result<Duration, String> {
    let Some(timeout) = value.get("timeout") else { return Ok(HOOK_TIME) };
    let seconds = timeout.as_number().and_then(|number| number.parse::<f64>().ok());
    match seconds.filter(|seconds| *seconds > 0.0) {
        Some(seconds) => {
            Ok(Duration::try_from_secs_f64(seconds).unwrap_or(HOOK_TIME_MOST).min(HOOK_TIME_MOST))
        }
        None => Err("`timeout` is not a positive number of seconds".to_owned()),
    }
}
