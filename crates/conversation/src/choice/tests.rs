//! Tests of the model choice, as tables of variables.

use super::*;

fn env<'v>(variables: &'v [(&'v str, &'v str)]) -> impl Fn(&str) -> Option<String> + 'v {
    |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
}

// U4
#[test]
fn first_provider_with_a_key_is_chosen() {
    type Row<'r> = (&'r [(&'r str, &'r str)], Option<&'r str>);
    let table: &[Row<'_>] = &[
        (&[], None),
        (&[("ANTHROPIC_API_KEY", " ")], None),
        (&[("ANTHROPIC_API_KEY", "k")], Some("anthropic:claude-sonnet-5-5")),
        (&[("ANTHROPIC_AUTH_TOKEN", "k"), ("OPENAI_API_KEY", "k")], Some("anthropic:claude-sonnet-5-5")),
        (&[("ANTHROPIC_BASE_URL", "http://h"), ("OPENAI_API_KEY", "k")], Some("openai:gpt-5.4")),
        (
            &[("OPENAI_BASE_URL", "http://localhost:11434/v1"), ("OPENAI_MODEL", "llama3:8b")],
            Some("openai:llama3:8b"),
        ),
        (&[("GOOGLE_API_KEY", "k")], Some("gemini:gemini-flash-latest")),
        (&[("GEMINI_API_KEY", "k"), ("GEMINI_MODEL", "gemini-x")], Some("gemini:gemini-x")),
        (
            &[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k"), ("MCPARLEY_MODEL", "openai")],
            Some("openai:gpt-5.4"),
        ),
    ];
    for (variables, expected) in table {
        let choice = ModelChoice::from_env(env(variables)).unwrap();
        assert_eq!(choice.map(|choice| choice.to_string()).as_deref(), *expected, "{variables:?}");
    }
}

// U4
#[test]
fn named_model_is_found_by_provider_or_by_its_name() {
    let variables = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k"), ("OPENAI_MODEL", "mine")];
    let table = [
        ("anthropic:claude-x", "anthropic:claude-x"),
        ("openai", "openai:mine"),
        ("gpt-9", "openai:gpt-9"),
        ("claude-x", "anthropic:claude-x"),
        ("llama3:8b", "anthropic:llama3:8b"),
        ("openai:llama3:8b", "openai:llama3:8b"),
    ];
    for (text, expected) in table {
        assert_eq!(ModelChoice::select(text, env(&variables)).unwrap().to_string(), expected, "{text}");
    }
}

// U4
#[test]
fn unusable_choice_names_the_variable_to_set() {
    type Row = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);
    let table: [Row; 6] = [
        ("gemini:x", &[], "there is no key for Gemini", "`GEMINI_API_KEY` or `GOOGLE_API_KEY`"),
        ("mystery", &[], "no provider is configured for the model `mystery`", "openai:MODEL"),
        ("openai:", &[("OPENAI_API_KEY", "k")], "the name of the model is empty", "provider:model"),
        (
            "openai",
            &[("OPENAI_BASE_URL", "ftp://h")],
            "`OPENAI_BASE_URL` is not the address of an API",
            "OPENAI_BASE_URL",
        ),
        ("openai", &[("OPENAI_BASE_URL", "http://me:pw@h")], "it contains a password", "OPENAI_BASE_URL"),
        ("openai", &[("OPENAI_API_KEY", "a\nb")], "`OPENAI_API_KEY` holds characters", "without line breaks"),
    ];
    for (text, variables, message, hint) in table {
        let error = ModelChoice::select(text, env(variables)).unwrap_err();
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert!(error.hint().unwrap().contains(hint), "{text}: {:?}", error.hint());
    }
}

// U4
#[test]
fn key_is_never_printed() {
    let choice = ModelChoice::from_env(env(&[("OPENAI_API_KEY", "sk-canary")])).unwrap().unwrap();
    assert!(!format!("{choice} {choice:?} {:?}", choice.credential()).contains("canary"));
}
