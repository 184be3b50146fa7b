//! Tests of the spool: appended facts are returned in order, whatever happens to process and disk in between.

use super::*;
use crate::clock::Timestamp;
use crate::model::history::{ChangeCause, MeasuredStatus, StatusChange};

const ROOM: u64 = 1024 * 1024 * 1024;

fn batch(first: i64) -> RecordBatch {
    let change = |at| StatusChange {
        service: 1,
        at: Timestamp::from_ms(at),
        from: MeasuredStatus::Up,
        to: MeasuredStatus::Down,
        cause: ChangeCause::Votes,
    };
    RecordBatch { checks: Vec::new(), changes: (first..first + 10).map(change).collect() }
}

fn drain(spool: &mut Spool) -> Vec<i64> {
    let mut times = Vec::new();
    while let Some(batch) = spool.oldest().unwrap() {
        times.extend(batch.changes.iter().map(|change| change.at.ms()));
        spool.forget();
    }
    times
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn spooled_facts_are_returned_in_order_and_then_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    assert!(spool.oldest().unwrap().is_none());
    (0..5).for_each(|number| spool.append(&batch(number * 10)).unwrap());
    assert!(spool.bytes() > 0);
    assert_eq!(drain(&mut spool), (0..50).collect::<Vec<_>>());
    assert!(spool.is_empty() && spool.bytes() == 0 && files(folder.path()).is_empty());
}

/// A process that is killed leaves files; the next process continues, and returns again what was not removed.
#[test]
fn the_next_process_continues_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut killed = Spool::open(folder.path(), ROOM).unwrap();
    (0..3).for_each(|number| killed.append(&batch(number * 10)).unwrap());
    assert_eq!(killed.oldest().unwrap().map(|batch| batch.changes.len()), Some(10));
    killed.forget();
    killed.append(&batch(30)).unwrap();
    drop(killed);
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    spool.append(&batch(40)).unwrap();
    assert_eq!(drain(&mut spool), (0..50).collect::<Vec<_>>(), "a segment is given whole or not at all");
}

/// Appending continues while the oldest segment is read.
#[test]
fn facts_appended_during_reading_come_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    spool.append(&batch(0)).unwrap();
    let first = spool.oldest().unwrap().unwrap().changes.clone();
    spool.append(&batch(10)).unwrap();
    assert_eq!(spool.oldest().unwrap().unwrap().changes, first, "the same until it is forgotten");
    assert_eq!(drain(&mut spool), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_torn_end_is_cut_off_and_a_damaged_middle_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    (0..3).for_each(|number| spool.append(&batch(number * 10)).unwrap());
    drop(spool);
    let file = files(folder.path()).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    bytes[30] ^= 1;
    bytes.extend([7; 9]);
    fs::write(&file, bytes).unwrap();
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    assert_eq!(drain(&mut spool).len(), 29, "one fact is lost");
    assert_eq!(spool.damages(), 1);
}

#[test]
fn a_segment_of_another_version_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("00000000000000000001.spool"), b"WKSPOOL\x09...").unwrap();
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    spool.append(&batch(0)).unwrap();
    assert_eq!(drain(&mut spool).len(), 10);
    assert_eq!((files(folder.path()).len(), spool.damages()), (1, 1), "it is kept for whoever can read it");
}

#[test]
fn a_failed_append_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let spool_folder = folder.path().join("spool");
    let mut spool = Spool::open(&spool_folder, ROOM).unwrap();
    fs::remove_dir(&spool_folder).unwrap();
    spool.append(&batch(0)).unwrap_err();
    assert!(spool.is_empty());
    fs::create_dir(&spool_folder).unwrap();
    spool.append(&batch(10)).unwrap();
    assert_eq!(drain(&mut spool), (10..20).collect::<Vec<_>>());
}

#[test]
fn the_limit_is_known_but_not_enforced() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), 100).unwrap();
    assert!(spool.has_room());
    spool.append(&batch(0)).unwrap();
    assert!(!spool.has_room());
    spool.append(&batch(10)).unwrap();
}

/// Replaces a segment by a folder, which can be opened but not read.
fn make_unreadable(file: &Path) -> PathBuf {
    let hidden = file.with_extension("hidden");
    fs::rename(file, &hidden).unwrap();
    fs::create_dir(file).unwrap();
    hidden
}

/// Regression: a read that failed once set the segment aside, and its results were never written.
#[test]
fn a_temporarily_unreadable_segment_is_retried() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    spool.append(&batch(0)).unwrap();
    let file = files(folder.path()).remove(0);
    let hidden = make_unreadable(&file);
    spool.oldest().unwrap_err();
    spool.forget();
    assert!(!spool.is_empty());
    fs::remove_dir(&file).unwrap();
    fs::rename(hidden, &file).unwrap();
    assert_eq!(drain(&mut spool), (0..10).collect::<Vec<_>>());
    assert_eq!(spool.damages(), 0);
}

#[test]
fn an_unreadable_segment_is_skipped_until_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    spool.append(&batch(0)).unwrap();
    drop(spool);
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    spool.append(&batch(10)).unwrap();
    let file = files(folder.path()).remove(0);
    let hidden = make_unreadable(&file);
    for _ in 0..READ_ATTEMPTS {
        spool.oldest().unwrap_err();
    }
    assert_eq!(drain(&mut spool), (10..20).collect::<Vec<_>>());
    assert_eq!((spool.damages(), spool.is_empty()), (1, true));
    assert!(spool.bytes() > 0, "it still takes its room");
    fs::remove_dir(&file).unwrap();
    fs::rename(hidden, &file).unwrap();
    let mut next = Spool::open(folder.path(), ROOM).unwrap();
    assert_eq!(drain(&mut next), (0..10).collect::<Vec<_>>());
}

/// Regression: after a start the number was used again, and the next segment set aside replaced this one.
#[test]
fn the_number_of_a_set_aside_segment_is_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let other_version = |number: u64, rest: &str| {
        let bytes = [b"WKSPOOL\x09", rest.as_bytes()].concat();
        fs::write(folder.path().join(format!("{number:020}.spool")), bytes).unwrap();
    };
    other_version(1, "first");
    assert!(drain(&mut Spool::open(folder.path(), ROOM).unwrap()).is_empty());
    let mut spool = Spool::open(folder.path(), ROOM).unwrap();
    spool.append(&batch(0)).unwrap();
    assert_eq!(number_of(&files(folder.path())[1], EXTENSION), Some(2), "{:?}", files(folder.path()));
}
