//! The form in which an offer is written down.

use mcparley_model::config::Era;
use mcparley_model::tool::{Fault, Tool, Withheld};
use mcparley_wire::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::surface::Surface;

/// Files of another format are not read.
const FORMAT: u32 = 1;

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
}

/// A tool and the digest of its definition.
#[derive(Serialize, Deserialize)]
struct Definition<'f> {
    #[serde(borrow)]
    digest: std::borrow::Cow<'f, str>,
    #[serde(borrow)]
    tool: &'f RawValue,
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

    pub(super) fn surface(&self) -> Option<Surface> {
        let raw = |list: &[&RawValue]| -> Option<Vec<RawJson>> {
            list.iter().map(|raw| RawJson::of(raw).ok()).collect()
        };
        let withheld = |refused: &Refused| Withheld {
            name: refused.name.clone(),
            fault: Fault::Earlier(refused.why.clone()),
        };
        Some(Surface {
            tools: self.file.tools.iter().map(|it| Tool::from_record(it.tool)).collect::<Option<_>>()?,
            withheld: self.file.withheld.iter().map(withheld).collect(),
            prompts: raw(&self.file.prompts)?,
            resources: raw(&self.file.resources)?,
            gaps: Vec::new(),
        })
    }
}

/// The text of the file for this offer.
pub(super) fn write(era: Era, stamp: &str, surface: &Surface) -> Option<String> {
    let Surface { tools, withheld, prompts, resources, gaps: _ } = surface;
    let definition = |tool: &Tool| Some((tool.digest().to_string(), tool.to_record()?));
    let definitions: Vec<(String, Box<RawValue>)> = tools.iter().map(definition).collect::<Option<_>>()?;
    let raw = |list: &'_ [RawJson]| -> Option<Vec<Box<RawValue>>> {
        list.iter().map(|raw| raw.as_raw_value().map(ToOwned::to_owned)).collect()
    };
    let (prompts, resources) = (raw(prompts)?, raw(resources)?);
    let refused = |withheld: &Withheld| Refused { name: withheld.name.clone(), why: withheld.to_string() };
    let file = File {
        format: FORMAT,
        era: era.as_str(),
        stamp,
        tools: definitions.iter().map(|(digest, tool)| Definition { digest: digest.into(), tool }).collect(),
        withheld: withheld.iter().map(refused).collect(),
        prompts: prompts.iter().map(AsRef::as_ref).collect(),
        resources: resources.iter().map(AsRef::as_ref).collect(),
    };
    serde_json::to_string(&file).ok()
}
