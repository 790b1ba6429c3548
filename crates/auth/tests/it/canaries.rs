//! No token, code, secret or verifier appears in output, logs or files.
//!
//! All secrets of the fake authorization server begin with `canary-`. Client ids do too, and are not secret.

use std::fmt::Debug;
use std::path::Path;

use mcparley_auth::{Account, Flow, SignInError, SignInMethod};
use mcparley_model::config::OauthConfig;
use mcparley_model::explain::Explain as _;
use mcparley_model::secret::Secret;
use mcparley_testkit::{STATIC_CLIENT, STATIC_SECRET};

use crate::renewals::carried;
use crate::signing::{Signing, browse, last_address};

/// All text that was shown.
#[derive(Default)]
struct Shown(String);

impl Shown {
    fn value(&mut self, value: &impl Debug) {
        self.0.push_str(&format!("{value:?} {value:#?}\n"));
    }

    fn error(&mut self, error: &SignInError) {
        self.0.push_str(&format!("{error} {error:?} {} {:?}\n", error.to_single_line(), error.hint()));
    }

    async fn account(&mut self, account: &Account) {
        self.value(account);
        self.value(&account.sign_in_status().await.unwrap());
        self.value(&carried(account).await);
    }

    /// The secrets in it.
    fn secrets(&self) -> Vec<&str> {
        self.0.split("canary-").skip(1).filter(|rest| !rest.starts_with("client-")).collect()
    }
}

/// Starts and finishes a sign-in, in a browser or by a pasted address; records all of it.
async fn signed_in(shown: &mut Shown, account: &Account, pasted: bool) {
    let flow: Flow = match account.begin_sign_in(SignInMethod::Browser).await {
        Ok(flow) => flow,
        Err(error) => return shown.error(&error),
    };
    shown.value(&flow);
    if pasted {
        let address = last_address(&flow).await;
        if let Err(error) = flow.paste_address(&address).await {
            shown.error(&error);
        }
    } else {
        shown.0.push_str(&browse(&flow).await.text());
    }
    if let Err(error) = flow.wait_until_done().await {
        shown.error(&error);
    }
    shown.value(&flow);
}

/// Collects the files below a folder that contain a canary.
fn files_with_canaries(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_with_canaries(&path, found);
        } else if std::fs::read(&path).unwrap().windows(7).any(|bytes| bytes == b"canary-") {
            found.push(path.display().to_string());
        }
    }
}

// B62
#[tokio::test]
async fn sign_in_and_its_failures_show_no_secret() {
    let secret = OauthConfig {
        client_id: Some(STATIC_CLIENT.to_owned()),
        client_secret: Some(Secret::new(STATIC_SECRET.to_owned())),
        ..OauthConfig::default()
    };
    for lie in [
        "token:good",
        "authorize:server_error",
        "authorize-state:wrong",
        "iss:wrong",
        "token:500",
        "token:garbage",
        "token-error:invalid_client",
        "token-type:mac",
        "dpop:yes",
    ] {
        // A wrong state does not belong to this sign-in, which continues to wait.
        let pasted = lie == "authorize-state:wrong";
        for oauth in [OauthConfig::default(), secret.clone()] {
            let signing = Signing::start(&["iss-advertised:yes"]);
            let account = signing.account_as(oauth);
            let mut shown = Shown::default();
            shown.value(&signing.accounts());
            signed_in(&mut shown, &account, false).await;
            shown.account(&account).await;
            signing.server.apply_lies(&[lie]);
            match pasted {
                true => {
                    let flow = account.begin_sign_in(SignInMethod::Browser).await.unwrap();
                    shown.error(&flow.paste_address(&last_address(&flow).await).await.unwrap_err());
                }
                false => signed_in(&mut shown, &account, lie != "token:good").await,
            }
            signing.server.expire_access_tokens();
            match signing.request(&account).await {
                Ok(answer) => shown.value(&answer),
                Err(failure) => shown.0.push_str(&format!("{failure} {failure:?}")),
            }
            shown.account(&account).await;
            shown.value(&account.sign_out().await.unwrap());
            let secrets: Vec<&str> =
                shown.secrets().into_iter().filter(|rest| !rest.starts_with("description")).collect();
            assert!(secrets.is_empty(), "{lie}: canary-{}", secrets[0]);
            let mut files = Vec::new();
            files_with_canaries(&signing.folder(), &mut files);
            assert_eq!(files, [""; 0], "{lie}");
        }
    }
}
