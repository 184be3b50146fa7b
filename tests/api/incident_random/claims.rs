//! Edits that people have made to incidents, which must not be undone: compared with the incidents as they are shown.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::client::Client;

/// An incident as the list shows it.
pub(crate) type Row = Value;

/// Edits of one incident.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claim {
    pub(crate) title: Option<String>,
    pub(crate) severity: Option<String>,
    pub(crate) status: Option<String>,
    /// People have reopened it, or chosen its services: they decide about its course.
    pub(crate) is_handled: bool,
    /// The time at which it ended, however it did.
    ended: Option<Value>,
}

/// All incidents that were ever seen.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    pub(crate) known: BTreeMap<String, Claim>,
    pub(crate) deleted: BTreeSet<String>,
}

pub(crate) fn id(row: &Row) -> &str {
    row["id"].as_str().unwrap()
}

/// Ids of the services that it affects.
pub(crate) fn services(row: &Row) -> Vec<String> {
    let services = row["services"].as_array().unwrap();
    services.iter().map(|service| service["id"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn is_automatic(row: &Row) -> bool {
    row["created_by"].is_null()
}

pub(crate) fn is_open(row: &Row) -> bool {
    row["resolved_at"].is_null()
}

/// All incidents, the newest first.
pub(crate) fn all(client: &Client) -> Vec<Row> {
    let mut found: BTreeMap<String, Row> = BTreeMap::new();
    for page in 1.. {
        let rows = client.get(&format!("/v1/incidents?per_page=100&page={page}")).expect(200).data();
        let rows = rows.as_array().unwrap();
        // One that is opened meanwhile moves the others to the next page.
        found.extend(rows.iter().map(|row| (id(row).to_owned(), row.clone())));
        if rows.len() < 100 {
            break;
        }
    }
    found.into_values().collect()
}

impl Claims {
    /// The edits of this incident, for additions.
    pub(crate) fn of(&mut self, id: &str) -> &mut Claim {
        self.known.entry(id.to_owned()).or_default()
    }

    /// People have opened it again, or moved its end.
    pub(crate) fn forget_end(&mut self, id: &str) {
        self.of(id).ended = None;
    }

    /// Contract 4.9, 4.10 of each incident as it is listed; gives those that are new.
    pub(crate) fn check(&mut self, rows: &[Row], about: &str) -> Vec<Row> {
        let mut new = Vec::new();
        for row in rows {
            assert!(!self.deleted.contains(id(row)), "{about}: it was deleted: {row}");
            check_row(row, about);
            if !self.known.contains_key(id(row)) {
                new.push(row.clone());
            }
            let claim = self.of(id(row));
            let said = [("title", &claim.title), ("severity", &claim.severity), ("status", &claim.status)];
            for (part, said) in said {
                let stays = said.as_ref().is_none_or(|said| row[part] == **said);
                assert!(stays, "{about}: people have said {part} {said:?}: {row}");
            }
            if let Some(ended) = &claim.ended {
                assert_eq!(*ended, row["resolved_at"], "{about}: what is over stays so: {row}");
            }
            claim.ended = Some(row["resolved_at"].clone()).filter(|end| !end.is_null());
        }
        new
    }
}

fn check_row(row: &Row, about: &str) {
    assert_eq!(is_open(row), row["status"] != "resolved", "{about}: {row}");
    let (start, end) = (row["started_at"].as_str().unwrap(), row["resolved_at"].as_str());
    assert!(end.is_none_or(|end| end >= start), "{about}: it ends before it begins: {row}");
    let services = services(row);
    assert_eq!(services.len(), services.iter().collect::<BTreeSet<_>>().len(), "{about}: {row}");
}

/// The timeline of one incident: in time order, and its last entry has its status, unless people set another.
pub(crate) fn check_timeline(whole: &Value, claim: &Claim, about: &str) {
    for key in ["updates", "internal_updates"] {
        let entries = whole[key].as_array().unwrap();
        let times: Vec<&str> = entries.iter().map(|entry| entry["created_at"].as_str().unwrap()).collect();
        assert!(times.is_sorted(), "{about}: {whole}");
    }
    let last = whole["updates"].as_array().unwrap().last().unwrap();
    if claim.status.is_none() && !claim.is_handled {
        assert_eq!(last["status"], whole["status"], "{about}: {whole}");
    }
    if whole["status"] == "resolved" {
        assert_eq!(last["status"], "resolved", "{about}: readers learn of the end: {whole}");
    }
}
