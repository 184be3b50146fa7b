//! Times in which processes listened for pings: the stored marks, and the absences that a later process reads from them.

use std::collections::BTreeMap;

use rstest::rstest;
use watchkeeper::clock::Timestamp;
use watchkeeper::clock::judgement::ClockMark;
use watchkeeper::id::Id;
use watchkeeper::model::ledger::FencingToken;
use watchkeeper::model::listening_gap::ListeningGap;
use watchkeeper::model::partition::{Partition, PartitionSet};
use watchkeeper::record::listening_marks::ListeningMarks;
use watchkeeper::record::restore::absences;
use watchkeeper::store::history::holds::PartitionHold;
use watchkeeper::store::{Databases, clock_mark, listening_spans};

use crate::support::Backend;
use crate::support::rows::at;

fn spans(absences: &[ListeningGap]) -> Vec<(i64, i64)> {
    absences.iter().map(|absence| (absence.from.ms(), absence.to.ms())).collect()
}

const fn seconds(from: i64, to: i64) -> (Timestamp, Timestamp) {
    (at(from * 1_000), at(to * 1_000))
}

#[rstest]
#[tokio::test]
async fn time_between_marks_is_an_absence(#[values(Backend::Sqlite, Backend::Postgres)] backend: Backend) {
    let Some(store) = backend.open().await else { return };
    let (now, main) = (at(100_000), store.main.reader());
    let all = async || spans(&absences::of_all(&store, now).await.unwrap());
    assert_eq!(all().await, [], "of a new installation nothing is known");
    let write = store.main.begin().await.unwrap();
    clock_mark::put(&write, ClockMark { newest: at(5_000), doubted: None }).await.unwrap();
    write.commit().await.unwrap();
    assert_eq!(all().await, [(5_000, 100_000)], "an earlier version knew the newest time");
    let (first, second) = (Id::random(), Id::random());
    let marks = ListeningMarks::new(Databases::clone(&store), first);
    marks.keep(seconds(10, 11)).await.unwrap();
    marks.keep(seconds(10, 20)).await.unwrap();
    assert_eq!(listening_spans::newest(main).await.unwrap(), [seconds(10, 20)], "one row lasts");
    marks.keep_last(Some(seconds(30, 40))).await;
    marks.keep_last(None).await;
    ListeningMarks::new(Databases::clone(&store), second).keep(seconds(35, 50)).await.unwrap();
    assert_eq!(listening_spans::newest_of(main, second).await.unwrap(), [seconds(35, 50)]);
    assert_eq!(all().await, [(20_000, 30_000), (50_000, 100_000)]);
    let [known, unknown, nobody] = [1, 2, 3].map(|number| Partition::new(number).unwrap());
    let hold = |holder: Id, taken_at: i64| {
        let fence = FencingToken { epoch: 1, revision: 1 };
        PartitionHold { holder: Some(holder), fence, taken_at: at(taken_at) }
    };
    let holds = BTreeMap::from([(known, hold(first, 15_000)), (unknown, hold(Id::random(), 60_000))]);
    let taken: PartitionSet = [known, unknown, nobody].into_iter().collect();
    let found = absences::of_partitions(&store, taken, &holds, now).await.unwrap();
    assert_eq!(spans(&found[&known]), [(20_000, 30_000), (40_000, 100_000)], "since its holder took it");
    assert_eq!(spans(&found[&unknown]), [(60_000, 100_000)], "its holder has never marked anything");
    assert_eq!(spans(&found[&nobody]), [(20_000, 30_000), (50_000, 100_000)]);
}
