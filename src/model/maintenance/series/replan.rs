//! Adapts existing maintenances to a changed series: those that follow it, those to create, those to remove.
//!
//! A maintenance that starts exactly when a window of the new rule starts belongs to that window. Otherwise it is matched
//! with a window on the same day in the zone of the series. This applies to maintenances that follow the series, to those
//! that members changed, and to windows that members removed: a Sunday that was skipped stays skipped when the series moves
//! from 02:00 to 03:00. Maintenances that have started are never changed.

use std::collections::BTreeMap;

use crate::clock::Timestamp;
use crate::model::maintenance::MaintenanceKey;
use crate::model::recurrence::{Occurrence, Recurrence};

/// The role of a maintenance when its series changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplanRole {
    /// Scheduled, and unchanged since the series created it.
    Follows,
    /// Scheduled, and changed by members.
    Stays,
    /// Started, ended or cancelled.
    Past,
}

/// A maintenance of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesMember {
    /// Database key of the maintenance.
    pub key: MaintenanceKey,
    /// Start of its window by the rule of the series.
    pub occurrence: Timestamp,
    /// How the maintenance is treated when the series changes.
    pub role: ReplanRole,
}

/// What a change of a series does to its maintenances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesReplan {
    /// Windows that get a new maintenance.
    pub created: Vec<Occurrence>,
    /// Maintenances that take the settings of the series, each with its new window.
    pub followed: Vec<(MaintenanceKey, Occurrence)>,
    /// Maintenances that keep their settings and their time, each with the start of the window that it now replaces.
    pub renamed: Vec<(MaintenanceKey, Timestamp)>,
    /// Maintenances for which the rule no longer has a window.
    pub removed: Vec<MaintenanceKey>,
    /// Start of a window that members removed, and start of the window that is now skipped instead.
    pub skipped: Vec<(Timestamp, Timestamp)>,
}

/// The windows that have no maintenance yet, by their start.
struct FreeOccurrences<'a> {
    windows: BTreeMap<i64, Occurrence>,
    recurrence: &'a Recurrence,
}

impl FreeOccurrences<'_> {
    /// Takes the window that starts at exactly this moment.
    fn take(&mut self, start: Timestamp) -> Option<Occurrence> {
        self.windows.remove(&start.ms())
    }

    /// Takes the window on the same day that is nearest to `start`.
    fn take_of_day(&mut self, start: Timestamp) -> Option<Occurrence> {
        let day = self.recurrence.day(start)?;
        let of_day = self.windows.values().filter(|window| self.recurrence.day(window.start) == Some(day));
        let nearest = of_day.min_by_key(|window| window.start.ms_since(start).abs())?.start;
        self.take(nearest)
    }
}

impl SeriesReplan {
    /// Compares the wanted windows with the existing maintenances, and with the windows that members removed.
    #[must_use]
    pub fn of(
        recurrence: &Recurrence,
        wanted: &[Occurrence],
        standing: &[SeriesMember],
        skips: &[Timestamp],
    ) -> Self {
        let windows = wanted.iter().map(|window| (window.start.ms(), *window)).collect();
        let mut free = FreeOccurrences { windows, recurrence };
        let mut plan = Self::default();
        let mut followers = Vec::new();
        let mut exceptions = Vec::new();
        for one in standing {
            match (one.role, free.take(one.occurrence)) {
                (ReplanRole::Follows, Some(window)) => plan.followed.push((one.key, window)),
                (ReplanRole::Follows, None) => followers.push(one),
                (ReplanRole::Stays, None) => exceptions.push(one),
                (ReplanRole::Stays | ReplanRole::Past, _) => {}
            }
        }
        // A window whose maintenance was cancelled is listed both as a maintenance and as a skip.
        let is_wanted = |start: &Timestamp| wanted.iter().any(|window| window.start == *start);
        for start in skips {
            free.take(*start);
        }
        for one in exceptions {
            let window = free.take_of_day(one.occurrence);
            plan.renamed.extend(window.map(|window| (one.key, window.start)));
        }
        for start in skips.iter().filter(|start| !is_wanted(start)) {
            plan.skipped.extend(free.take_of_day(*start).map(|window| (*start, window.start)));
        }
        for one in followers {
            match free.take_of_day(one.occurrence) {
                Some(window) => plan.followed.push((one.key, window)),
                None => plan.removed.push(one.key),
            }
        }
        plan.created = free.windows.into_values().collect();
        plan
    }
}

/// The windows that have no maintenance and were not removed. A planning of an unchanged series creates their maintenances.
#[must_use]
pub fn missing(wanted: &[Occurrence], standing: &[SeriesMember], skips: &[Timestamp]) -> Vec<Occurrence> {
    let stands = |start| standing.iter().any(|one| one.occurrence == start) || skips.contains(&start);
    wanted.iter().copied().filter(|window| !stands(window.start)).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::maintenance::series::tests::{at, series};

    use ReplanRole::{Follows, Past, Stays};

    const NOW: &str = "2026-11-20T00:00:00Z";

    /// A window of the test, in November 2026 in Berlin: day and hour.
    type Moment = (u32, u32);

    fn moment((day, hour): Moment) -> Timestamp {
        at(&format!("2026-11-{day:02}T{hour:02}:00:00+01:00"))
    }

    fn back(at: Timestamp) -> Moment {
        let ms = at.ms_since(moment((1, 0)));
        let hours = u32::try_from(ms / 3_600_000).unwrap();
        (1 + hours / 24, hours % 24)
    }

    /// A `SeriesReplan` as a tuple: created, followed, renamed, removed, skipped.
    type Plan = (Vec<Moment>, Vec<(i64, Moment)>, Vec<(i64, Moment)>, Vec<i64>, Vec<(Moment, Moment)>);

    fn plan(wanted: &[Moment], standing: &[(Moment, ReplanRole)], skips: &[Moment]) -> Plan {
        let recurrence = series("FREQ=DAILY").recurrence;
        let window = |start| Occurrence { start, end: start.plus_ms(3_600_000) };
        let wanted: Vec<Occurrence> = wanted.iter().map(|start| window(moment(*start))).collect();
        let standing: Vec<SeriesMember> = (1..)
            .zip(standing)
            .map(|(key, (start, role))| SeriesMember { key, occurrence: moment(*start), role: *role })
            .collect();
        let skips: Vec<Timestamp> = skips.iter().map(|start| moment(*start)).collect();
        let plan = SeriesReplan::of(&recurrence, &wanted, &standing, &skips);
        (
            plan.created.iter().map(|window| back(window.start)).collect(),
            plan.followed.iter().map(|(key, window)| (*key, back(window.start))).collect(),
            plan.renamed.iter().map(|(key, start)| (*key, back(*start))).collect(),
            plan.removed,
            plan.skipped.iter().map(|(from, to)| (back(*from), back(*to))).collect(),
        )
    }

    #[rstest]
    #[case::no_existing_windows(&[(22, 2), (29, 2)], &[], &[],
        (vec![(22, 2), (29, 2)], vec![], vec![], vec![], vec![]))]
    #[case::nothing_moves(&[(22, 2), (29, 2)], &[((22, 2), Follows), ((29, 2), Follows)], &[],
        (vec![], vec![(1, (22, 2)), (2, (29, 2))], vec![], vec![], vec![]))]
    #[case::an_hour_later(&[(22, 3), (29, 3)], &[((22, 2), Follows), ((29, 2), Follows)], &[],
        (vec![], vec![(1, (22, 3)), (2, (29, 3))], vec![], vec![], vec![]))]
    #[case::another_day(&[(24, 2)], &[((22, 2), Follows)], &[],
        (vec![(24, 2)], vec![], vec![], vec![1], vec![]))]
    #[case::one_that_people_changed(&[(22, 3), (29, 3)], &[((22, 2), Stays), ((29, 2), Follows)], &[],
        (vec![], vec![(2, (29, 3))], vec![(1, (22, 3))], vec![], vec![]))]
    #[case::an_edited_window_without_occurrence(&[(24, 2)], &[((22, 2), Stays)], &[],
        (vec![(24, 2)], vec![], vec![], vec![], vec![]))]
    #[case::one_that_people_took_out(&[(22, 3), (29, 3)], &[((29, 2), Follows)], &[(22, 2)],
        (vec![], vec![(1, (29, 3))], vec![], vec![], vec![((22, 2), (22, 3))]))]
    #[case::one_that_was_called_off(&[(22, 2), (29, 2)], &[((22, 2), Past)], &[(22, 2)],
        (vec![(29, 2)], vec![], vec![], vec![], vec![]))]
    #[case::one_that_was_called_off_moves(&[(22, 3), (29, 3)], &[((22, 2), Past)], &[(22, 2)],
        (vec![(29, 3)], vec![], vec![], vec![], vec![((22, 2), (22, 3))]))]
    #[case::a_started_window_is_not_moved(&[(22, 22)], &[((22, 2), Past)], &[],
        (vec![(22, 22)], vec![], vec![], vec![], vec![]))]
    #[case::twice_a_day(&[(22, 3), (22, 15)], &[((22, 2), Follows), ((22, 14), Follows)], &[],
        (vec![], vec![(1, (22, 3)), (2, (22, 15))], vec![], vec![], vec![]))]
    #[case::onto_the_time_of_another(&[(22, 14), (22, 15)], &[((22, 13), Follows), ((22, 14), Follows)], &[],
        (vec![], vec![(2, (22, 14)), (1, (22, 15))], vec![], vec![], vec![]))]
    fn a_changed_series_keeps_moves_and_removes_existing_windows(
        #[case] wanted: &[Moment],
        #[case] standing: &[(Moment, ReplanRole)],
        #[case] skips: &[Moment],
        #[case] expected: Plan,
    ) {
        assert_eq!(plan(wanted, standing, skips), expected);
    }

    /// No window is assigned twice or taken from another maintenance, and a second run changes nothing.
    #[test]
    fn each_window_is_assigned_once() {
        let (wanted, standing) = (
            [(22, 2), (22, 14), (23, 2)],
            [((22, 13), Follows), ((22, 14), Past), ((22, 1), Stays), ((24, 0), Follows)],
        );
        let (created, followed, renamed, removed, skipped) = plan(&wanted, &standing, &[(23, 1)]);
        assert_eq!((created, followed, renamed), (vec![], vec![], vec![(3, (22, 2))]));
        assert_eq!((removed, skipped), (vec![1, 4], vec![((23, 1), (23, 2))]));
        let again = plan(&wanted, &[((22, 14), Past), ((22, 2), Stays)], &[(23, 2)]);
        assert_eq!(again, Plan::default());
    }

    #[test]
    fn planning_creates_missing_windows() {
        let series = series("FREQ=WEEKLY");
        let wanted = series.wanted_occurrences(at(NOW));
        let one = SeriesMember { key: 1, occurrence: wanted[1].start, role: Past };
        assert_eq!(missing(&wanted, &[one], &[wanted[0].start]), wanted[2..]);
    }
}
