//! Reads a skill, and the files of one: only what its entry lists, and only as it lists it (X2).

use base64::Engine as _;
use mcparley_model::document::Document;
use mcparley_model::front_matter;
use mcparley_model::hex::Hex;
use mcparley_model::name::ServerName;
use mcparley_model::scope::Source;
use mcparley_model::text::{clean, clean_json};
use mcparley_wire::Params;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::error::SkillError;
use super::{Skill, listed};
use crate::call::{Request, RequestError};
use crate::host::Host;
use crate::resource::{ResourceContents, ResourceError};

/// The extension, as servers declare it.
const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// A skill that was read. The server wrote it: it belongs into a message of the user's role, marked as the server's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadedSkill {
    /// The skill.
    #[serde(flatten)]
    pub skill: Skill,
    /// What stands at the top of its `SKILL.md`, cleaned.
    pub front_matter: Value,
    /// Its `SKILL.md`, cleaned.
    pub text: String,
}

impl Host {
    /// Reads the `SKILL.md` of a skill. One that no list has is asked for by its address, where the server can be.
    ///
    /// # Errors
    /// A [`SkillError`].
    pub async fn skill(&self, server: &ServerName, uri: &str) -> Result<LoadedSkill, SkillError> {
        let known = self.skills().into_iter().find(|skill| skill.server == *server && skill.uri == uri);
        let skill = match known {
            Some(skill) => skill,
            None => self.unlisted(server, uri).await?,
        };
        skill.check_size()?;
        let read = self.read_resource(server, &skill.raw).await?;
        let bytes = skill.checked(&skill.raw, &read)?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no text"))?;
        let front_matter = front_matter_of(&text)?;
        skill.check_front_matter(&front_matter)?;
        let front_matter = serde_json::from_str(&clean_json(&front_matter.to_string())).unwrap_or_default();
        Ok(LoadedSkill { skill, front_matter, text: clean(&text).into_owned() })
    }

    /// Reads another file of a skill, by its path within the skill or by its address.
    ///
    /// # Errors
    /// A [`SkillError`]: above all [`SkillError::Outside`] for a path that leads out of the skill.
    pub async fn skill_file(&self, skill: &Skill, path: &str) -> Result<ResourceContents, SkillError> {
        let outside = || SkillError::Outside { path: path.to_owned() };
        let uri = skill.address_of(path).ok_or_else(outside)?;
        if skill.files.as_ref().is_some_and(|files| !files.iter().any(|file| file.uri == uri)) {
            return Err(outside());
        }
        skill.check_size()?;
        let read = self.read_resource(&skill.server, &uri).await?;
        skill.checked(&uri, &read)?;
        Ok(read)
    }

    /// The entry of a skill that no list has.
    async fn unlisted(&self, server: &ServerName, uri: &str) -> Result<Skill, SkillError> {
        let params = Params::new().with("uri", &uri);
        let request = Request { method: "skills/get", capability: EXTENSION, params };
        let unknown = || SkillError::Unknown { server: server.clone(), uri: uri.to_owned() };
        let answer = match self.request(server, request).await {
            Err(RequestError::NotOffered { .. }) => return Err(unknown()),
            answer => answer.map_err(ResourceError::from)?,
        };
        let entry = answer.member("skill").and_then(|skill| listed::entry(server, &skill.decode().ok()?));
        entry.filter(|skill| skill.raw == uri).ok_or_else(unknown)
    }
}

impl Skill {
    /// The address of a file, if it is one of this skill: nothing leads out of its folder.
    pub(super) fn address_of(&self, path: &str) -> Option<String> {
        let path = match path.strip_prefix(self.root()) {
            Some(below) => below.strip_prefix('/')?,
            None if path.contains("://") => return None,
            None => path.strip_prefix("./").unwrap_or(path),
        };
        let is_plain = |segment: &str| {
            let plain = segment.replace("%2e", ".").replace("%2E", ".");
            !plain.is_empty() && plain != "." && plain != ".." && !segment.contains(['\\', '?', '#'])
        };
        path.split('/').all(is_plain).then(|| format!("{}/{path}", self.root()))
    }

    /// The bytes of a file, if they are what the entry says.
    pub(super) fn checked(&self, uri: &str, read: &ResourceContents) -> Result<Vec<u8>, SkillError> {
        let changed = |why| SkillError::Changed { uri: uri.to_owned(), why };
        let bytes = bytes_of(uri, read).ok_or_else(|| changed("it has no content"))?;
        let Some(file) = self.files.iter().flatten().find(|file| file.uri == uri) else { return Ok(bytes) };
        if bytes.len() as u64 != file.size {
            return Err(changed("it has another size"));
        }
        if format!("sha256:{}", Hex(&Sha256::digest(&bytes))) != file.digest {
            return Err(changed("it has another digest"));
        }
        Ok(bytes)
    }

    /// What a person was shown of the skill must be what a model is given.
    fn check_front_matter(&self, found: &Value) -> Result<(), SkillError> {
        let Some(said) = self.front_matter.as_ref().and_then(Value::as_object) else { return Ok(()) };
        let found = found.as_object();
        let differs = |(name, value): (&String, &Value)| {
            let other = found.and_then(|found| found.get(name));
            // Numbers and dates may be written in more than one way.
            match (value, other) {
                (Value::String(one), Some(Value::String(other))) => one.trim() != other.trim(),
                (_, Some(_)) => false,
                (_, None) => true,
            }
        };
        let is_other = said.iter().any(differs) || found.is_some_and(|found| found.len() != said.len());
        let why = "another front matter";
        if is_other { Err(SkillError::Changed { uri: self.uri.clone(), why }) } else { Ok(()) }
    }
}

/// The bytes of the content of this address, as they were before they were put into JSON.
fn bytes_of(uri: &str, read: &ResourceContents) -> Option<Vec<u8>> {
    let contents = read.raw.elements("contents")?;
    let contents: Vec<Value> = contents.iter().filter_map(|part| part.decode().ok()).collect();
    let is_it = |part: &&Value| part.get("uri").and_then(Value::as_str) == Some(uri);
    let part = contents.iter().find(is_it).or_else(|| contents.first())?;
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(text.as_bytes().to_vec());
    }
    base64::engine::general_purpose::STANDARD.decode(part.get("blob")?.as_str()?).ok()
}

/// What stands at the top of a `SKILL.md`; nothing is an empty object.
fn front_matter_of(text: &str) -> Result<Value, SkillError> {
    let source = Source::inline("SKILL.md");
    let translated = front_matter::translate(&source, text).map_err(|error| unreadable(&error.reason))?;
    let Some(translated) = translated else { return Ok(Value::Object(serde_json::Map::new())) };
    let document = Document::translated(source, &translated).map_err(|error| unreadable(&error.reason))?;
    Ok(document.root().map(|root| root.to_json()).unwrap_or_default())
}

fn unreadable(reason: &str) -> SkillError {
    SkillError::Unreadable { reason: clean(reason).into_owned() }
}
