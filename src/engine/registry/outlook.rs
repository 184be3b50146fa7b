//! The state of locations as it decides whether their votes count, for people who ask why a service has its status.

use crate::clock::Timestamp;
use crate::engine::registry::{LocationRegistry, RegisteredLocation};
use crate::model::ballot::{LocationOutlook, VoteExclusion};

impl LocationRegistry {
    /// Returns the locations that check a service of this organisation, as far as this process knows: the assigned ones,
    /// or all if none are assigned.
    #[must_use]
    pub fn outlooks(
        &self,
        assigned: Option<&[String]>,
        organisation: i64,
        now: Timestamp,
    ) -> Vec<LocationOutlook> {
        self.locations_for(assigned).iter().map(|known| known.outlook(organisation, now)).collect()
    }
}

impl RegisteredLocation {
    fn outlook(&self, organisation: i64, now: Timestamp) -> LocationOutlook {
        let suspect = self.suspicion().is_suspect(organisation).then_some(VoteExclusion::Suspect);
        LocationOutlook {
            code: self.location.code.as_str().to_owned(),
            name: self.location.name.clone(),
            exclusion: self.impaired_by().map(VoteExclusion::Impaired).or(suspect),
            is_offline: !self.is_online(now),
            recovered_at: self.recovered_at(now),
            blind_since: self.blind_since(now),
        }
    }
}
