//! Parses the statistics and the findings that libFuzzer prints.

/// The result of one run of libFuzzer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EngineOutput {
    /// The number of inputs that were run.
    pub(super) executions: u64,
    /// The number of inputs in a second.
    pub(super) rate: u64,
    /// The most memory, in MiB.
    pub(super) memory: u64,
    /// The files with inputs that broke a rule.
    pub(super) findings: Vec<String>,
}

impl EngineOutput {
    /// Parses the final statistics; a run that ended in a finding may have none.
    pub(super) fn parse(text: &str) -> Self {
        let number = |name: &str| {
            let line = text.lines().rev().find_map(|line| line.strip_prefix("stat::")?.strip_prefix(name));
            line.and_then(|line| line.trim_start_matches(':').trim().parse().ok()).unwrap_or_default()
        };
        let finding = |line: &str| Some(line.split_once("Test unit written to ")?.1.trim().to_owned());
        Self {
            executions: number("number_of_executed_units"),
            rate: number("average_exec_per_sec"),
            memory: number("peak_rss_mb"),
            findings: text.lines().filter_map(finding).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EngineOutput;

    #[test]
    fn statistics_and_findings_are_read() {
        let text = "\
INFO: seed corpus: files: 6 min: 44b\n\
artifact_prefix='a/'; Test unit written to a/crash-5f\n\
stat::number_of_executed_units: 1234567\n\
stat::average_exec_per_sec:     20576\n\
stat::new_units_added:          12\n\
stat::peak_rss_mb:              67\n";
        let expected = EngineOutput {
            executions: 1_234_567,
            rate: 20_576,
            memory: 67,
            findings: vec!["a/crash-5f".to_owned()],
        };
        assert_eq!(EngineOutput::parse(text), expected);
        assert_eq!(EngineOutput::parse("ERROR: cannot start\n"), EngineOutput::default());
    }
}
