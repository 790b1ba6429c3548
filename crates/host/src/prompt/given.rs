//! Decides which value belongs to which argument, and says so when it cannot, before anybody is asked.

use serde_json::{Map, Value};

use super::command::Given;
use super::error::PromptError;
use super::{Prompt, PromptArgument};

/// The arguments of a request.
pub(super) fn arguments(prompt: &Prompt, given: &[Given]) -> Result<Map<String, Value>, PromptError> {
    let mut values: Vec<Option<&str>> = vec![None; prompt.arguments.len()];
    let mut joined = Vec::new();
    for given in given {
        match given {
            Given::Next(value) => joined.push((given, value.clone())),
            Given::Named { name, value } => {
                let place = prompt.place(name).ok_or_else(|| prompt.unknown(name))?;
                prompt.put(&mut values, place, value)?;
            }
            Given::Either { name, value } => match prompt.place(name) {
                Some(place) => prompt.put(&mut values, place, value)?,
                None => joined.push((given, given.word())),
            },
        }
    }
    for (given, value) in &joined {
        match values.iter_mut().find(|value| value.is_none()) {
            Some(free) => *free = Some(value),
            None => return Err(prompt.surplus(&given.word())),
        }
    }
    let told = prompt.arguments.iter().zip(&values);
    if let Some((missing, _)) = told.clone().find(|(argument, value)| argument.required && value.is_none()) {
        return Err(prompt.missing(missing));
    }
    let told = told.filter_map(|(argument, value)| Some((argument.raw.clone(), Value::from((*value)?))));
    Ok(told.collect())
}

impl Prompt {
    /// How it is used, on one line: what may be left out stands in brackets.
    #[must_use]
    pub fn usage(&self) -> String {
        let word = |argument: &PromptArgument| match argument.required {
            true => format!(" <{}>", argument.name),
            false => format!(" [{}]", argument.name),
        };
        format!("/{}{}", self.name, self.arguments.iter().map(word).collect::<String>())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|argument| argument.name == name || argument.raw == name)
    }

    fn put<'v>(
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

    fn unknown(&self, argument: &str) -> PromptError {
        PromptError::UnknownArgument { argument: argument.to_owned(), usage: self.usage() }
    }

    fn surplus(&self, value: &str) -> PromptError {
        PromptError::Surplus { value: value.to_owned(), takes: self.arguments.len(), usage: self.usage() }
    }

    fn missing(&self, argument: &PromptArgument) -> PromptError {
        let (name, description) = (argument.name.clone(), argument.description.clone());
        PromptError::Missing { argument: name, description, usage: self.usage() }
    }
}
