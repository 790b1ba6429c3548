//! Skills as servers list them, sanitized; an invalid entry does not affect the others.

use std::collections::HashSet;

use mcparley_json::RawJson;
use mcparley_model::limits::{DESCRIPTION_CHARS, URI_BYTES};
use mcparley_model::name::ServerName;
use mcparley_model::text::{clean_text, truncate_text};
use serde_json::Value;

use serde::Serialize;

/// The end of every skill's URI.
const MAIN_FILE: &str = "/SKILL.md";

/// Whether a URI is that of a skill's file, for servers without the skills extension.
#[must_use]
pub fn is_skill_address(uri: &str) -> bool {
    uri.starts_with("skill://")
}

/// A skill, sanitized for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// The server that offers the skill.
    pub server: ServerName,
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The skill's name; several skills may have the same.
    pub name: String,
    /// The description of the skill's purpose.
    pub description: String,
    /// The files of the skill, including `SKILL.md`; absent when the server does not list them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<SkillFile>>,
    /// The URI exactly as the server wrote it, for requests to the server.
    #[serde(skip)]
    pub raw: String,
    /// The front matter of `SKILL.md`, as the server reports it.
    #[serde(skip)]
    pub front_matter: Option<serde_json::Value>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillFile {
    /// The URI of the file.
    pub uri: String,
    /// The digest of the content: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
}

impl Skill {
    /// The URI of the skill's folder.
    fn folder_address(&self) -> &str {
        self.raw.strip_suffix(MAIN_FILE).unwrap_or(&self.raw)
    }

    /// The URI of a file of this skill; `None` for a path that leads out of its folder.
    #[must_use]
    pub fn address_of(&self, path: &str) -> Option<String> {
        let path = match path.strip_prefix(self.folder_address()) {
            Some(below) => below.strip_prefix('/')?,
            None if path.contains("://") => return None,
            None => path.strip_prefix("./").unwrap_or(path),
        };
        let is_plain = |segment: &str| {
            let plain = segment.replace("%2e", ".").replace("%2E", ".");
            !plain.is_empty() && plain != "." && plain != ".." && !segment.contains(['\\', '?', '#'])
        };
        path.split('/').all(is_plain).then(|| format!("{}/{path}", self.folder_address()))
    }
}

/// Reads the skills of a server: those it lists, or else every `SKILL.md` below `skill://` among its
/// resources.
#[must_use]
pub fn read_skills(server: &ServerName, skills: &[RawJson], resources: &[RawJson]) -> Vec<Skill> {
    let mut seen = HashSet::new();
    let listed = skills.iter().filter_map(|raw| read_skill(server, &raw.decode().ok()?));
    let mut read: Vec<Skill> = listed.filter(|skill| seen.insert(skill.raw.clone())).collect();
    if skills.is_empty() {
        let found = resources.iter().filter_map(|raw| skill_from_resource(server, &raw.decode().ok()?));
        read.extend(found.filter(|skill| seen.insert(skill.raw.clone())));
    }
    read
}

/// Whether an entry is a valid skill.
#[must_use]
pub fn is_usable_skill(raw: &RawJson) -> bool {
    raw.decode().is_ok_and(|fields| read_skill(&ServerName::new(""), &fields).is_some())
}

/// Parses an entry of the skills extension; `None` if its files are neither listed nor declared dynamic.
#[must_use]
pub fn read_skill(server: &ServerName, fields: &Value) -> Option<Skill> {
    let front_matter = fields.get("frontmatter").filter(|value| value.is_object())?;
    let raw = resource_address(fields)?;
    let files = match fields.get("resources")? {
        Value::String(word) if word == "dynamic" => None,
        Value::Array(files) => Some(files.iter().map(parse_file).collect::<Option<Vec<_>>>()?),
        _ => return None,
    };
    let is_listed = |files: &Vec<SkillFile>| files.iter().any(|file| file.uri == raw);
    if files.as_ref().is_some_and(|files| !is_listed(files)) {
        return None;
    }
    Some(Skill {
        server: server.clone(),
        uri: clean_line(raw),
        name: clean_line(front_matter.get("name")?.as_str()?),
        description: clean_description(front_matter.get("description")?.as_str()?),
        files,
        raw: raw.to_owned(),
        front_matter: Some(front_matter.clone()),
    })
}

fn parse_file(fields: &Value) -> Option<SkillFile> {
    let digest = fields.get("digest")?.as_str()?;
    let hex = digest.strip_prefix("sha256:")?;
    let is_digest = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_digest.then_some(SkillFile {
        uri: resource_address(fields)?.to_owned(),
        digest: digest.to_owned(),
        size: fields.get("size")?.as_u64()?,
    })
}

/// Makes a skill from a `SKILL.md` resource, for servers without the skills extension.
fn skill_from_resource(server: &ServerName, fields: &Value) -> Option<Skill> {
    let raw = resource_address(fields).filter(|uri| is_skill_address(uri))?;
    let folder = raw.strip_suffix(MAIN_FILE)?.rsplit('/').next()?;
    let said = |name: &str| fields.get(name).and_then(Value::as_str);
    Some(Skill {
        server: server.clone(),
        uri: clean_line(raw),
        name: clean_line(folder),
        description: said("description").map(clean_description).unwrap_or_default(),
        files: None,
        raw: raw.to_owned(),
        front_matter: None,
    })
}

fn resource_address(fields: &Value) -> Option<&str> {
    fields.get("uri")?.as_str().filter(|uri| !uri.is_empty() && uri.len() <= URI_BYTES)
}

fn clean_description(text: &str) -> String {
    truncate_text(&clean_text(text), DESCRIPTION_CHARS).into_owned()
}

fn clean_line(words: &str) -> String {
    clean_description(words).split_whitespace().collect::<Vec<_>>().join(" ")
}
