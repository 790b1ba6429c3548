//! Tokens with the consent of a person: in a browser on this machine or another, or on another device (A1, A8).

use std::sync::Arc;
use std::time::SystemTime;

use mcparley_model::limits::SIGN_IN_TIME;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;
use serde_json::json;
use tokio::sync::mpsc;

use super::Account;
use super::key::Key;
use crate::authorize::{Answer, Attempt, AuthorizeError, Code, Identity as Asking, Wish};
use crate::callback::{Callback, Ending};
use crate::challenge::Asked;
use crate::client::{Client, Origin};
use crate::device::{self, DeviceError, DeviceRequest};
use crate::discover::{self, Discovered};
use crate::error::SignInError;
use crate::flow::{Flow, Pasted, Shown, Way};
use crate::grant::{Grant, Granted, Keys};
use crate::metadata::Server;
use crate::scopes::Renewal;
use crate::vault::Expected;
use crate::web::Body;

/// A sign-in that waits for its person.
struct Begun {
    found: Discovered,
    client: Client,
    scopes: Vec<String>,
    key: Key,
}

impl Account {
    /// Begins to sign in, or joins the sign-in that is under way.
    ///
    /// Nothing that works is lost by it: what is remembered is replaced when it has succeeded, and not before.
    ///
    /// # Errors
    /// When there is nobody to ask, or it cannot be found out whom.
    pub async fn begin(&self, way: Way) -> Result<Flow, SignInError> {
        let mut running = self.0.flow.lock().await;
        if let Some(flow) = running.upgrade().map(Flow::from_inner).filter(|flow| !flow.is_over()) {
            return Ok(flow);
        }
        let flow = self.start(way).await?;
        *running = flow.downgrade();
        Ok(flow)
    }

    /// The sign-in that is under way, if there is one.
    pub async fn running(&self) -> Option<Flow> {
        self.0.flow.lock().await.upgrade().map(Flow::from_inner).filter(|flow| !flow.is_over())
    }

    async fn start(&self, way: Way) -> Result<Flow, SignInError> {
        if let Some(vault) = &self.0.vault {
            // Nobody is bothered for what could not be kept.
            vault.keeper().await?;
        }
        if self.asked().is_none() {
            self.probe().await;
        }
        self.learn_grant().await;
        if !self.takes_a_person() {
            return Ok(self.start_alone());
        }
        if self.0.oauth.xaa {
            return self.start_with_identity().await;
        }
        match way {
            Way::Browser => self.start_in_browser().await,
            Way::Device => self.start_on_device().await,
        }
    }

    /// Asks the server without a token, to hear what it wants. Whatever it says otherwise does not matter.
    async fn probe(&self) {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let accept = ("accept", Secret::new("application/json, text/event-stream".to_owned()));
        let url = crate::discover::over_http(&self.0.url);
        let Ok(page) = self.0.web.post(&url, Body::Json(&ping), &[accept]).await else { return };
        let asked = page.header("www-authenticate").filter(|_| matches!(page.status, 401 | 403));
        if let Some(asked) = asked.and_then(Asked::read) {
            self.note(asked);
        }
    }

    fn start_alone(&self) -> Flow {
        let account = self.clone();
        Flow::start(&self.0.tasks, Shown::default(), async move |_pasted| account.sign_in_alone().await)
    }

    async fn start_with_identity(&self) -> Result<Flow, SignInError> {
        let identity = self.0.identity.clone().ok_or(SignInError::NoIdentity)?;
        if identity.knows_the_person().await {
            return Ok(self.start_alone());
        }
        // One window for all servers: whoever comes second joins.
        let asking = identity.begin().await?;
        let (shown, account) = (asking.shown(), self.clone());
        Ok(Flow::start(&self.0.tasks, shown, async move |mut pasted: mpsc::Receiver<Pasted>| {
            let done = asking.wait();
            let pass_on = async {
                while let Some(Pasted { text, reply }) = pasted.recv().await {
                    let _gone = reply.send(asking.paste(&text).await);
                }
            };
            tokio::select! {
                done = done => done.map_err(Arc::unwrap_or_clone)?,
                () = pass_on => asking.wait().await.map_err(Arc::unwrap_or_clone)?,
            }
            account.sign_in_alone().await
        }))
    }

    async fn start_in_browser(&self) -> Result<Flow, SignInError> {
        // Bound before anybody hears of it: a port that another program takes meanwhile would get the code (H18).
        let mut callback = self.callback().await?;
        let redirect = callback.redirect().clone();
        let begun = self.prepare(Some(&redirect)).await?;
        let thumbprint = begun.key.thumbprint();
        let wish = Wish {
            redirect: &redirect,
            resource: self.resource_parameter(&begun.found.audience),
            scopes: &begun.scopes,
            identity: Asking::Unasked,
            dpop_jkt: thumbprint.as_deref(),
        };
        let (attempt, page) = Attempt::begin(&begun.found.server, &begun.client, &wish)?;
        let (shown, account) = (Shown::new(page, None, &begun.found.server), self.clone());
        Ok(Flow::start(&self.0.tasks, shown, async move |pasted| {
            let answer = answer(&mut callback, &attempt, pasted).await?;
            let signed_in = match attempt.accept(&answer) {
                Ok(code) => account.redeem(begun, &code).await,
                Err(error) => Err(error.into()),
            };
            callback.close(Ending::of(&signed_in)).await;
            signed_in
        }))
    }

    /// A place for the browser to come back to: the configured port, the one that was registered, or a free one.
    async fn callback(&self) -> Result<Callback, SignInError> {
        if let Some(port) = self.0.oauth.callback_port {
            return Ok(Callback::bind(Some(port))?);
        }
        if let Some(redirect) = self.redirect_from_before().await
            && let Ok(callback) = Callback::bind_to(&redirect)
        {
            return Ok(callback);
        }
        Ok(Callback::bind(None)?)
    }

    async fn prepare(&self, redirect: Option<&url::Url>) -> Result<Begun, SignInError> {
        let (asked, wished) = (self.asked(), self.0.oauth.auth_server_metadata_url.as_ref());
        let found = match redirect {
            Some(_) => discover::discover(&self.0.web, &self.0.url, asked.as_ref(), wished).await?,
            None => discover::find(&self.0.web, &self.0.url, asked.as_ref(), wished).await?,
        };
        self.check_issuer(&found).await?;
        check_endpoint(&found.server, redirect)?;
        let scopes = self.scopes(&found, Renewal::Wanted).await;
        let client = self.client_for(&found.server, redirect, &scopes).await?;
        let key = Key::wanted(&found, asked.as_ref())?;
        Ok(Begun { found, client, scopes, key })
    }

    /// A client that was registered by hand belongs to one issuer. Another one is not shown its secret because a server
    /// says so (H33).
    pub(super) async fn check_issuer(&self, found: &Discovered) -> Result<(), SignInError> {
        let Some(kept) = self.kept().await else { return Ok(()) };
        let (before, now) = (&kept.record.issuer.issuer, &found.server.issuer);
        match kept.record.client.origin {
            Origin::Configured if before != now => {
                let (before, now) = (Untrusted::new(before), Untrusted::new(now));
                Err(SignInError::OtherIssuer { before, now })
            }
            Origin::Configured | Origin::Document | Origin::Registered => Ok(()),
        }
    }

    async fn redeem(&self, begun: Begun, code: &Code) -> Result<(), SignInError> {
        let _redeeming = self.0.redeeming.read().await;
        let Code { code, verifier, redirect, .. } = code;
        let grant = Grant::Code { code, verifier, redirect };
        let Begun { found, client, scopes, key } = &begun;
        let granted = self.ask(found, client, grant, scopes, key).await;
        if let Err(SignInError::Token(error)) = &granted
            && error.is_unknown_client()
        {
            self.disown(client).await;
        }
        self.arrive(begun, granted?).await
    }

    async fn start_on_device(&self) -> Result<Flow, SignInError> {
        let begun = self.prepare(None).await?;
        let signing = self.signing_key(&begun.client)?;
        let started = {
            let keys = Keys { signing: signing.as_ref(), possession: begun.key.possession() };
            device::start(&self.0.web, &begun.on_device(self, &keys), SystemTime::now()).await?
        };
        let page = started.page_with_code.clone().unwrap_or_else(|| started.page.clone());
        let user_code = Some(started.user_code.display().into_owned());
        let (shown, account) = (Shown::new(page, user_code, &begun.found.server), self.clone());
        Ok(Flow::start(&self.0.tasks, shown, async move |_pasted| {
            let granted = {
                let keys = Keys { signing: signing.as_ref(), possession: begun.key.possession() };
                let request = begun.on_device(&account, &keys);
                device::wait(&account.0.web, &request, &started, SystemTime::now).await?
            };
            account.arrive(begun, granted).await
        }))
    }

    /// Remembers what was given.
    async fn arrive(&self, begun: Begun, granted: Granted) -> Result<(), SignInError> {
        let Begun { found, client, key, scopes: _ } = begun;
        // Whoever renews what was there before has finished, or finds this.
        let _alone = self.0.renewing.lock().await;
        let _lock = self.lock().await?;
        let record = self.record(found, client, granted, &key).await?;
        self.write(record, Expected::Anything).await?;
        self.0.signed_in.send_modify(|count| *count += 1);
        Ok(())
    }
}

impl Begun {
    fn on_device<'r>(&'r self, account: &Account, keys: &'r Keys<'r>) -> DeviceRequest<'r> {
        let (server, resource) = (&self.found.server, account.resource_parameter(&self.found.audience));
        DeviceRequest { server, client: &self.client, resource, scopes: &self.scopes, keys }
    }
}

/// Whether the authorization server offers the way that was chosen, in a browser or on another device. Looked at before
/// anything is registered: nobody registers to find out.
fn check_endpoint(server: &Server, redirect: Option<&url::Url>) -> Result<(), SignInError> {
    match redirect {
        Some(_) if server.authorization_endpoint.is_none() => Err(AuthorizeError::NoEndpoint.into()),
        None if server.device_endpoint.is_none() => Err(DeviceError::NoWay.into()),
        Some(_) | None => Ok(()),
    }
}

/// The browser's answer: by its way back, or pasted by the person.
pub(crate) async fn answer(
    callback: &mut Callback,
    attempt: &Attempt,
    mut pasted: mpsc::Receiver<Pasted>,
) -> Result<Answer, SignInError> {
    let redirect = callback.redirect().clone();
    let by_hand = async {
        while let Some(Pasted { text, reply }) = pasted.recv().await {
            match Answer::from_pasted(&text, &redirect) {
                Ok(answer) if attempt.is_for(&answer) => {
                    let _gone = reply.send(Ok(()));
                    return answer;
                }
                Ok(_) => {
                    let _gone = reply.send(Err(SignInError::OtherAttempt));
                }
                Err(error) => {
                    let _gone = reply.send(Err(SignInError::Pasted(error)));
                }
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        answer = callback.wait(attempt, SIGN_IN_TIME) => Ok(answer?),
        answer = by_hand => Ok(answer),
    }
}
