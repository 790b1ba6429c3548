//! What becomes of what real commands print.

mod faults;
mod runs;

use std::path::Path;
use std::time::Duration;

use mcparley_model::secret::Secret;
use mcparley_wire::authorizer::{Asking, Authorizer as _, Challenge, Credentials, Next, Wants};
use url::Url;

use super::{HeadersHelper, HelperError, Settings};

/// Far longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

fn settings(folder: &Path, command: &str) -> Settings {
    Settings {
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
    helper.headers(Asking { method: "POST", url: &url }).await.unwrap()
}

async fn refused(helper: &HeadersHelper, sent: &Credentials, wants: Wants) -> bool {
    let challenge = Challenge { wants, words: None };
    matches!(helper.refused(sent, &challenge).await, Next::Again)
}

/// The headers, opened.
fn opened(credentials: &Credentials) -> Vec<(&str, &str)> {
    credentials.headers.iter().map(|(name, value)| (name.as_str(), value.expose().as_str())).collect()
}

/// Why the command brings no headers.
async fn trouble(settings: Settings) -> HelperError {
    let helper = HeadersHelper::new(settings);
    assert_eq!(opened(&credentials(&helper).await), []);
    helper.trouble().unwrap()
}
