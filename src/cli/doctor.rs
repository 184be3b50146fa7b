//! `watchkeeper doctor`: flags and output; the work is done in `crate::doctor`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::picture::paint;
use crate::cli::printable::printable;
use crate::cli::running::say;
use crate::cli::variables;
use crate::config::Config;
use crate::doctor::{DoctorFinding, FindingVerdict, counted, examine};

const DOCTOR_ABOUT: &str = "\
Look at an installation and its machine: what is fine, what is not, and what to do next.

Looks at the settings, the data folder and its disk, the secret key, both databases, the server if it runs, name servers, NATS, \
public_api_url, its certificate and its clock, names of status pages, pings, descriptors, backups and the mail servers of channels (no mail is sent, nobody logs in). It changes nothing, and may run beside the server. What could not be found out is 'unknown', \
never 'fine'. Run it as the user of the server.

--json prints {\"has_problem\": bool, \"findings\": [{\"check\", \"verdict\": \"fine\" | \"warning\" | \"unknown\" | \"problem\", \"said\", \
\"advice\": text or null}]}.

  watchkeeper doctor
  watchkeeper doctor --json | jq '.findings[] | select(.verdict != \"fine\")'

Exit codes: 0 no problem (there may be warnings), 1 a problem, 2 wrong usage or settings that cannot be read.";

/// Check an installation and its machine, and say what to do
#[derive(Args)]
#[command(long_about = DOCTOR_ABOUT)]
pub(super) struct DoctorArguments {
    /// Seconds that each check may take
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    patience: u64,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

/// Runs all checks and prints the findings.
pub(super) async fn run(
    arguments: &DoctorArguments,
    config: &Config,
    file: Option<&Path>,
    command: &clap::Command,
) -> ExitCode {
    let mut findings = settings_of(file, command);
    findings.extend(examine(config, Duration::from_secs(arguments.patience)).await);
    let has_problem = findings.iter().any(|finding| finding.verdict == FindingVerdict::Problem);
    if arguments.as_json {
        say(&json!({"has_problem": has_problem, "findings": findings}).to_string());
    } else {
        let colours = std::io::stdout().is_terminal();
        findings.iter().for_each(|finding| say(&line(finding, colours)));
        say(&summary(&findings));
    }
    if has_problem { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns findings about the settings, which were read successfully: a warning for each unknown variable, or that all is
/// fine.
fn settings_of(file: Option<&Path>, command: &clap::Command) -> Vec<DoctorFinding> {
    let unknown = variables::unknown_of_process(command);
    if unknown.is_empty() {
        let from = file.map_or_else(|| "no file".to_owned(), |file| file.display().to_string());
        return vec![DoctorFinding::fine("settings", format!("read from {from}, variables and flags"))];
    }
    let warn = |(name, meant): (String, Option<String>)| {
        let advice = meant.map_or_else(
            || "see watchkeeper serve --help".to_owned(),
            |meant| format!("did you mean {meant}?"),
        );
        DoctorFinding::warning("settings", format!("{name} is not a setting and is ignored"), advice)
    };
    unknown.into_iter().map(warn).collect()
}

fn line(finding: &DoctorFinding, colours: bool) -> String {
    let DoctorFinding { check, verdict, observation, advice } = finding;
    let colour = match verdict {
        FindingVerdict::Fine => "32",
        FindingVerdict::Warning | FindingVerdict::Unknown => "33",
        FindingVerdict::Problem => "31",
    };
    let word = paint(&format!("{:<8}", verdict.as_str()), colour, colours);
    let line = format!("{word} {check:<17} {}", printable(observation));
    match advice {
        Some(advice) => format!("{line}\n{:>26} -> {}", "", printable(advice)),
        None => line,
    }
}

fn summary(findings: &[DoctorFinding]) -> String {
    let count = |wanted| findings.iter().map(|finding| u64::from(finding.verdict == wanted)).sum::<u64>();
    format!(
        "{}, {}, {} not known, {} fine.",
        counted(count(FindingVerdict::Problem), "problem"),
        counted(count(FindingVerdict::Warning), "warning"),
        count(FindingVerdict::Unknown),
        count(FindingVerdict::Fine)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_line_shows_the_verdict_and_the_remedy() {
        let fine = DoctorFinding::fine("disk", "9 MiB free");
        assert_eq!(line(&fine, false), "fine     disk              9 MiB free");
        let odd = DoctorFinding::problem("server", "\u{1b}[2J", "look");
        let text = line(&odd, false);
        assert!(text.starts_with("problem  server") && text.ends_with("-> look"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(summary(&[fine, odd]), "1 problem, 0 warnings, 0 not known, 1 fine.");
    }
}
