//! Assigns the values of a prompt call to its arguments, with an error before any request is sent.

use serde_json::{Map, Value};

use super::command::PromptValue;
use super::error::PromptError;
use super::{Prompt, PromptArgument};

/// The arguments of the request.
pub(super) fn assign_values(
    prompt: &Prompt,
    given: &[PromptValue],
) -> Result<Map<String, Value>, PromptError> {
    let mut values: Vec<Option<&str>> = vec![None; prompt.arguments.len()];
    let mut joined = Vec::new();
    for given in given {
        match given {
            PromptValue::Next(value) => joined.push((given, value.clone())),
            PromptValue::Named { name, value } => {
                let place = prompt.argument_index(name).ok_or_else(|| prompt.unknown_argument_error(name))?;
                prompt.set_value(&mut values, place, value)?;
            }
            PromptValue::Either { name, value } => match prompt.argument_index(name) {
                Some(place) => prompt.set_value(&mut values, place, value)?,
                None => joined.push((given, given.typed_text())),
            },
        }
    }
    for (given, value) in &joined {
        match values.iter_mut().find(|value| value.is_none()) {
            Some(free) => *free = Some(value),
            None => return Err(prompt.surplus_value_error(&given.typed_text())),
        }
    }
    let assigned = prompt.arguments.iter().zip(&values);
    if let Some((missing, _)) =
        assigned.clone().find(|(argument, value)| argument.required && value.is_none())
    {
        return Err(prompt.missing_argument_error(missing));
    }
    let assigned =
        assigned.filter_map(|(argument, value)| Some((argument.raw.clone(), Value::from((*value)?))));
    Ok(assigned.collect())
}

impl Prompt {
    /// The usage line: optional arguments stand in brackets.
    #[must_use]
    pub fn usage(&self) -> String {
        let word = |argument: &PromptArgument| {
            if argument.required { format!(" <{}>", argument.name) } else { format!(" [{}]", argument.name) }
        };
        format!("/{}{}", self.name, self.arguments.iter().map(word).collect::<String>())
    }

    fn argument_index(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.name == name || argument.raw == name)
    }

    fn set_value<'v>(
        &self,
        values: &mut [Option<&'v str>],
        place: usize,
        value: &'v str,
    ) -> Result<(), PromptError> {
        match values.get_mut(place) {
            Some(free @ None) => {
                *free = Some(value);
                Ok(())
            }
            Some(Some(_)) | None => {
                let argument = self.arguments.get(place).map(|argument| argument.name.clone());
                Err(PromptError::Twice { argument: argument.unwrap_or_default(), usage: self.usage() })
            }
        }
    }

    fn unknown_argument_error(&self, argument: &str) -> PromptError {
        PromptError::UnknownArgument { argument: argument.to_owned(), usage: self.usage() }
    }

    fn surplus_value_error(&self, value: &str) -> PromptError {
        PromptError::Surplus { value: value.to_owned(), takes: self.arguments.len(), usage: self.usage() }
    }

    fn missing_argument_error(&self, argument: &PromptArgument) -> PromptError {
        let (name, description) = (argument.name.clone(), argument.description.clone());
        PromptError::Missing { argument: name, description, usage: self.usage() }
    }
}
