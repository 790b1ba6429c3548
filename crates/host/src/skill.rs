//! Skills: folders of instructions that servers offer beside their tools, apart from prompts and resources (X2).
//!
//! A server that knows the extension lists them with the digests of their files. Of others every `SKILL.md` below
//! `skill://` is one. A skill is known by its server and its address together: names are labels. Nothing of a skill is
//! ever run here.

mod error;
mod listed;
mod load;
#[cfg(test)]
mod tests;

use mcparley_model::limits::{SKILL_BYTES, SKILL_FILES};
use mcparley_model::name::ServerName;
use serde::Serialize;

use crate::host::{Host, Remembered, Server};

pub use error::SkillError;
pub(crate) use listed::is_usable;
pub use load::LoadedSkill;

/// What stands at the end of the address of every skill.
const MAIN_FILE: &str = "/SKILL.md";

/// Whether an address is that of a file of a skill, for servers that do not know the extension.
pub(crate) fn is_skill_address(uri: &str) -> bool {
    uri.starts_with("skill://")
}

/// A skill, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Skill {
    /// The server that has it.
    pub server: ServerName,
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// Its name; several may have the same.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// Its files, `SKILL.md` among them; nothing when the server does not say which they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<SkillFile>>,
    /// Its address as the server has it, which it must be told.
    #[serde(skip)]
    raw: String,
    /// What the server says stands at the top of `SKILL.md`.
    #[serde(skip)]
    front_matter: Option<serde_json::Value>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillFile {
    /// Its address.
    pub uri: String,
    /// The digest of its bytes: `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
}

impl Skill {
    /// The address of its folder.
    fn root(&self) -> &str {
        self.raw.strip_suffix(MAIN_FILE).unwrap_or(&self.raw)
    }

    /// Whether it is larger than skills may be.
    fn check_size(&self) -> Result<(), SkillError> {
        let files = self.files.as_deref().unwrap_or_default();
        let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        if files.len() > SKILL_FILES || bytes > SKILL_BYTES {
            return Err(SkillError::TooLarge { files: files.len(), bytes });
        }
        Ok(())
    }
}

impl Host {
    /// Every skill that is known now; servers need not have been started for that (L12).
    #[must_use]
    pub fn skills(&self) -> Vec<Skill> {
        all(&self.servers())
    }
}

impl Remembered {
    /// Every skill, as it is remembered.
    #[must_use]
    pub fn skills(&self) -> Vec<Skill> {
        all(&self.servers)
    }
}

fn all(servers: &[Server]) -> Vec<Skill> {
    servers.iter().flat_map(|server| listed::of(&server.name, &server.state.surface)).collect()
}
