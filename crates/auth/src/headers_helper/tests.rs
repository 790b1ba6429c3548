//! The headers of real commands.

mod faults;
mod runs;

use std::path::Path;
use std::time::Duration;

use mcparley_model::secret::Secret;
use mcparley_wire::authorizer::{
    Authorizer as _, Challenge, ChallengeKind, Credentials, RequestTarget, RetryDecision,
};
use url::Url;

use super::{HeadersHelper, HelperError, HelperSettings};

/// Far longer than any test takes.
const LONG: Duration = Duration::from_secs(30);

fn settings(folder: &Path, command: &str) -> HelperSettings {
    HelperSettings {
        command: Secret::new(command.to_owned()),
        name: "my server".to_owned(),
        url: Secret::new(url()),
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("CLAUDE_CODE_MCP_SERVER_NAME".into(), "old".into()),
        ],
        cwd: folder.to_owned(),
        limit: LONG,
    }
}

fn url() -> Url {
    Url::parse("https://mcp.example/mcp?key=value").unwrap()
}

async fn credentials(helper: &HeadersHelper) -> Credentials {
    let url = url();
    helper.authorize_request(RequestTarget { method: "POST", url: &url }).await.unwrap()
}

async fn refused(helper: &HeadersHelper, sent: &Credentials, wants: ChallengeKind) -> bool {
    let challenge = Challenge { kind: wants, www_authenticate: None };
    matches!(helper.handle_refusal(sent, &challenge).await, RetryDecision::Retry)
}

/// The headers with exposed values.
fn opened(credentials: &Credentials) -> Vec<(&str, &str)> {
    credentials.headers.iter().map(|(name, value)| (name.as_str(), value.expose().as_str())).collect()
}

/// The error of the command.
async fn trouble(settings: HelperSettings) -> HelperError {
    let helper = HeadersHelper::new(settings);
    assert_eq!(opened(&credentials(&helper).await), []);
    helper.last_error().unwrap()
}
