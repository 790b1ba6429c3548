//! The skills extension: two skills, their files as resources, and directories.

use super::rpc::{RpcFailure, RpcOutcome};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const DIRECTORY: &str = "inode/directory";

/// A skill with its files; the first one is its `SKILL.md`.
struct Skill {
    name: &'static str,
    description: &'static str,
    files: &'static [SkillFile],
}

struct SkillFile {
    path: &'static str,
    text: &'static str,
}

const SKILLS: [Skill; 2] = [
    Skill {
        name: "letter-writing",
        description: "Write a formal letter with the right salutation",
        files: &[
            SkillFile {
                path: "SKILL.md",
                text: "---\nname: letter-writing\ndescription: Write a formal letter with the right salutation\n---\n\n# Letters\n\nRead `references/salutations.md` first.\n",
            },
            SkillFile {
                path: "references/salutations.md",
                text: "# Salutations\n\nDear Sir or Madam, if the name is unknown.\n",
            },
        ],
    },
    Skill {
        name: "unit-conversion",
        description: "Convert between metric and imperial units",
        files: &[SkillFile {
            path: "SKILL.md",
            text: "---\nname: unit-conversion\ndescription: Convert between metric and imperial units\n---\n\n# Units\n\nOne inch is 25.4 mm.\n",
        }],
    },
];

impl Skill {
    fn folder(&self) -> String {
        format!("skill://{}", self.name)
    }

    fn uri(&self, path: &str) -> String {
        format!("{}/{path}", self.folder())
    }

    fn entry(&self) -> Value {
        let resources: Vec<Value> = self
            .files
            .iter()
            .map(|file| {
                let digest = Sha256::digest(file.text);
                let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "uri": self.uri(file.path), "digest": format!("sha256:{digest}"), "size": file.text.len() })
            })
            .collect();
        json!({
            "uri": self.uri("SKILL.md"),
            "frontmatter": { "name": self.name, "description": self.description },
            "resources": resources,
        })
    }
}

/// All skill entries.
pub(crate) fn list_skills() -> Vec<Value> {
    SKILLS.iter().map(Skill::entry).collect()
}

/// One skill entry, by the address of its `SKILL.md`.
pub(crate) fn skill_entry(uri: &str) -> RpcOutcome {
    let skill = SKILLS.iter().find(|skill| skill.uri("SKILL.md") == uri);
    skill.map(Skill::entry).ok_or_else(|| RpcFailure::new(-32602, format!("unknown skill `{uri}`")))
}

/// The `SKILL.md` files as resources.
pub(crate) fn skill_resources() -> impl Iterator<Item = Value> {
    SKILLS.iter().map(|skill| {
        json!({
            "uri": skill.uri("SKILL.md"),
            "name": skill.name,
            "description": skill.description,
            "mimeType": "text/markdown",
        })
    })
}

/// The contents of a file of a skill.
pub(crate) fn read_skill_file(uri: &str) -> Option<Value> {
    let files = SKILLS.iter().flat_map(|skill| skill.files.iter().map(move |file| (skill, file)));
    let (_, file) = files.into_iter().find(|(skill, file)| skill.uri(file.path) == uri)?;
    Some(json!({ "uri": uri, "mimeType": "text/markdown", "text": file.text }))
}

/// The direct children of a directory.
pub(crate) fn read_directory(uri: &str) -> RpcOutcome {
    let mut children: Vec<Value> = Vec::new();
    for skill in &SKILLS {
        for file in skill.files {
            let address = skill.uri(file.path);
            let Some(rest) = address.strip_prefix(uri).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            let child = match rest.split_once('/') {
                Some((folder, _)) => {
                    json!({ "uri": format!("{uri}/{folder}"), "name": folder, "mimeType": DIRECTORY })
                }
                None => json!({ "uri": address, "name": rest, "mimeType": "text/markdown" }),
            };
            if !children.contains(&child) {
                children.push(child);
            }
        }
    }
    match children.is_empty() {
        true => Err(RpcFailure::new(-32602, format!("`{uri}` is not a directory"))),
        false => Ok(json!({ "resources": children })),
    }
}
