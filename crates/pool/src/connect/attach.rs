//! Asks the daemon for a local server before it is started here.

use std::path::Path;
use std::sync::Arc;

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::signature::Signature;
use mcparley_wire::transport::attached::{AttachedProcess, AttachedTransport};

use super::{ConnectContext, DialTarget, ServerDial};
use crate::attach::DaemonLink;
use crate::attach::protocol::{ATTACH_PROTOCOL, AttachRequest, LaunchRequest};

impl ConnectContext {
    /// The request of this context for the server of this entry, as it would be sent on this link; `None` if the entry
    /// is not a program, or one whose command line or environment is not UTF-8.
    #[must_use]
    pub fn request_from_daemon(mut self, config: &ServerConfig, link: &DaemonLink) -> Option<AttachRequest> {
        self.dialer.daemon = Some(link.clone());
        let target = self.dial_target(config).ok()?;
        self.attach_request(config, &target).map(|(_, request)| request)
    }

    /// The request for the server of this entry, if a daemon is used and the entry is a program.
    pub(super) fn attach_request(
        &self,
        config: &ServerConfig,
        target: &DialTarget,
    ) -> Option<(DaemonLink, AttachRequest)> {
        let link = self.dialer.daemon.clone()?;
        let (TransportConfig::Stdio(stdio), DialTarget::Program(launch)) = (&config.transport, target) else {
            return None;
        };
        let idle_ms = config.idle_timeout.and_then(|idle| u64::try_from(idle.as_millis()).ok());
        let request = AttachRequest {
            wire: ATTACH_PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            server: self.server_name().unwrap_or_default().to_owned(),
            signature: Signature::from_config(config).to_string(),
            launch: LaunchRequest::from_launch(launch)?,
            has_own_folder: stdio.cwd.as_ref().is_some_and(|cwd| Path::new(cwd).is_absolute()),
            inherits_env: stdio.inherit_env,
            share: config.share.as_str().to_owned(),
            era: self.caches.eras.era_for(config).as_str().to_owned(),
            capabilities: self.client_capabilities(config),
            roots: self.services.server_roots(config, &self.dialer.paths).current_roots(),
            session: link.session().to_owned(),
            project: self.dialer.paths.project.clone(),
            message_limit: self.dialer.message_limit(),
            idle_ms,
            replaces: self.dialer.replaced_copy,
        };
        Some((link, request))
    }
}

impl ServerDial<'_> {
    /// Attaches to the server if the daemon runs it.
    pub(super) async fn attach_to_daemon(&mut self) -> Option<AttachedTransport> {
        let (link, request) = self.attach.clone()?;
        let attached = link.attach(request, &self.trace.process).await?;
        let streams = (attached.input, attached.output);
        let process = AttachedProcess { copy: attached.copy.copy, id: attached.copy.process };
        let server =
            AttachedTransport::start(streams, process, attached.stderr.clone(), Arc::clone(&self.handler));
        self.stderr = Some(attached.stderr);
        self.trace.lists = attached.copy.lists;
        self.trace.strays = Some(server.stray_record());
        Some(server)
    }
}
