//! The administrator's files: exclusive servers and the policy (C5, C9).
//!
//! They fail closed: a managed file that cannot be read stops every server, because what it would have
//! forbidden is not known.

use mcparley_model::approval::Provenance;
use mcparley_model::document::Document;
use mcparley_model::limits::MANAGED_FILES;
use mcparley_model::plan::Enterprise;
use mcparley_model::scope::Scope;
use mcparley_model::settings::Layer;
use mcparley_platform::file as platform_file;

use super::Collector;
use super::file::{Problem, Reading, Severity};

impl Collector<'_> {
    pub(super) fn managed(&mut self) {
        let servers = self.paths.managed.join("managed-mcp.json");
        let mut policies = vec![self.paths.managed.join("managed-settings.json")];
        let drop_ins = self.paths.managed.join("managed-settings.d");
        // Stands for those that are not there yet.
        self.files.push(drop_ins.join("*.json"));
        match platform_file::list_dir(&drop_ins, ".json", MANAGED_FILES) {
            Ok(more) => policies.extend(more),
            Err(error) => self.broken(Problem::unreadable(&error, Severity::Managed)),
        }
        for path in policies {
            self.managed_file(Reading::Managed(path), |this, document| {
                this.settings(document.root(), Layer::Managed);
            });
        }
        self.managed_file(Reading::Managed(servers), |this, document| {
            if this.ground.enterprise == Enterprise::Absent {
                this.ground.enterprise = Enterprise::Exclusive(document.source().clone());
            }
            this.settings(document.root(), Layer::Managed);
            this.managed_servers(document);
        });
    }

    fn managed_servers(&mut self, document: &Document<'_>) {
        let servers = document.root().and_then(|root| root.get("mcpServers"));
        match servers {
            Some(servers) if servers.as_object().is_none() => {
                let problem = Problem::not_an_object("mcpServers", servers);
                self.broken(Problem { severity: Severity::Managed, ..problem });
            }
            Some(_) | None => self.servers(document.root(), Scope::Enterprise, Provenance::Own),
        }
    }

    fn managed_file(&mut self, reading: Reading, then: impl FnOnce(&mut Self, &Document<'_>)) {
        self.files.extend(reading.path().cloned());
        let opened = match reading.open() {
            Ok(Some(opened)) => opened,
            Ok(None) => return,
            Err(problem) => return self.broken(problem),
        };
        let document = match Document::parse(opened.source.clone(), &opened.text) {
            Ok(document) => document,
            Err(error) => return self.broken(opened.problem(&error)),
        };
        match document.root() {
            Some(root) if root.as_object().is_some() => {
                then(self, &document);
                if let Some(fault) = self.ground.settings.broken_policy.take() {
                    self.broken(Problem::policy(fault));
                }
            }
            Some(root) => {
                let problem = Problem::not_an_object("the file", root);
                self.broken(Problem { severity: Severity::Managed, ..problem });
            }
            // A full disk or a broken roll-out leaves an empty file behind, which must not lift the policy.
            None => self.broken(Problem::nothing_managed(opened.source.clone())),
        }
    }

    fn broken(&mut self, problem: Problem) {
        let source = problem.origin.source.clone();
        self.ground.enterprise = Enterprise::Broken { source, reason: problem.message.clone() };
        self.problems.push(problem.clone());
        self.managed_problem = Some(problem);
    }
}
