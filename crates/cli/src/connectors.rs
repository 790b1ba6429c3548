//! Fetches the connectors of the organization and adds them to the loaded configuration.
//!
//! Fetching has a timeout. If it fails, the command reports a problem and continues without connectors.

use std::sync::Arc;

use mcparley::config::plan::Enterprise;
use mcparley::config::{ConnectorList, LoadedConfig};
use mcparley::model::limits::CATALOG_WAIT;
use mcparley::model::secret::Secret;
use mcparley::pool::connect::ConnectContext;
use mcparley::pool::organization::{ConnectorError, Organization, StoredToken};

use crate::args::ConnectorNeed;
use crate::context::Context;
use crate::error::CommandError;
use crate::runtime;

/// Whether connectors have to be fetched. A command that names only configured servers does not wait for
/// them.
pub(crate) fn are_needed(need: &ConnectorNeed<'_>, loaded: &LoadedConfig) -> bool {
    let may_be_connector = |word: &&str| {
        let is_other_tool = word.starts_with("mcp__") && !word.starts_with("mcp__claude_ai");
        !is_other_tool && loaded.plan.servers_by_name(word).is_empty()
    };
    match need {
        ConnectorNeed::Unused => false,
        ConnectorNeed::All => true,
        ConnectorNeed::Named(words) => words.iter().any(may_be_connector),
    }
}

/// Fetches the connectors and plans again, with them.
pub(crate) fn add_connectors(
    context: &mut Context,
    loaded: LoadedConfig,
) -> Result<LoadedConfig, CommandError> {
    let known = match find_organization(context, &loaded) {
        Ok(None) => return Ok(loaded),
        Ok(Some(organization)) => {
            let connect_context = ConnectContext::new(&loaded.env, &context.paths);
            let network = connect_context.dialer.network();
            let known = runtime::run_unguarded(organization.fetch_connectors(network, CATALOG_WAIT))?;
            context.organization = Some(organization);
            known
        }
        Err(error) => Err(error),
    };
    Ok(loaded.with_connectors(&known.unwrap_or_else(|error| ConnectorList::from_error(&error))))
}

/// The organization that provides connectors, if one is configured.
///
/// # Errors
/// An error if the configuration of the organization is invalid.
pub(crate) fn find_organization(
    context: &Context,
    loaded: &LoadedConfig,
) -> Result<Option<Organization>, ConnectorError> {
    // `--strict-mcp-config` and managed servers exclude connectors, so none are fetched.
    if context.run_options.strict || loaded.enterprise != Enterprise::Absent {
        return Ok(None);
    }
    let env = &context.run_options.env;
    let given = env.get("MCPARLEY_CONNECTORS_TOKEN").filter(|token| !token.is_empty());
    let given = given.map(|token| Secret::new(token.to_owned()));
    let token = StoredToken::new(given, context.paths.claude.dir.join(".credentials.json"));
    Organization::from_settings(&loaded.settings, env, Arc::new(token))
}
