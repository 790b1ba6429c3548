//! Prompts as tables: how they are read, named, called, and what they give.

mod arguments;
mod reading;

use mcparley_model::name::{Names, ServerName};
use mcparley_wire::RawJson;
use serde_json::Value;

use super::Prompts;
use crate::surface::Surface;

/// The prompts of one server, listed so.
fn prompts(server: &str, listed: &[Value]) -> Prompts {
    let surface = surface(listed);
    Prompts::of(&mut Names::default(), [(&ServerName::new(server), &surface)].into_iter())
}

fn surface(listed: &[Value]) -> Surface {
    let prompts = listed.iter().map(|prompt| RawJson::of(prompt).unwrap()).collect();
    Surface { prompts, ..Surface::default() }
}
