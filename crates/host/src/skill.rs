//! Skills: folders of instructions that servers offer beside tools, prompts and resources.
//!
//! A server with the skills extension lists them with the digests of their files. For other servers every
//! `SKILL.md` below `skill://` is a skill. A skill is identified by its server and its URI together: names
//! are labels. No part of a skill is ever executed here.

mod error;
mod load;
#[cfg(test)]
mod tests;

use mcparley_catalog::{Skill, read_skills};

use crate::host::{Host, HostServer};

pub use error::SkillError;
pub use load::LoadedSkill;

impl Host {
    /// All skills that are known now; cached lists count, so servers need not be started.
    #[must_use]
    pub fn skills(&self) -> Vec<Skill> {
        parse_skills(&self.servers())
    }
}

fn parse_skills(servers: &[HostServer]) -> Vec<Skill> {
    servers
        .iter()
        .flat_map(|server| {
            read_skills(&server.name, &server.state.surface.skills, &server.state.surface.resources)
        })
        .collect()
}
