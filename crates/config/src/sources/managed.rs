//! Managed files of the administrator: exclusive servers and the policy.
//!
//! They fail closed: a managed file that cannot be read stops every server, because the policy in it is
//! unknown.

use crate::plan::Enterprise;
use mcparley_model::approval::Provenance;
use mcparley_model::document::JsonDocument;
use mcparley_model::limits::MANAGED_FILES;
use mcparley_model::scope::Scope;
use mcparley_model::settings::SettingsLayer;
use mcparley_platform::file as platform_file;

use super::SourceCollector;
use super::file::{ConfigProblem, ConfigSource, Severity};

impl SourceCollector<'_> {
    pub(super) fn read_managed_files(&mut self) {
        let servers = self.paths.managed.join("managed-mcp.json");
        let mut policies = vec![self.paths.managed.join("managed-settings.json")];
        let drop_ins = self.paths.managed.join("managed-settings.d");
        // A pattern for files that are added later, so that hosts watch for them.
        self.files.push(drop_ins.join("*.json"));
        match platform_file::list_dir(&drop_ins, ".json", MANAGED_FILES) {
            Ok(more) => policies.extend(more),
            Err(error) => self.mark_managed_broken(ConfigProblem::unreadable_file(&error, Severity::Managed)),
        }
        for path in policies {
            self.read_managed_file(ConfigSource::Managed(path), |this, document| {
                this.apply_settings(document.root(), SettingsLayer::Managed);
            });
        }
        self.read_managed_file(ConfigSource::Managed(servers), |this, document| {
            if this.context.enterprise == Enterprise::Absent {
                this.context.enterprise = Enterprise::Exclusive(document.source().clone());
            }
            this.apply_settings(document.root(), SettingsLayer::Managed);
            this.declare_managed_servers(document);
        });
    }

    fn declare_managed_servers(&mut self, document: &JsonDocument<'_>) {
        let servers = document.root().and_then(|root| root.get("mcpServers"));
        match servers {
            Some(servers) if servers.as_object().is_none() => {
                let problem = ConfigProblem::not_an_object("mcpServers", servers);
                self.mark_managed_broken(ConfigProblem { severity: Severity::Managed, ..problem });
            }
            Some(_) | None => self.declare_servers(document.root(), Scope::Enterprise, Provenance::Own),
        }
    }

    fn read_managed_file(&mut self, reading: ConfigSource, then: impl FnOnce(&mut Self, &JsonDocument<'_>)) {
        self.files.extend(reading.path().cloned());
        let opened = match reading.open(&mut self.file_cache) {
            Ok(Some(opened)) => opened,
            Ok(None) => return,
            Err(problem) => return self.mark_managed_broken(problem),
        };
        let document = match JsonDocument::parse(opened.source.clone(), &opened.text) {
            Ok(document) => document,
            Err(error) => return self.mark_managed_broken(opened.syntax_problem(&error)),
        };
        match document.root() {
            Some(root) if root.as_object().is_some() => {
                then(self, &document);
                if let Some(fault) = self.context.settings.broken_policy.take() {
                    self.mark_managed_broken(ConfigProblem::broken_policy(fault));
                }
            }
            Some(root) => {
                let problem = ConfigProblem::not_an_object("the file", root);
                self.mark_managed_broken(ConfigProblem { severity: Severity::Managed, ..problem });
            }
            // A full disk or a broken roll-out leaves an empty file behind, which must not lift the policy.
            None => self.mark_managed_broken(ConfigProblem::empty_managed_file(opened.source.clone())),
        }
    }

    fn mark_managed_broken(&mut self, problem: ConfigProblem) {
        let source = problem.origin.source.clone();
        self.context.enterprise = Enterprise::Broken { source, reason: problem.message.clone() };
        self.problems.push(problem.clone());
        self.managed_problem = Some(problem);
    }
}
