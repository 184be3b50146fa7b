//! Reads `assigned_probes` and `probe_roles` (contract 4.3.4): the locations of a service, and their roles.
//!
//! Codes are checked against the active locations only when they are sent, so that a location that the operator has disabled
//! does not prevent other changes.

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::{BodyFields, FieldPatch};
use crate::http::kit::rule::FieldRule;
use crate::model::service::{ProbeRole, ServiceSettings};

/// Maximum number of locations of one service.
pub(super) const MAX_PROBES: usize = 50;

/// Codes and roles of the locations, in the form in which they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeAssignment {
    /// Codes in the client's order; `None` = all.
    pub probes: Option<Vec<String>>,
    /// Roles by code; `None` = all `full`.
    pub roles: Option<Vec<(String, ProbeRole)>>,
}

impl ProbeAssignment {
    /// Reads both members; a missing one keeps its stored value. `active` are the codes of the active locations.
    #[must_use]
    pub fn read(
        members: &BodyFields<'_>,
        stored: Option<&ServiceSettings>,
        active: &[String],
    ) -> Option<Self> {
        let sent_probes = members.nullable("assigned_probes");
        let probes_sent = !matches!(sent_probes, FieldPatch::Absent);
        let probes = sent_probes.read(|field| read_codes(&field, active));
        let sent_roles = members.nullable("probe_roles");
        let roles_sent = !matches!(sent_roles, FieldPatch::Absent);
        let probes_are_wrong = probes_sent && probes == FieldPatch::Absent;
        let probes = probes.or_stored(stored.and_then(|stored| stored.assigned_probes.clone()));
        let in_effect = (!probes_are_wrong).then(|| probes.as_deref().unwrap_or(active));
        let roles = sent_roles.read(|field| read_roles(&field, in_effect));
        if probes_are_wrong || (roles_sent && roles == FieldPatch::Absent) {
            return None;
        }
        let roles = roles.or_stored(stored.and_then(|stored| stored.probe_roles.clone()));
        let assignment = Self { probes, roles };
        if probes_sent || roles_sent {
            assignment.check_roles(members, active);
        }
        Some(assignment)
    }

    /// Checks that roles belong to locations of the service, and that at least one location has the role `full`.
    fn check_roles(&self, members: &BodyFields<'_>, active: &[String]) {
        let in_effect = self.probes.as_deref().unwrap_or(active);
        let roles = self.roles.as_deref().unwrap_or_default();
        for (code, _) in roles.iter().filter(|(code, _)| !in_effect.contains(code)) {
            members.refuse(&format!("probe_roles.{code}"), FieldRule::ProbeRoleCode);
        }
        let reduced = |code: &String| {
            roles.iter().any(|(known, role)| known == code && *role == ProbeRole::Reachability)
        };
        if !in_effect.is_empty() && in_effect.iter().all(reduced) {
            members.refuse("probe_roles", FieldRule::ProbeFull);
        }
    }
}

fn read_codes(field: &BodyField<'_>, active: &[String]) -> Option<Vec<String>> {
    let entries = field.list(MAX_PROBES)?;
    if entries.is_empty() {
        return field.refuse(FieldRule::MinItems(1));
    }
    // All entries are read before the first error ends reading, so that every error is reported.
    let codes: Vec<Option<String>> = entries.iter().map(|entry| read_code(entry, active)).collect();
    let mut distinct: Vec<String> = Vec::new();
    for code in codes {
        let code = code?;
        if !distinct.contains(&code) {
            distinct.push(code);
        }
    }
    Some(distinct)
}

fn read_code(entry: &BodyField<'_>, active: &[String]) -> Option<String> {
    let code = entry.string()?.trim();
    if active.iter().any(|known| known == code) {
        Some(code.to_owned())
    } else {
        entry.refuse(FieldRule::Probe(code.to_owned()))
    }
}

/// Reads all roles of the object; `in_effect` is `None` if the sent codes are invalid.
fn read_roles(field: &BodyField<'_>, in_effect: Option<&[String]>) -> Option<Vec<(String, ProbeRole)>> {
    let is_assigned = |code: &str| in_effect.is_none_or(|codes| codes.iter().any(|known| known == code));
    let read = |(code, value): (&str, BodyField<'_>)| {
        let role = value.word(ProbeRole::WORDS)?.parse().ok()?;
        if is_assigned(code) { Some((code.to_owned(), role)) } else { value.refuse(FieldRule::ProbeRoleCode) }
    };
    let members = field.object()?;
    let roles: Vec<_> = members.each().map(read).collect();
    roles.into_iter().collect()
}
