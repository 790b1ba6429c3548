//! Settings, rules and servers that are given on the command line or by the embedding program.

use std::sync::Arc;

use mcparley_model::approval::Provenance;
use mcparley_model::permission::{PermissionRule, RuleKind, RuleScope};
use mcparley_model::scope::{ConfigOrigin, Scope, Source};
use mcparley_model::settings::SettingsLayer;

use super::SourceCollector;
use super::file::{ConfigProblem, ConfigSource};
use crate::inline_server::InlineServer;
use crate::server_entry::ServerEntry;

impl SourceCollector<'_> {
    /// Reads `--settings`, and the rules of `--allowed-tools` and `--disallowed-tools`.
    pub(super) fn read_command_line(&mut self) {
        for given in &self.run_options.settings {
            if let Some(reading) =
                self.open_source(ConfigSource::from_option(given, "--settings", &self.paths.cwd))
            {
                self.parse_source(&reading, |this, document| {
                    this.apply_settings(document.root(), SettingsLayer::CommandLine)
                });
            }
        }
        let rules = [
            (RuleKind::Allow, "--allowed-tools", &self.run_options.allowed_tools),
            (RuleKind::Deny, "--disallowed-tools", &self.run_options.disallowed_tools),
        ];
        for (kind, option, texts) in rules {
            let origin = ConfigOrigin::for_source(Source::from_label(option));
            for text in texts {
                match PermissionRule::parse(kind, text, origin.clone(), RuleScope::CommandLine) {
                    Ok(rule) => self.context.settings.rules.push(Arc::new(rule)),
                    Err(error) => {
                        self.problems.push(ConfigProblem::from_given(&error, origin.source.clone()))
                    }
                }
            }
        }
    }

    /// Reads the servers of `--mcp-config` and `--mcp-server`, and those that the embedding program adds.
    pub(super) fn read_dynamic_servers(&mut self) {
        let options = self.run_options.mcp_config.iter();
        let mut given: Vec<ConfigSource> =
            options.map(|given| ConfigSource::from_option(given, "--mcp-config", &self.paths.cwd)).collect();
        for text in &self.run_options.mcp_servers {
            let label = "--mcp-server";
            match InlineServer::parse(text) {
                Ok(server) => given.push(ConfigSource::Text { text: server.to_document(), label }),
                Err(error) => {
                    self.problems.push(ConfigProblem::from_given(&error, Source::from_label(label)))
                }
            }
        }
        if !self.run_options.servers.is_empty() {
            let text = ServerEntry::to_document(&self.run_options.servers);
            given.push(ConfigSource::Text { text, label: "this program" });
        }
        for reading in given {
            let Some(reading) = self.open_source(reading) else { continue };
            self.parse_source(&reading, |this, document| {
                if document.root().and_then(|root| root.get("mcpServers")).is_none() {
                    this.problems.push(ConfigProblem::no_servers(document.source().clone()));
                }
                this.declare_servers(document.root(), Scope::Dynamic, Provenance::Own);
            });
        }
    }
}
