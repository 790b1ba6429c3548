//! Reads a skill and its files: only those its entry lists, and only if size and digest match.

use base64::Engine as _;
use mcparley_config::front_matter;
use mcparley_model::document::JsonDocument;
use mcparley_model::hex::Hex;
use mcparley_model::name::ServerName;
use mcparley_model::scope::Source;
use mcparley_model::text::{clean_json, clean_text};
use mcparley_wire::RequestParams;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::error::SkillError;
use crate::call::{Request, RequestError};
use crate::host::Host;
use crate::resource::{ResourceContents, ResourceError};
use mcparley_catalog::{Skill, read_skill};
use mcparley_model::limits::{SKILL_BYTES, SKILL_FILES};

/// The name of the skills extension, as servers declare it.
const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// A skill that was read. The text is the server's and untrusted: it belongs in a message in the user's
/// role, labeled with its server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadedSkill {
    /// The entry of the skill.
    #[serde(flatten)]
    pub skill: Skill,
    /// The front matter of its `SKILL.md`, sanitized.
    pub front_matter: Value,
    /// The text of its `SKILL.md`, sanitized.
    pub text: String,
}

impl Host {
    /// Reads the `SKILL.md` of a skill. A skill that is in no list is requested by its URI, if the server
    /// has the extension.
    ///
    /// # Errors
    /// A [`SkillError`].
    pub async fn load_skill(&self, server: &ServerName, uri: &str) -> Result<LoadedSkill, SkillError> {
        let known = self.skills().into_iter().find(|skill| skill.server == *server && skill.uri == uri);
        let skill = match known {
            Some(skill) => skill,
            None => self.fetch_unlisted_skill(server, uri).await?,
        };
        skill.check_size()?;
        let read = self.read_resource(server, &skill.raw).await?;
        let bytes = skill.check_file(&skill.raw, &read)?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable_error("it is not text"))?;
        let front_matter = parse_front_matter(&text)?;
        skill.check_front_matter(&front_matter)?;
        let front_matter = serde_json::from_str(&clean_json(&front_matter.to_string())).unwrap_or_default();
        Ok(LoadedSkill { skill, front_matter, text: clean_text(&text).into_owned() })
    }

    /// Reads another file of a skill, by its path within the skill or by its URI.
    ///
    /// # Errors
    /// A [`SkillError`]: above all [`SkillError::Outside`] for a path that leads out of the skill.
    pub async fn read_skill_file(&self, skill: &Skill, path: &str) -> Result<ResourceContents, SkillError> {
        let outside = || SkillError::Outside { path: path.to_owned() };
        let uri = skill.address_of(path).ok_or_else(outside)?;
        if skill.files.as_ref().is_some_and(|files| !files.iter().any(|file| file.uri == uri)) {
            return Err(outside());
        }
        skill.check_size()?;
        let read = self.read_resource(&skill.server, &uri).await?;
        skill.check_file(&uri, &read)?;
        Ok(read)
    }

    /// Fetches the entry of a skill that is in no list.
    async fn fetch_unlisted_skill(&self, server: &ServerName, uri: &str) -> Result<Skill, SkillError> {
        let params = RequestParams::new().with_member("uri", &uri);
        let request = Request::for_reading("skills/get", EXTENSION, params);
        let unknown = || SkillError::Unknown { server: server.clone(), uri: uri.to_owned() };
        let answer = match self.send_request(server, request).await {
            Err(RequestError::NotOffered { .. }) => return Err(unknown()),
            answer => answer.map_err(ResourceError::from)?,
        };
        let entry = answer.member("skill").and_then(|skill| read_skill(server, &skill.decode().ok()?));
        entry.filter(|skill| skill.raw == uri).ok_or_else(unknown)
    }
}

/// Checks of a skill against the limits and against the entry of its server.
pub(super) trait SkillChecks {
    /// Checks the total size and the number of files.
    fn check_size(&self) -> Result<(), SkillError>;

    /// Returns the bytes of a file, if they match the entry's size and digest.
    fn check_file(&self, uri: &str, read: &ResourceContents) -> Result<Vec<u8>, SkillError>;

    /// Checks that the front matter is the one in the entry, which the user was shown.
    fn check_front_matter(&self, found: &Value) -> Result<(), SkillError>;
}

impl SkillChecks for Skill {
    fn check_size(&self) -> Result<(), SkillError> {
        let files = self.files.as_deref().unwrap_or_default();
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        if files.len() > SKILL_FILES || bytes > SKILL_BYTES {
            return Err(SkillError::TooLarge { files: files.len(), bytes });
        }
        Ok(())
    }

    fn check_file(&self, uri: &str, read: &ResourceContents) -> Result<Vec<u8>, SkillError> {
        let changed = |why| SkillError::Changed { uri: uri.to_owned(), why };
        let bytes = content_bytes(uri, read).ok_or_else(|| changed("it has no content"))?;
        let Some(file) = self.files.iter().flatten().find(|file| file.uri == uri) else { return Ok(bytes) };
        if bytes.len() as u64 != file.size {
            return Err(changed("it has another size"));
        }
        if format!("sha256:{}", Hex(&Sha256::digest(&bytes))) != file.digest {
            return Err(changed("it has another digest"));
        }
        Ok(bytes)
    }

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

/// The decoded bytes of the content with this URI.
fn content_bytes(uri: &str, read: &ResourceContents) -> Option<Vec<u8>> {
    let contents = read.raw.member_elements("contents")?;
    let contents: Vec<Value> = contents.iter().filter_map(|part| part.decode().ok()).collect();
    let is_it = |part: &&Value| part.get("uri").and_then(Value::as_str) == Some(uri);
    let part = contents.iter().find(is_it).or_else(|| contents.first())?;
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(text.as_bytes().to_vec());
    }
    base64::engine::general_purpose::STANDARD.decode(part.get("blob")?.as_str()?).ok()
}

/// Parses the front matter of a `SKILL.md`; without one an empty object.
fn parse_front_matter(text: &str) -> Result<Value, SkillError> {
    let source = Source::from_label("SKILL.md");
    let translated = front_matter::translate_front_matter(&source, text)
        .map_err(|error| unreadable_error(&error.reason))?;
    let Some(translated) = translated else { return Ok(Value::Object(serde_json::Map::new())) };
    let document = JsonDocument::parse_translation(source, &translated)
        .map_err(|error| unreadable_error(&error.reason))?;
    Ok(document.root().map(|root| root.to_json()).unwrap_or_default())
}

fn unreadable_error(reason: &str) -> SkillError {
    SkillError::Unreadable { reason: clean_text(reason).into_owned() }
}
