//! The device grant (RFC 8628), with a user who approves when the page is fetched or after a number of polls.

use super::clients::ClientCredentials;
use super::form::FormParameters;
use super::grants::GrantIssue;
use super::tokens::FakeGrant;
use super::{OAuthReply, ServerOrigins, State, metadata};
use crate::http::request::HttpRequest;
use mcparley_testkit::Lie;
use serde_json::json;
use std::collections::HashMap;

/// The pending devices, by their device code.
#[derive(Debug, Default)]
pub(crate) struct PendingDevices(HashMap<String, PendingDevice>);

#[derive(Debug)]
struct PendingDevice {
    user_code: String,
    grant: FakeGrant,
    polls: u64,
    is_approved: bool,
}

impl State {
    pub(super) fn start_device_grant(
        &mut self,
        origins: &ServerOrigins,
        request: &HttpRequest,
    ) -> OAuthReply {
        let form = FormParameters::from_body(request);
        let shown = self.client_credentials(request, &form);
        self.book.count_request("device_authorization");
        self.book.store_parameters("device_authorization", form.to_value_with(&shown));
        if !self.is_authentic(&shown) {
            return OAuthReply::error(401, "invalid_client");
        }
        let grant = self.new_grant(&form, shown.id);
        let code = self.tokens.unique_name("device");
        let user_code = format!("WDJB-{:04}", self.devices.0.len() + 1);
        let page = format!("{}/device", metadata::issuer(&self.lies, origins));
        let mut body = json!({
            "device_code": code, "user_code": user_code, "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code={user_code}"), "expires_in": 600,
        });
        let interval = self.lies.number(Lie::DeviceInterval);
        if interval > 0 {
            body["interval"] = json!(interval);
        }
        self.devices.0.insert(code, PendingDevice { user_code, grant, polls: 0, is_approved: false });
        OAuthReply::json(200, body)
    }

    /// The verification page: fetching it with the user code approves the device.
    pub(super) fn approve_device(&mut self, form: &FormParameters) -> OAuthReply {
        self.book.count_request("device");
        let found =
            self.devices.0.values_mut().find(|device| form.parameter("user_code") == Some(&device.user_code));
        match found {
            Some(device) => {
                device.is_approved = true;
                OAuthReply::json(200, json!({ "approved": device.user_code }))
            }
            None => OAuthReply::error(404, "no_such_code"),
        }
    }

    /// Answers a poll: `slow_down` first, then `authorization_pending`, then the result; approval ends the
    /// waiting.
    pub(super) fn poll_device(
        &mut self,
        form: &FormParameters,
        shown: &ClientCredentials,
    ) -> Result<GrantIssue, &'static str> {
        let code = form.parameter("device_code").unwrap_or_default();
        let slow = self.lies.number(Lie::DeviceSlow);
        let pending = slow + self.lies.number(Lie::DevicePending);
        let device = self.devices.0.get_mut(code).filter(|device| device.grant.client == shown.id);
        let device = device.ok_or("invalid_grant")?;
        device.polls += 1;
        if device.polls <= slow {
            return Err("slow_down");
        }
        if device.polls <= pending && !device.is_approved {
            return Err("authorization_pending");
        }
        match self.lies.text(Lie::DeviceEnd).as_str() {
            "access_denied" => Err("access_denied"),
            "expired_token" => Err("expired_token"),
            _ => {
                let device = self.devices.0.remove(code).ok_or("invalid_grant")?;
                Ok(GrantIssue::Tokens { grant: device.grant, refresh: None })
            }
        }
    }
}
