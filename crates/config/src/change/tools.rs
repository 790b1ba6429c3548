//! Enables and disables single tools of a server, in the server's own entry.

use std::path::PathBuf;

use crate::plan::PlannedServer;
use mcparley_model::config::RawServer;
use mcparley_model::glob::Glob;
use mcparley_platform::file::UpdateOutcome;

use crate::change_error::ChangeError;
use crate::edit_target::{EditTarget, FileChoice, WriteScope};
use crate::paths::Paths;
use crate::sources::LoadedConfig;

const ENABLED_TOOLS: &str = "enabledTools";
const DISABLED_TOOLS: &str = "disabledTools";

/// Tools of a server that were enabled or disabled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchedTools {
    /// The server.
    pub server: String,
    /// The tools, or patterns for tools.
    pub tools: Vec<String>,
    /// The file that contains the entry.
    pub file: PathBuf,
    /// Whether the entry had this state before.
    pub is_old: bool,
    /// The pattern that still disables one of them.
    pub still_disabled: Option<String>,
}

/// Disables tools of a server: the catalog leaves them out.
///
/// # Errors
/// When no file of the user declares the server.
pub fn disable_tools(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
    tools: &[String],
) -> Result<SwitchedTools, ChangeError> {
    let (spot, _) = entry_target(paths, loaded, name)?;
    let (_, updated) = spot.edit_file(|editor, path| {
        let entry = [path, &[name]].concat();
        tools.iter().try_for_each(|tool| editor.add_to_list(&entry, DISABLED_TOOLS, tool))
    })?;
    Ok(to_switched_tools(name, tools, &updated, None))
}

/// Enables tools of a server again, and adds them to `enabledTools` if the entry has such an allow-list.
///
/// # Errors
/// When no file of the user declares the server.
pub fn enable_tools(
    paths: &Paths,
    loaded: &LoadedConfig,
    name: &str,
    tools: &[String],
) -> Result<SwitchedTools, ChangeError> {
    let (spot, raw) = entry_target(paths, loaded, name)?;
    let (_, updated) = spot.edit_file(|editor, path| {
        let entry = [path, &[name]].concat();
        editor.remove_from_list(&entry, DISABLED_TOOLS, |listed| tools.iter().any(|tool| tool == listed))?;
        let is_listed = |tool: &str| raw.enabled_tools.iter().any(|glob| Glob::new(glob).matches(tool));
        let missing = tools.iter().filter(|tool| !raw.enabled_tools.is_empty() && !is_listed(tool));
        missing.into_iter().try_for_each(|tool| editor.add_to_list(&entry, ENABLED_TOOLS, tool))
    })?;
    let others = raw.disabled_tools.iter().filter(|glob| !tools.contains(glob));
    let still = others.into_iter().find(|glob| tools.iter().any(|tool| Glob::new(glob).matches(tool)));
    Ok(to_switched_tools(name, tools, &updated, still.cloned()))
}

fn to_switched_tools(
    name: &str,
    tools: &[String],
    updated: &UpdateOutcome,
    still_disabled: Option<String>,
) -> SwitchedTools {
    SwitchedTools {
        server: name.to_owned(),
        tools: tools.to_vec(),
        file: updated.path().to_owned(),
        is_old: matches!(updated, UpdateOutcome::Unchanged { .. }),
        still_disabled,
    }
}

/// The object and content of the winning entry, if the user may edit it.
fn entry_target<'l>(
    paths: &Paths,
    loaded: &'l LoadedConfig,
    name: &str,
) -> Result<(EditTarget, &'l RawServer), ChangeError> {
    let named = loaded.plan.servers_by_name(name);
    let Some(server) = named.first() else {
        let similar = loaded.similar_server_names(name);
        return Err(ChangeError::NotFound { name: name.to_owned(), scope: None, similar });
    };
    let spots = WriteScope::ALL.into_iter().flat_map(|scope| {
        let project = paths.project_files().map(move |file| EditTarget {
            file,
            ..EditTarget::for_servers(paths, WriteScope::Project, FileChoice::Settings)
        });
        let project = project.filter(move |_| scope == WriteScope::Project);
        let own = [FileChoice::Settings, FileChoice::ClaudeJson]
            .map(|choice| EditTarget::for_servers(paths, scope, choice));
        own.into_iter().chain(project).map(move |spot| (scope, spot))
    });
    let is_it = |(scope, spot): &(WriteScope, EditTarget)| {
        is_declared_in(server, *scope, spot) && spot.has_server(name)
    };
    let spot = spots.into_iter().find(is_it).map(|(_, spot)| spot);
    spot.zip(server.raw.as_ref()).ok_or_else(|| ChangeError::NotEditable { name: name.to_owned() })
}

fn is_declared_in(server: &PlannedServer, scope: WriteScope, spot: &EditTarget) -> bool {
    server.scope == scope.scope() && server.origin.source.path() == Some(&spot.file)
}
