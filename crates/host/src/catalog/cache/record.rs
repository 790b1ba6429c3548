//! The form in which an offer is written down.

use std::sync::Arc;

use mcparley_model::config::Era;
use mcparley_model::text::Untrusted;
use mcparley_model::tool::{self, Fault, Tool, Withheld};
use mcparley_wire::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::surface::Surface;

/// Files of another format are not read.
const FORMAT: u32 = 2;

/// One file.
#[derive(Serialize, Deserialize)]
struct File<'f> {
    format: u32,
    era: &'f str,
    stamp: &'f str,
    #[serde(borrow)]
    tools: Vec<Definition<'f>>,
    withheld: Vec<Refused>,
    #[serde(borrow)]
    prompts: Vec<&'f RawValue>,
    #[serde(borrow)]
    resources: Vec<&'f RawValue>,
    #[serde(borrow)]
    templates: Vec<&'f RawValue>,
    #[serde(borrow)]
    skills: Vec<&'f RawValue>,
    instructions: Option<String>,
}

/// A tool and the digest of its definition.
#[derive(Serialize, Deserialize)]
struct Definition<'f> {
    #[serde(borrow)]
    digest: std::borrow::Cow<'f, str>,
    #[serde(borrow)]
    tool: tool::Record<'f>,
}

impl<'f> Definition<'f> {
    fn of(tool: &'f Tool) -> Self {
        Self { digest: tool.digest().to_string().into(), tool: tool.record() }
    }
}

/// A tool that is not offered.
#[derive(Serialize, Deserialize)]
struct Refused {
    name: String,
    why: String,
}

/// A file that was read.
pub(super) struct Record<'f> {
    pub(super) era: Era,
    pub(super) stamp: &'f str,
    file: File<'f>,
}

impl<'f> Record<'f> {
    pub(super) fn read(text: &'f str) -> Option<Self> {
        let file: File<'f> = serde_json::from_str(text).ok()?;
        let era = [Era::Old, Era::New].into_iter().find(|era| era.as_str() == file.era)?;
        (file.format == FORMAT).then_some(Self { era, stamp: file.stamp, file })
    }

    pub(super) fn into_surface(self) -> Option<Surface> {
        let File { tools, withheld, prompts, resources, templates, skills, instructions, .. } = self.file;
        let raw = |list: Vec<&RawValue>| -> Option<Vec<RawJson>> {
            list.into_iter().map(|raw| RawJson::of(&raw).ok()).collect()
        };
        let tool = |definition: Definition<'_>| definition.tool.into_tool().map(Arc::new);
        let refused = |Refused { name, why }: Refused| Withheld { name, fault: Fault::Earlier(why) };
        Some(Surface {
            tools: tools.into_iter().map(tool).collect::<Option<_>>()?,
            withheld: withheld.into_iter().map(refused).collect(),
            prompts: raw(prompts)?,
            resources: raw(resources)?,
            templates: raw(templates)?,
            skills: raw(skills)?,
            instructions: instructions.map(Untrusted::new),
            gaps: Vec::new(),
        })
    }
}

/// The text of the file for this offer.
pub(super) fn write(era: Era, stamp: &str, surface: &Surface) -> Option<String> {
    let Surface { tools, withheld, prompts, resources, templates, skills, instructions, gaps: _ } = surface;
    let raw = |list: &'_ [RawJson]| -> Option<Vec<Box<RawValue>>> {
        list.iter().map(|raw| raw.as_raw_value().map(ToOwned::to_owned)).collect()
    };
    let (prompts, resources, templates) = (raw(prompts)?, raw(resources)?, raw(templates)?);
    let skills = raw(skills)?;
    let refused = |withheld: &Withheld| Refused { name: withheld.name.clone(), why: withheld.to_string() };
    let file = File {
        format: FORMAT,
        era: era.as_str(),
        stamp,
        tools: tools.iter().map(|tool| Definition::of(tool)).collect(),
        withheld: withheld.iter().map(refused).collect(),
        prompts: prompts.iter().map(AsRef::as_ref).collect(),
        resources: resources.iter().map(AsRef::as_ref).collect(),
        templates: templates.iter().map(AsRef::as_ref).collect(),
        skills: skills.iter().map(AsRef::as_ref).collect(),
        instructions: instructions.as_ref().map(|text| text.raw().to_owned()),
    };
    serde_json::to_string(&file).ok()
}
