//! `watchkeeper settings`: docs/configuration.md, generated from the settings.
//!
//! Keys, values, defaults and meanings come from the flags, the plans from the plan table. The rest is fixed text. A
//! test compares the page in the repository with this output, and parses its examples.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::{Arg, Command};

use crate::cli::settings;
use crate::egress::{AddressClass, networks_of};
use crate::model::access::Plan;

const BEFORE_SETTINGS: &str = "\
# Configuration

Made by `watchkeeper settings > docs/configuration.md`; a test compares it with the program.

Every setting has a key. It can be written in three places; later ones win:

1. the TOML file that `--config` or `WATCHKEEPER_CONFIG` names: `data_dir = \"/var/lib/watchkeeper\"`, with dots as tables;
2. the environment: `WATCHKEEPER_DATA_DIR`, the key in capitals, with `__` for a dot: `WATCHKEEPER_PROBE__DNS_SERVERS`;
3. a flag of any command: `--data-dir`, with `-` for `_` and for a dot: `--probe-dns-servers`.

`--config-file` is the same as `--config` everywhere; `watchkeeper check` has only this one, because its `--config` is the configuration of the check.

Lists are separated by commas, in a file they may be arrays as well. An empty text unsets an optional setting of the file. A wrong setting
is reported in one line that names the source, the key, the value and what is allowed, with exit code 2; so is an unknown key of the file.

## Settings

";

const BEFORE_ADDRESSES: &str = "
## Addresses that checks reach

Every connection of a check, also after a redirect, is filtered by its address: the address that a name resolves to, and the IPv4 address inside an IPv6
address. A check of a forbidden address fails with `target_blocked`.

| | `private-allowed` | `public-only` | addresses |
|---|---|---|---|
";

const BEFORE_PLANS: &str = "
## Several locations

`[[probe.locations]]` defines several locations of one process, such as one for each uplink; `location` is then ignored. It can be set only in a file.

```toml
[[probe.locations]]
code = \"fra\"                    # stable, never given to another place
name = \"Frankfurt\"
location = \"Germany\"            # country or region in words
country_code = \"DE\"
source_address = \"127.0.0.2\"    # address of this machine that its checks are sent from
reference_targets = [\"192.0.2.1\", \"192.0.2.53:53\"]    # hosts that show whether its network works
```

Without `name` the code is shown; the other keys are optional. Without `reference_targets` it uses those of `probe.reference_targets`, requested from its
`source_address`; [locations.md](locations.md) explains them.

## Plans

`[plans.free]`, `[plans.solo]`, `[plans.team]` and `[plans.business]` change numbers of the plan table. They can be set only in a file, and a change applies from
the next start.

```toml
[plans.team]
services = \"unlimited\"
min_interval_seconds = 15
```

";

const AFTER_PLANS: &str = "
The organisation of the first start has no limits: any number of everything, intervals from one second, 365 days.

## Names that existing clients expect

`compat.secret_placeholder`, `compat.token_prefix` and `compat.domain_txt_label` are in the table above. A fourth setting is a table, which can be set only in a file:
the members of `[compat.extra_statuspage_fields]` are merged into every status page that the API shows, for clients that require fields which
Watchkeeper does not have. They are constants: requests do not change them, and fields of the status page itself take precedence.

```toml
[compat.extra_statuspage_fields]
theme = \"default\"
layout = { columns = 1, show_search = false }
```

## Limits that are not settings

Sizes of queues, waits and the like are constants with unit and default in `src/config/limits.rs`; what a refusal means is in
[limits.md](limits.md#queues-sizes-and-waits).
";

pub(super) fn run() -> ExitCode {
    print!("{}", document());
    ExitCode::SUCCESS
}

fn document() -> String {
    [
        BEFORE_SETTINGS,
        &settings_table(),
        BEFORE_ADDRESSES,
        &address_table(),
        BEFORE_PLANS,
        &plan_table(),
        AFTER_PLANS,
    ]
    .concat()
}

fn settings_table() -> String {
    let mut table = "| key | value | default | |\n|---|---|---|---|\n".to_owned();
    let command = settings::augment(Command::new("serve"));
    let defaults = settings::defaults();
    for arg in command.get_arguments().filter(|arg| arg.get_id() != "config-file") {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let (meaning, in_words) = help.split_once(" [default: ").unwrap_or((&help, "]"));
        let default = match defaults.get(arg.get_id().as_str()) {
            Some(value) => format!("`{}`", value.replace(',', ", ")),
            None => in_words.trim_end_matches(']').to_owned(),
        };
        let _ = writeln!(table, "| `{}` | `{}` | {default} | {meaning} |", arg.get_id(), value_name(arg));
    }
    table
}

fn address_table() -> String {
    let row = |meaning: &str, private: &str, public: &str, class: AddressClass, more: &str| {
        let networks: Vec<String> = networks_of(class).iter().map(|network| format!("`{network}`")).collect();
        format!("| {meaning} | {private} | {public} | {}{more} |\n", networks.join(", "))
    };
    [
        row("this machine", "yes", "no", AddressClass::Loopback, ""),
        row("private, carrier and benchmark networks", "yes", "no", AddressClass::Private, ""),
        row(
            "link-local, cloud metadata, documentation, multicast, reserved",
            "no",
            "no",
            AddressClass::Never,
            ", and of IPv6 all that is neither above nor in `2000::/3`",
        ),
        "| everything else | yes | yes | |\n".to_owned(),
    ]
    .concat()
}

fn value_name(arg: &Arg) -> String {
    arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect()
}

fn plan_table() -> String {
    let plans = Plan::ALL.map(|plan| (plan.as_str(), plan.default_limits()));
    let mut table = format!(
        "| key |{}\n|---|{}\n",
        plans.each_ref().map(|(name, _)| format!(" {name} |")).concat(),
        "---|".repeat(plans.len())
    );
    let count = |count: Option<u32>| count.map_or_else(|| "unlimited".to_owned(), |count| count.to_string());
    let mut row = |key: &str, meaning: &str, cells: [String; Plan::ALL.len()]| {
        let _ = writeln!(table, "| `{key}`: {meaning} | {} |", cells.join(" | "));
    };
    let limits = plans.map(|(_, limits)| limits);
    let each = limits.each_ref();
    row(
        "api_access",
        "whether the API answers, apart from `/v1/me`",
        each.map(|limits| limits.api_access.to_string()),
    );
    row("services", "services that are not paused", each.map(|limits| count(limits.services)));
    row("tags", "tags that users created", each.map(|limits| count(limits.tags)));
    row(
        "published_statuspages",
        "status pages that are published",
        each.map(|limits| count(limits.published_statuspages)),
    );
    row("statuspages", "all status pages", each.map(|limits| count(limits.statuspages)));
    row("components", "components of a status page", each.map(|limits| count(limits.components)));
    row("custom_domains", "custom domains of a status page", each.map(|limits| count(limits.custom_domains)));
    row(
        "incident_policies",
        "rules for automatic incidents",
        each.map(|limits| count(limits.incident_policies)),
    );
    row(
        "access_scopes",
        "sets of tags that tokens are confined to",
        each.map(|limits| count(limits.access_scopes)),
    );
    row(
        "maintenance_series",
        "repeating maintenance windows",
        each.map(|limits| count(limits.maintenance_series)),
    );
    row(
        "notification_channels",
        "ways to notify people",
        each.map(|limits| count(limits.notification_channels)),
    );
    row("sla_targets", "SLA targets of services", each.map(|limits| count(limits.sla_targets)));
    row(
        "escalation_policies",
        "rules that say who is notified of incidents",
        each.map(|limits| count(limits.escalation_policies)),
    );
    row("contacts", "people who can be notified", each.map(|limits| count(limits.contacts)));
    row(
        "oncall_schedules",
        "schedules that say who is on duty",
        each.map(|limits| count(limits.oncall_schedules)),
    );
    row("subscribers", "subscribers of a status page", each.map(|limits| count(limits.subscribers)));
    row(
        "min_interval_seconds",
        "shortest interval of checks",
        each.map(|limits| limits.min_interval_seconds.to_string()),
    );
    row("retention_days", "days that results are kept", each.map(|limits| limits.retention_days.to_string()));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::sources;

    #[test]
    fn the_configuration_page_is_up_to_date() {
        let page = include_str!("../../docs/configuration.md");
        assert!(page == document(), "run: cargo run -- settings > docs/configuration.md");
    }

    #[test]
    fn the_examples_of_the_page_can_be_used() {
        let document = document();
        let examples: Vec<&str> =
            document.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert_eq!(examples.len(), 3);
        let folder = tempfile::tempdir().unwrap();
        for (number, example) in examples.iter().enumerate() {
            let file = folder.path().join(format!("{number}.toml"));
            std::fs::write(&file, example).unwrap();
            sources::read(Some(&file), Vec::new()).unwrap();
        }
    }
}
