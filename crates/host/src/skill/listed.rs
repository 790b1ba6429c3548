//! Reads skills as servers list them: clean, and one bad entry costs only itself (N7).

use std::collections::HashSet;

use mcparley_model::limits::{DESCRIPTION_CHARS, URI_BYTES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean, cut};
use mcparley_wire::RawJson;
use serde_json::Value;

use super::{MAIN_FILE, Skill, SkillFile, is_skill_address};
use crate::surface::Surface;

/// The skills of a server: those it lists as such; else every `SKILL.md` below `skill://`.
pub(super) fn of(server: &ServerName, surface: &Surface) -> Vec<Skill> {
    let mut seen = HashSet::new();
    let listed = surface.skills.iter().filter_map(|raw| entry(server, &raw.decode().ok()?));
    let mut skills: Vec<Skill> = listed.filter(|skill| seen.insert(skill.raw.clone())).collect();
    if surface.skills.is_empty() {
        let found = surface.resources.iter().filter_map(|raw| resource(server, &raw.decode().ok()?));
        skills.extend(found.filter(|skill| seen.insert(skill.raw.clone())));
    }
    skills
}

/// Whether an entry can be used as it is listed.
pub(crate) fn is_usable(raw: &RawJson) -> bool {
    raw.decode().is_ok_and(|fields| entry(&ServerName::new(""), &fields).is_some())
}

/// An entry of the extension. One whose files are neither listed nor said to be made as they are read is none.
pub(super) fn entry(server: &ServerName, fields: &Value) -> Option<Skill> {
    let front_matter = fields.get("frontmatter").filter(|value| value.is_object())?;
    let raw = address(fields)?;
    let files = match fields.get("resources")? {
        Value::String(word) if word == "dynamic" => None,
        Value::Array(files) => Some(files.iter().map(file).collect::<Option<Vec<_>>>()?),
        _ => return None,
    };
    let is_listed = |files: &Vec<SkillFile>| files.iter().any(|file| file.uri == raw);
    if files.as_ref().is_some_and(|files| !is_listed(files)) {
        return None;
    }
    Some(Skill {
        server: server.clone(),
        uri: line(raw),
        name: line(front_matter.get("name")?.as_str()?),
        description: text(front_matter.get("description")?.as_str()?),
        files,
        raw: raw.to_owned(),
        front_matter: Some(front_matter.clone()),
    })
}

fn file(fields: &Value) -> Option<SkillFile> {
    let digest = fields.get("digest")?.as_str()?;
    let hex = digest.strip_prefix("sha256:")?;
    let is_digest = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_digest.then_some(SkillFile {
        uri: address(fields)?.to_owned(),
        digest: digest.to_owned(),
        size: fields.get("size")?.as_u64()?,
    })
}

/// A `SKILL.md` among the resources of a server that does not know the extension.
fn resource(server: &ServerName, fields: &Value) -> Option<Skill> {
    let raw = address(fields).filter(|uri| is_skill_address(uri))?;
    let folder = raw.strip_suffix(MAIN_FILE)?.rsplit('/').next()?;
    let said = |name: &str| fields.get(name).and_then(Value::as_str);
    Some(Skill {
        server: server.clone(),
        uri: line(raw),
        name: line(folder),
        description: said("description").map(text).unwrap_or_default(),
        files: None,
        raw: raw.to_owned(),
        front_matter: None,
    })
}

fn address(fields: &Value) -> Option<&str> {
    fields.get("uri")?.as_str().filter(|uri| !uri.is_empty() && uri.len() <= URI_BYTES)
}

fn text(text: &str) -> String {
    cut(&clean(text), DESCRIPTION_CHARS).into_owned()
}

fn line(words: &str) -> String {
    text(words).split_whitespace().collect::<Vec<_>>().join(" ")
}
