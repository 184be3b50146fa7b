//! `watchkeeper nats-config`: writes a folder with the files of a NATS server, engine nodes and locations.
//!
//! This module has the flags, the defaults from an earlier run, and the summary of the files; the work is done in
//! `bus::installation`. The command takes no settings of the program, since it does not connect to anything.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::bus::certificates::SERVER_YEARS;
use crate::bus::installation::{BusInstallation, InstallationFiles};
use crate::bus::server_config::{OwnCertificate, ServerChoices};
use crate::bus::streams::room_needed;
use crate::clock::Clock;
use crate::config::byte_size::ByteSize;
use crate::config::limits::BusLimits;
use crate::config::sources::ConfigError;
use crate::model::node::NodeName;

const LISTEN: &str = "0.0.0.0:4222";
const MAX_BYTES: u64 = 10 << 30;

const LONG_ABOUT: &str = "\
Write the configuration of a NATS server for several engine nodes and locations in other places, with all keys and \
credentials.

It connects to nothing and needs no NATS: it writes a folder. Give its files to those that the summary names, and start \
nats-server 2.11 or newer with -c nats-server.conf. One process alone needs none of this.

  watchkeeper nats-config --out nats --node a --node b --server-name nats.example.net

In the folder:
  nats-server.conf     the server's configuration; holds no secret
  tls/ca.pem           the authority that every node and location pins; no secret
  tls/server.pem, .key the server's certificate and its key
  nodes/NAME.creds     credentials of one engine node
  locations.key        lets engine nodes sign locations; useless for anything else
  keys/                make nodes and certificates; no machine in service needs them
  nats-config.toml     what was chosen, for the next run

Given again, it keeps every key and all credentials, goes on with what was chosen before, makes credentials for further \
nodes, and writes configuration and server certificate anew (for the same key). A new node counts at once, a changed \
configuration from the server's next start. A file that should be a key and is none is never written over.

Nodes and locations live in two accounts. A location can reach nothing but its own subjects; what a stolen file can do is \
written beside it in the summary.

Exit codes: 0 all is written, 1 a file cannot be read or written, 2 wrong usage.";

/// Write the configuration of a NATS server for several nodes and locations
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct NatsConfigArguments {
    /// Folder to write, readable only by its owner
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Name of an engine node: 1 to 32 of a-z, 0-9, _ and -; may be repeated
    #[arg(long = "node", value_name = "NAME")]
    nodes: Vec<NodeName>,
    /// Address and port that the server listens on [default: 0.0.0.0:4222, or as chosen before]
    #[arg(long, value_name = "HOST:PORT", value_parser = host_and_port)]
    listen: Option<String>,
    /// Host name or address by which nodes and locations reach the server; may be repeated [default: localhost, 127.0.0.1
    /// and ::1, or as chosen before]
    #[arg(long = "server-name", value_name = "HOST")]
    names: Vec<String>,
    /// The folder on the server's machine that gets nats-server.conf and tls/ [default: the folder to write]
    #[arg(long, value_name = "FOLDER")]
    server_folder: Option<PathBuf>,
    /// The folder on the server's machine for messages [default: jetstream in the server's folder]
    #[arg(long, value_name = "FOLDER")]
    store_folder: Option<PathBuf>,
    /// Maximum bytes of messages on the server's disk, such as 20GiB [default: 10GiB, or as chosen before]
    #[arg(long, value_name = "SIZE")]
    max_bytes: Option<ByteSize>,
    /// The server's certificate with its chain (PEM) on its machine, instead of a generated one
    #[arg(long, value_name = "FILE", requires_all = ["certificate_key", "authority"])]
    certificate: Option<PathBuf>,
    /// Key (PEM) of that certificate, on the server's machine
    #[arg(long, value_name = "FILE", requires = "certificate")]
    certificate_key: Option<PathBuf>,
    /// Authority (PEM) that signed the certificate; nodes and locations trust only this one
    #[arg(long, value_name = "FILE", requires = "certificate")]
    authority: Option<PathBuf>,
}

pub(super) fn run(arguments: NatsConfigArguments) -> anyhow::Result<ExitCode> {
    let out = std::path::absolute(&arguments.out).context("the folder to write")?;
    let installation = BusInstallation::at(&out);
    let nodes = arguments.nodes.clone();
    let before = installation.choices()?;
    if before.is_none() && nodes.is_empty() {
        return Err(ConfigError("--node is missing: name at least one engine node".into()).into());
    }
    let choices = choose(arguments, before, &out)?;
    let files = installation.write(&choices, &nodes, Clock::System.now())?;
    print!("{}", summary(&choices, &files));
    Ok(ExitCode::SUCCESS)
}

/// Choices by precedence: flags, the earlier run, defaults.
fn choose(
    arguments: NatsConfigArguments,
    before: Option<ServerChoices>,
    out: &Path,
) -> Result<ServerChoices, ConfigError> {
    let mut choices = before.unwrap_or_else(|| ServerChoices {
        listen: LISTEN.into(),
        names: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec(),
        server_folder: out.to_owned(),
        store_folder: out.join("jetstream"),
        max_bytes: MAX_BYTES,
        own_certificate: None,
    });
    if let Some(folder) = arguments.server_folder {
        choices.store_folder = folder.join("jetstream");
        choices.server_folder = folder;
    }
    choices.listen = arguments.listen.unwrap_or(choices.listen);
    choices.store_folder = arguments.store_folder.unwrap_or(choices.store_folder);
    choices.max_bytes = arguments.max_bytes.map_or(choices.max_bytes, ByteSize::get);
    if !arguments.names.is_empty() {
        choices.names = arguments.names;
    }
    let own = (arguments.certificate, arguments.certificate_key, arguments.authority);
    if let (Some(certificate), Some(key), Some(authority)) = own {
        choices.own_certificate = Some(OwnCertificate { certificate, key, authority });
    }
    let needed = room_needed(&BusLimits::default());
    if choices.max_bytes < needed {
        let least = needed.div_ceil(1 << 20);
        return Err(ConfigError(format!("--max-bytes: the streams need at least {least}MiB")));
    }
    Ok(choices)
}

/// Describes each file: its purpose, and who may have it.
fn summary(choices: &ServerChoices, files: &InstallationFiles) -> String {
    let mut text = String::new();
    let mut say = |line: String| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{line}");
    };
    say("For the NATS server:".into());
    say(format!("  {}  no secret", files.configuration.display()));
    match &files.certificate {
        Some((certificate, key)) => {
            say(format!(
                "  {}  no secret; for {}; valid for {SERVER_YEARS} years",
                certificate.display(),
                choices.names.join(", ")
            ));
            say(format!("  {}  secret: anyone who has it can impersonate the server", key.display()));
        }
        None => say("  the server uses your own certificate, which the configuration names".into()),
    }
    say(format!(
        "  start it with: nats-server -c {}",
        choices.server_folder.join("nats-server.conf").display()
    ));
    say("For every engine node and every location:".into());
    say(format!("  {}  no secret; pin it: nats_ca_file", files.authority.display()));
    say("For one engine node each:".into());
    for (node, file, is_new) in &files.nodes {
        let age = if *is_new { "new" } else { "kept" };
        say(format!(
            "  {}  secret: anyone who has it can act as node {node} ({age}); nats_credentials",
            file.display()
        ));
    }
    say("For engine nodes only:".into());
    say(format!(
        "  {}  secret: anyone who has it can impersonate any location; nats_locations_key",
        files.locations_key.display()
    ));
    say("To keep offline, where no server runs, with a copy:".into());
    say(format!(
        "  {}  secret: anyone who has it can create nodes and read everything",
        files.keys.display()
    ));
    text
}

fn host_and_port(text: &str) -> Result<String, &'static str> {
    let fits = |(host, port): (&str, &str)| {
        let is_host = !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
        is_host && port.parse::<u16>().is_ok()
    };
    if text.rsplit_once(':').is_some_and(fits) { Ok(text.to_owned()) } else { Err("such as 0.0.0.0:4222") }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    fn arguments(given: &[&str]) -> NatsConfigArguments {
        let command = NatsConfigArguments::augment_args(clap::Command::new("nats-config"));
        let all = ["nats-config", "--out", "/o"].iter().chain(given);
        NatsConfigArguments::from_arg_matches(&command.get_matches_from(all)).unwrap()
    }

    #[test]
    fn earlier_choices_stay_unless_given_again() {
        let out = Path::new("/o");
        let first = choose(
            arguments(&[
                "--listen",
                "10.0.0.1:4222",
                "--server-name",
                "nats.example.net",
                "--server-folder",
                "/etc/nats",
            ]),
            None,
            out,
        );
        let first = first.unwrap();
        assert_eq!(first.store_folder, Path::new("/etc/nats/jetstream"));
        assert_eq!(choose(arguments(&[]), Some(first.clone()), out).unwrap(), first);
        let second = choose(arguments(&["--listen", "10.0.0.1:4333"]), Some(first), out).unwrap();
        assert_eq!((second.listen.as_str(), second.names[0].as_str()), ("10.0.0.1:4333", "nats.example.net"));
    }

    #[test]
    fn the_streams_must_fit() {
        let refused = choose(arguments(&["--max-bytes", "64MiB"]), None, Path::new("/o")).unwrap_err();
        assert!(refused.to_string().starts_with("--max-bytes: the streams need at least "), "{refused}");
    }

    #[rstest::rstest]
    #[case("0.0.0.0:4222", true)]
    #[case("[::]:4222", true)]
    #[case("nats.example.net:4222", true)]
    #[case("4222", false)]
    #[case(":4222", false)]
    #[case("a\n}:1", false)]
    #[case("a:70000", false)]
    fn the_server_listens_on_a_host_and_a_port(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(host_and_port(text).is_ok(), fits);
    }
}
