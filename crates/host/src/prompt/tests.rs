//! Prompts as tables: parsing, naming, calling, and their messages.

mod arguments;
mod reading;

use mcparley_model::name::{PublicNames, ServerName};
use mcparley_wire::RawJson;
use serde_json::Value;

use super::Prompts;
use mcparley_pool::surface::Surface;

/// The prompts of one server, listed so.
fn prompts(server: &str, listed: &[Value]) -> Prompts {
    let surface = surface(listed);
    Prompts::from_surfaces(&mut PublicNames::default(), [(&ServerName::new(server), &surface)].into_iter())
}

fn surface(listed: &[Value]) -> Surface {
    let prompts = listed.iter().map(|prompt| RawJson::from_value(prompt).unwrap()).collect();
    Surface { prompts, ..Surface::default() }
}
