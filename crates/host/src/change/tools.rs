//! Switches single tools of a server on and off, in the server's own entry.

use std::path::PathBuf;

use mcparley_model::config::RawServer;
use mcparley_model::glob::Glob;
use mcparley_model::plan::Planned;
use mcparley_platform::file::Updated;

use super::{ChangeError, FileChoice, Spot, WriteScope};
use crate::paths::Paths;
use crate::sources::Loaded;

const ENABLED_TOOLS: &str = "enabledTools";
const DISABLED_TOOLS: &str = "disabledTools";

/// Tools of a server that were switched on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedTools {
    /// The server.
    pub server: String,
    /// The tools, or patterns for tools.
    pub tools: Vec<String>,
    /// The file of the entry.
    pub file: PathBuf,
    /// Whether the entry said so before.
    pub is_old: bool,
    /// The pattern that still switches one of them off.
    pub still_disabled: Option<String>,
}

/// Leaves tools of a server out of what it offers.
///
/// # Errors
/// When the server stands in no file of the user's.
pub fn disable_tools(
    paths: &Paths,
    loaded: &Loaded,
    name: &str,
    tools: &[String],
) -> Result<SwitchedTools, ChangeError> {
    let (spot, _) = entry_spot(paths, loaded, name)?;
    let (_, updated) = spot.change(|editor, path| {
        let entry = [path, &[name]].concat();
        tools.iter().try_for_each(|tool| editor.add_to_list(&entry, DISABLED_TOOLS, tool))
    })?;
    Ok(switched(name, tools, &updated, None))
}

/// Offers tools of a server again, or for the first time where the entry names the only ones it wants.
///
/// # Errors
/// When the server stands in no file of the user's.
pub fn enable_tools(
    paths: &Paths,
    loaded: &Loaded,
    name: &str,
    tools: &[String],
) -> Result<SwitchedTools, ChangeError> {
    let (spot, raw) = entry_spot(paths, loaded, name)?;
    let (_, updated) = spot.change(|editor, path| {
        let entry = [path, &[name]].concat();
        editor.remove_from_list(&entry, DISABLED_TOOLS, |listed| tools.iter().any(|tool| tool == listed))?;
        let is_listed = |tool: &str| raw.enabled_tools.iter().any(|glob| Glob::new(glob).matches(tool));
        let missing = tools.iter().filter(|tool| !raw.enabled_tools.is_empty() && !is_listed(tool));
        missing.into_iter().try_for_each(|tool| editor.add_to_list(&entry, ENABLED_TOOLS, tool))
    })?;
    let others = raw.disabled_tools.iter().filter(|glob| !tools.contains(glob));
    let still = others.into_iter().find(|glob| tools.iter().any(|tool| Glob::new(glob).matches(tool)));
    Ok(switched(name, tools, &updated, still.cloned()))
}

fn switched(
    name: &str,
    tools: &[String],
    updated: &Updated,
    still_disabled: Option<String>,
) -> SwitchedTools {
    SwitchedTools {
        server: name.to_owned(),
        tools: tools.to_vec(),
        file: updated.path().to_owned(),
        is_old: matches!(updated, Updated::Unchanged { .. }),
        still_disabled,
    }
}

/// Where the entry that counts stands, if a person may edit it there, and what it says.
fn entry_spot<'l>(
    paths: &Paths,
    loaded: &'l Loaded,
    name: &str,
) -> Result<(Spot, &'l RawServer), ChangeError> {
    let named = loaded.plan.named(name);
    let Some(server) = named.first() else {
        let similar = loaded.similar(name);
        return Err(ChangeError::NotFound { name: name.to_owned(), scope: None, similar });
    };
    let spots = WriteScope::ALL.into_iter().flat_map(|scope| {
        let project = paths.project_files().map(move |file| Spot {
            file,
            ..Spot::servers(paths, WriteScope::Project, FileChoice::Settings)
        });
        let project = project.filter(move |_| scope == WriteScope::Project);
        let own =
            [FileChoice::Settings, FileChoice::ClaudeJson].map(|choice| Spot::servers(paths, scope, choice));
        own.into_iter().chain(project).map(move |spot| (scope, spot))
    });
    let is_it = |(scope, spot): &(WriteScope, Spot)| stands_in(server, *scope, spot) && spot.has(name);
    let spot = spots.into_iter().find(is_it).map(|(_, spot)| spot);
    spot.zip(server.raw.as_ref()).ok_or_else(|| ChangeError::NotEditable { name: name.to_owned() })
}

fn stands_in(server: &Planned, scope: WriteScope, spot: &Spot) -> bool {
    server.scope == scope.scope() && server.origin.source.path() == Some(&spot.file)
}
