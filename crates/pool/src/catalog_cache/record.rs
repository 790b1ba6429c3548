//! The file format of a cached surface.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcparley_model::config::Era;
use mcparley_model::text::Untrusted;
use mcparley_model::tool::{Tool, ToolFault, WithheldTool};
use mcparley_wire::{RawJson, ServerDescription};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::surface::{AnnouncedChanges, Surface};

/// The format version; files with another version are ignored.
const FORMAT: u32 = 3;

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
    /// Files of earlier versions have none.
    #[serde(default)]
    list_hints: BTreeMap<Box<str>, Box<RawValue>>,
    instructions: Option<String>,
    about: Option<CachedDescription>,
}

/// A tool as the server sent it, and the digest of its definition.
#[derive(Serialize, Deserialize)]
struct CachedTool<'f> {
    #[serde(borrow)]
    digest: std::borrow::Cow<'f, str>,
    #[serde(borrow)]
    tool: &'f RawValue,
}

impl<'f> CachedTool<'f> {
    fn new(tool: &Tool, definition: &'f RawValue) -> Self {
        Self { digest: tool.digest().to_string().into(), tool: definition }
    }
}

/// A server's description of itself.
#[derive(Serialize, Deserialize)]
struct CachedDescription {
    info: Option<Value>,
    capabilities: Map<String, Value>,
    instructions: Option<String>,
}

impl CachedDescription {
    fn from_description(about: &ServerDescription) -> Self {
        Self {
            info: about.info.clone(),
            capabilities: about.capabilities.clone(),
            instructions: about.whole_instructions.as_ref().map(|text| text.raw().to_owned()),
        }
    }

    fn into_description(self) -> ServerDescription {
        ServerDescription::new(self.info.as_ref(), Some(Value::Object(self.capabilities)), self.instructions)
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
        let SurfaceFile {
            tools,
            withheld,
            prompts,
            resources,
            templates,
            skills,
            list_hints,
            instructions,
            about,
            ..
        } = self.file;
        let raw = |list: Vec<&RawValue>| -> Option<Vec<RawJson>> {
            list.into_iter().map(|raw| RawJson::from_value(&raw).ok()).collect()
        };
        let tool = |definition: CachedTool<'_>| Tool::parse(definition.tool).ok().map(Arc::new);
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
            list_hints: list_hints
                .into_iter()
                .map(|(list, hints)| Some((list, RawJson::from_value(&hints).ok()?)))
                .collect::<Option<_>>()?,
            instructions: instructions.map(Untrusted::new),
            about: about.map(|about| Arc::new(about.into_description())),
            announced: AnnouncedChanges::default(),
            gaps: Vec::new(),
        })
    }
}

/// Serializes a surface as the text of its cache file.
pub(super) fn serialize_surface(era: Era, stamp: &str, surface: &Surface) -> Option<String> {
    let Surface {
        tools,
        withheld,
        prompts,
        resources,
        templates,
        skills,
        instructions,
        about,
        list_hints,
        gaps: _,
        announced: _,
    } = surface;
    let raw = |list: &'_ [RawJson]| -> Option<Vec<Box<RawValue>>> {
        list.iter().map(|raw| raw.as_raw_value().map(ToOwned::to_owned)).collect()
    };
    let (prompts, resources, templates) = (raw(prompts)?, raw(resources)?, raw(templates)?);
    let skills = raw(skills)?;
    let refused = |withheld: &WithheldTool| CachedWithheldTool {
        name: withheld.name.clone(),
        why: withheld.to_string(),
    };
    let definition = |tool: &Arc<Tool>| RawValue::from_string(tool.definition_text()).ok();
    let definitions: Vec<Box<RawValue>> = tools.iter().map(definition).collect::<Option<_>>()?;
    let file = SurfaceFile {
        format: FORMAT,
        era: era.as_str(),
        stamp,
        tools: tools
            .iter()
            .zip(definitions.iter().map(AsRef::as_ref))
            .map(|(tool, definition)| CachedTool::new(tool, definition))
            .collect(),
        withheld: withheld.iter().map(refused).collect(),
        prompts: prompts.iter().map(AsRef::as_ref).collect(),
        resources: resources.iter().map(AsRef::as_ref).collect(),
        templates: templates.iter().map(AsRef::as_ref).collect(),
        skills: skills.iter().map(AsRef::as_ref).collect(),
        list_hints: list_hints
            .iter()
            .map(|(list, hints)| Some((list.clone(), hints.as_raw_value()?.to_owned())))
            .collect::<Option<_>>()?,
        instructions: instructions.as_ref().map(|text| text.raw().to_owned()),
        about: about.as_deref().map(CachedDescription::from_description),
    };
    serde_json::to_string(&file).ok()
}
