//! The device grant (RFC 8628): a person who approves when their page is fetched, or after so many polls.

use super::clients::Shown;
use super::form::Form;
use super::grants::Issue;
use super::tokens::Grant;
use super::{Origins, Reply, State, metadata};
use crate::http::request::HttpRequest;
use mcparley_testkit::Lie;
use serde_json::json;
use std::collections::HashMap;

/// The devices that wait, by their secret code.
#[derive(Debug, Default)]
pub(crate) struct Devices(HashMap<String, Device>);

#[derive(Debug)]
struct Device {
    user_code: String,
    grant: Grant,
    polls: u64,
    is_approved: bool,
}

impl State {
    pub(super) fn begin_device(&mut self, origins: &Origins, request: &HttpRequest) -> Reply {
        let form = Form::of_body(request);
        let shown = self.identify(request, &form);
        self.book.request("device_authorization");
        self.book.keep("device_authorization", form.to_value_with(&shown));
        if !self.is_authentic(&shown) {
            return Reply::error(401, "invalid_client");
        }
        let grant = self.granted(&form, shown.id);
        let code = self.tokens.name("device");
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
        self.devices.0.insert(code, Device { user_code, grant, polls: 0, is_approved: false });
        Reply::json(200, body)
    }

    /// The person's page: fetching it with the code is to agree.
    pub(super) fn approve_device(&mut self, form: &Form) -> Reply {
        self.book.request("device");
        let found =
            self.devices.0.values_mut().find(|device| form.get("user_code") == Some(&device.user_code));
        match found {
            Some(device) => {
                device.is_approved = true;
                Reply::json(200, json!({ "approved": device.user_code }))
            }
            None => Reply::error(404, "no_such_code"),
        }
    }

    /// Slow first, then pending, then the end; a fetched page ends the waiting.
    pub(super) fn poll_device(&mut self, form: &Form, shown: &Shown) -> Result<Issue, &'static str> {
        let code = form.get("device_code").unwrap_or_default();
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
                Ok(Issue::Tokens { grant: device.grant, refresh: None })
            }
        }
    }
}
