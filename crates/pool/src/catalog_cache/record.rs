//! The file format of a cached surface.

use std::sync::Arc;

use mcparley_model::config::Era;
use mcparley_model::text::Untrusted;
use mcparley_model::tool::{self, Tool, ToolFault, WithheldTool};
use mcparley_wire::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::surface::Surface;

/// The format version; files with another version are ignored.
const FORMAT: u32 = 2;

/// The JSON of one cache file.
#[derive(Serialize, Deserialize)]
struct SurfaceFile<'f> {
    format: u32,
    era: &'f str,
    stamp: &'f str,
    #[serde(borrow)]
    tools: Vec<CachedTool<'f>>,
    withheld: Vec<CachedWithheldTool>,
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
struct CachedTool<'f> {
    #[serde(borrow)]
    digest: std::borrow::Cow<'f, str>,
    #[serde(borrow)]
    tool: tool::ToolRecord<'f>,
}

impl<'f> CachedTool<'f> {
    fn from_tool(tool: &'f Tool) -> Self {
        Self { digest: tool.digest().to_string().into(), tool: tool.to_record() }
    }
}

/// A withheld tool and the reason.
#[derive(Serialize, Deserialize)]
struct CachedWithheldTool {
    name: String,
    why: String,
}

/// A parsed cache file.
pub(super) struct SurfaceRecord<'f> {
    pub(super) era: Era,
    pub(super) stamp: &'f str,
    file: SurfaceFile<'f>,
}

impl<'f> SurfaceRecord<'f> {
    pub(super) fn parse(text: &'f str) -> Option<Self> {
        let file: SurfaceFile<'f> = serde_json::from_str(text).ok()?;
        let era = [Era::Old, Era::New].into_iter().find(|era| era.as_str() == file.era)?;
        (file.format == FORMAT).then_some(Self { era, stamp: file.stamp, file })
    }

    pub(super) fn into_surface(self) -> Option<Surface> {
        let SurfaceFile { tools, withheld, prompts, resources, templates, skills, instructions, .. } =
            self.file;
        let raw = |list: Vec<&RawValue>| -> Option<Vec<RawJson>> {
            list.into_iter().map(|raw| RawJson::from_value(&raw).ok()).collect()
        };
        let tool = |definition: CachedTool<'_>| definition.tool.into_tool().map(Arc::new);
        let refused = |CachedWithheldTool { name, why }: CachedWithheldTool| WithheldTool {
            name,
            fault: ToolFault::EarlierRun(why),
        };
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

/// Serializes a surface as the text of its cache file.
pub(super) fn serialize_surface(era: Era, stamp: &str, surface: &Surface) -> Option<String> {
    let Surface { tools, withheld, prompts, resources, templates, skills, instructions, gaps: _ } = surface;
    let raw = |list: &'_ [RawJson]| -> Option<Vec<Box<RawValue>>> {
        list.iter().map(|raw| raw.as_raw_value().map(ToOwned::to_owned)).collect()
    };
    let (prompts, resources, templates) = (raw(prompts)?, raw(resources)?, raw(templates)?);
    let skills = raw(skills)?;
    let refused = |withheld: &WithheldTool| CachedWithheldTool {
        name: withheld.name.clone(),
        why: withheld.to_string(),
    };
    let file = SurfaceFile {
        format: FORMAT,
        era: era.as_str(),
        stamp,
        tools: tools.iter().map(|tool| CachedTool::from_tool(tool)).collect(),
        withheld: withheld.iter().map(refused).collect(),
        prompts: prompts.iter().map(AsRef::as_ref).collect(),
        resources: resources.iter().map(AsRef::as_ref).collect(),
        templates: templates.iter().map(AsRef::as_ref).collect(),
        skills: skills.iter().map(AsRef::as_ref).collect(),
        instructions: instructions.as_ref().map(|text| text.raw().to_owned()),
    };
    serde_json::to_string(&file).ok()
}
