//! The two configuration fields that every type with a host as its target shares (contract 4.2.2).

use super::entry::{ConfigField, ConfigFieldKind};

pub(super) const IP_VERSION: ConfigField = ConfigField {
    name: "ip_version",
    kind: ConfigFieldKind::Select { options: &["auto", "ipv4", "ipv6"], default: "auto" },
    label: "Address family",
    required: false,
    secret: false,
    help: Some("With auto both families are tried and one answer is enough."),
};

pub(super) const SMART_DUALSTACK: ConfigField = ConfigField {
    name: "smart_dualstack",
    kind: ConfigFieldKind::Boolean { default: false },
    label: "Watch both address families",
    required: false,
    secret: false,
    help: Some(
        "Only with address family auto: a name that has IPv4 and IPv6 addresses is degraded when one of the two \
         families does not answer.",
    ),
};
