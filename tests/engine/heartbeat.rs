//! Services that report themselves: pings and deadlines, pauses and restarts, on a paused clock (contract 4.3.11).

use std::sync::Arc;

use rstest::rstest;
use tokio::time::Instant;
use watchkeeper::clock::{Clock, Timestamp};
use watchkeeper::config::limits::EngineLimits;
use watchkeeper::engine::definition::WatchDefinition;
use watchkeeper::model::check::CheckType;
use watchkeeper::model::heartbeat::{HeartbeatPing, HeartbeatPlan, StoredPings};
use watchkeeper::model::listening_gap::ListeningGap;
use watchkeeper::model::status_rules::FlappingRule;
use watchkeeper::model::verdict::LocationVote;
use watchkeeper::model::watch::WatchMemory;

use crate::facts::Facts;
use crate::script::seconds;
use crate::world::{World, clock, definition, id, in_paused_time};

/// A scene while it is played: the store is this, the history are the facts.
struct Stage {
    clock: Clock,
    origin: Instant,
    world: Option<World>,
    facts: Facts,
    stored: StoredPings,
    interval_ms: i64,
    revision: i64,
    /// Time at which the process was stopped, as it stored it.
    stopped_at: Option<Timestamp>,
    /// The stops that are over, as the process reads them back.
    stops: Vec<ListeningGap>,
    in_maintenance: bool,
}

impl Stage {
    fn new() -> Self {
        let (clock, origin) = (clock(), Instant::now());
        let stored = StoredPings::default();
        let (facts, interval_ms, revision) = (Facts::default(), 60_000, 0);
        let (stopped_at, stops, in_maintenance) = (None, Vec::new(), false);
        let world = None;
        Self { clock, origin, world, facts, stored, interval_ms, revision, stopped_at, stops, in_maintenance }
    }

    fn open(&mut self) {
        self.world = Some(World::start(Vec::new(), &self.clock, EngineLimits::default()));
    }

    fn world(&self) -> &World {
        self.world.as_ref().expect("the engine runs")
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn definition(&self, is_paused: bool) -> Arc<WatchDefinition> {
        let flapping = FlappingRule::default();
        let plan =
            HeartbeatPlan { interval_ms: self.interval_ms, grace_ms: 10_000, stored: self.stored, flapping };
        Arc::new(WatchDefinition {
            check_type: CheckType::Heartbeat,
            heartbeat: (!is_paused).then_some(plan),
            is_paused,
            in_planned_maintenance: self.in_maintenance,
            ..definition(1, self.revision, None)
        })
    }

    async fn apply(&mut self, is_paused: bool) {
        self.revision += 1;
        let definition = self.definition(is_paused);
        self.world().engine.apply(definition).await.expect("the engine runs");
    }

    async fn ping(&mut self, has_failed: bool) {
        let ping = HeartbeatPing { at: self.now(), has_failed };
        self.stored.last = Some(ping);
        if let Some(world) = &self.world {
            world.engine.ping(id(1), ping).await.expect("the engine runs");
        }
    }

    async fn close(&mut self) {
        let world = self.world.take().expect("the engine runs");
        let facts = world.facts.clone();
        world.end().await;
        self.facts.add(&facts);
    }

    fn set_ahead(&self, seconds: i64) {
        self.clock.set_ahead(seconds * 1_000);
    }

    async fn make(&mut self, action: &str) {
        let (word, argument) = action.split_once(' ').unwrap_or((action, "0"));
        let argument: i64 = argument.parse().expect("seconds");
        match word {
            "watch" => self.apply(false).await,
            "ping" => self.ping(false).await,
            "fail" => self.ping(true).await,
            "pause" => self.apply(true).await,
            "resume" => {
                self.stored.counts_from = Some(self.now());
                self.apply(false).await;
            }
            "hurry" => {
                (self.interval_ms, self.stored.counts_from) = (20_000, Some(self.now()));
                self.apply(false).await;
            }
            "slow" => self.interval_ms = 600_000,
            "rename" => self.apply(false).await,
            "maintain" | "maintained" => {
                self.in_maintenance = word == "maintain";
                self.apply(false).await;
            }
            "ahead" => self.set_ahead(argument),
            "back" => self.set_ahead(-argument),
            "stall" => tokio::time::advance(std::time::Duration::from_secs(argument.unsigned_abs())).await,
            "stop" | "end" => self.close().await,
            "quit" => {
                self.stopped_at = Some(self.now());
                self.close().await;
            }
            "leave" => {
                self.world().engine.listening().close();
            }
            "enter" => self.world().engine.listening().open(),
            "doubt" => self.world().engine.listening().note_trust(false),
            "trust" => self.world().engine.listening().note_trust(true),
            "tick" => self.world().engine.listening().tick(),
            "lose" => self.world().engine.listening().note_lost(),
            "start" => {
                self.open();
                if let Some(stopped_at) = self.stopped_at.take() {
                    self.stops.push(ListeningGap::new(stopped_at, self.now()));
                    let listening = self.world().engine.listening();
                    listening.begin(&self.stops);
                    listening.open();
                }
                let (definition, memory) = (self.definition(false), remember(&self.facts));
                self.world().engine.resume(definition, memory).await.expect("the engine runs");
            }
            other => panic!("no such move: {other}"),
        }
    }
}

/// The state of the facts, as a later process would read them back.
fn remember(facts: &Facts) -> WatchMemory {
    let newest = facts.checks().into_iter().max_by_key(|check| check.checked_at);
    let vote =
        newest.map(|check| LocationVote { status: check.measurement.status, checked_at: check.checked_at });
    let last = facts.changes().last().copied();
    WatchMemory {
        votes: vote.map(|vote| (0, vote)).into_iter().collect(),
        status: last.map(|change| change.to).unwrap_or_default(),
        status_since: last.map(|change| change.at),
        ..WatchMemory::default()
    }
}

fn play(moves: &str) -> String {
    in_paused_time(async || {
        let mut stage = Stage::new();
        stage.open();
        for line in moves.split(';') {
            let (at, action) = line.trim().split_once(' ').expect("a time and a move");
            tokio::time::sleep_until(stage.origin + seconds(at)).await;
            stage.make(action).await;
        }
        stage.facts.lines().join(" | ")
    })
}

#[rstest]
#[case::nothing_is_expected_before_the_first_ping("0 watch; 5000 end", "")]
#[case::a_ping_means_up("0 watch; 7 ping; 60 end", "7 push up | 7 unknown>up votes")]
#[case::a_failure_means_down("0 watch; 7 fail; 60 end", "7 push down | 7 unknown>down votes")]
#[case::one_entry_for_each_missed_deadline(
    "0 watch; 0 ping; 195 end",
    "0 push up | 0 unknown>up votes | 70 push down | 70 up>down votes | 130 push down | 190 push down"
)]
#[case::a_late_ping_means_up_again(
    "0 watch; 0 ping; 80 ping; 149 end",
    "0 push up | 0 unknown>up votes | 70 push down | 70 up>down votes | 80 push up | 80 down>up votes"
)]
#[case::pings_in_time_change_nothing(
    "0 watch; 0 ping; 60 ping; 120 ping; 189 end",
    "0 push up | 0 unknown>up votes | 60 push up | 120 push up"
)]
#[case::after_a_pause_deadlines_count_from_the_resumption(
    "0 watch; 0 ping; 50 pause; 500 ping; 600 resume; 675 end",
    "0 push up | 0 unknown>up votes | 50 up>unknown paused | 670 push down | 670 unknown>down votes"
)]
#[case::never_pinged_is_unknown_after_a_pause_too("0 watch; 50 pause; 60 resume; 5000 end", "")]
#[case::a_rename_changes_nothing(
    "0 watch; 0 ping; 65 rename; 75 end",
    "0 push up | 0 unknown>up votes | 70 push down | 70 up>down votes"
)]
#[case::a_new_interval_counts_from_its_change(
    "0 watch; 0 ping; 50 hurry; 85 end",
    "0 push up | 0 unknown>up votes | 80 push down | 80 up>down votes"
)]
#[case::a_ping_that_waited_during_a_freeze_counts_first(
    "0 watch; 0 ping; 30 stall 100; 130 ping; 199 end",
    "0 push up | 0 unknown>up votes | 130 push up"
)]
#[case::a_deadline_that_passed_while_we_stood_still_is_no_data(
    "0 watch; 0 ping; 29 tick; 30 stall 100; 131 tick; 180 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap"
)]
#[case::a_deadline_during_an_unnoticed_freeze_is_missed(
    "0 watch; 0 ping; 30 stall 100; 180 end",
    "0 push up | 0 unknown>up votes | 135 push down due 70 | 70 up>no_data gap | 135 no_data>down votes"
)]
#[case::a_deadline_that_passed_while_the_process_was_stopped_is_no_data(
    "0 watch; 0 ping; 30 quit; 500 start; 510 ping; 575 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 510 push up | 510 no_data>up votes"
)]
#[case::the_next_deadline_after_a_stop_decides(
    "0 watch; 0 ping; 30 quit; 500 start; 575 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 570 push down | 570 no_data>down votes"
)]
#[case::a_refused_ping_is_not_counted_as_missed(
    "0 watch; 0 ping; 60 lose; 125 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap"
)]
#[case::the_third_period_in_a_row_is_always_judged(
    "0 watch; 0 ping; 60 leave; 65 enter; 120 leave; 125 enter; 180 leave; 185 enter; 200 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 195 push down | 195 no_data>down votes"
)]
#[case::while_the_clock_is_doubted_two_periods_are_no_data(
    "0 watch; 0 ping; 50 doubt; 215 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 210 push down | 210 no_data>down votes"
)]
#[case::after_a_doubt_the_next_period_decides(
    "0 watch; 0 ping; 50 doubt; 60 trust; 135 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 130 push down | 130 no_data>down votes"
)]
#[case::an_absence_that_ended_with_the_last_ping_excuses_nothing(
    "0 watch; 0 ping; 20 leave; 30 enter; 31 ping; 105 end",
    "0 push up | 0 unknown>up votes | 31 push up | 101 push down | 101 up>down votes"
)]
#[case::a_job_that_pings_early_may_have_pinged_in_an_absence_that_ended_before_its_ping_was_due(
    "0 watch; 0 ping; 20 leave; 54 enter; 90 ping; 155 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 90 push up | 90 no_data>up votes"
)]
#[case::a_job_that_pings_at_any_moment_is_not_missed_after_a_restart(
    "0 slow; 0 watch; 0 ping; 30 quit; 200 start; 780 ping; 1385 end",
    "0 push up | 0 unknown>up votes | 610 up>no_data gap | 780 push up | 780 no_data>up votes"
)]
#[case::a_job_that_pings_at_any_moment_is_not_missed_after_several_restarts(
    "0 slow; 0 watch; 0 ping; 30 quit; 200 start; 780 ping; 800 quit; 1000 start; 1600 ping; 2205 end",
    "0 push up | 0 unknown>up votes | 610 up>no_data gap | 780 push up | 780 no_data>up votes | 1390 up>no_data gap | 1600 push up | 1600 no_data>up votes"
)]
#[case::a_job_that_pings_at_any_moment_is_not_missed_after_a_doubt(
    "0 watch; 0 ping; 20 doubt; 40 trust; 100 ping; 165 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 100 push up | 100 no_data>up votes"
)]
#[case::a_job_that_died_before_a_restart_is_missed_an_interval_and_the_grace_after_it(
    "0 slow; 0 watch; 0 ping; 30 quit; 200 start; 815 end",
    "0 push up | 0 unknown>up votes | 610 up>no_data gap | 810 push down | 810 no_data>down votes"
)]
#[case::a_job_that_was_down_before_a_restart_is_down_again_an_interval_and_the_grace_after_it(
    "0 slow; 0 watch; 0 ping; 620 quit; 800 start; 1415 end",
    "0 push up | 0 unknown>up votes | 610 push down | 610 up>down votes | 1210 down>no_data gap | 1410 push down | 1410 no_data>down votes"
)]
#[case::a_job_that_died_in_the_first_of_two_stops_is_missed_after_the_second(
    "0 slow; 0 watch; 0 ping; 30 quit; 200 start; 650 quit; 800 start; 1415 end",
    "0 push up | 0 unknown>up votes | 610 up>no_data gap | 1410 push down | 1410 no_data>down votes"
)]
#[case::a_job_that_died_after_a_restart_is_missed_after_its_last_ping(
    "0 slow; 0 watch; 0 ping; 30 quit; 200 start; 300 ping; 915 end",
    "0 push up | 0 unknown>up votes | 300 push up | 910 push down | 910 up>down votes"
)]
#[case::an_absence_before_a_resumption_excuses_nothing(
    "0 watch; 0 ping; 20 leave; 30 enter; 40 pause; 50 leave; 55 enter; 60 resume; 135 end",
    "0 push up | 0 unknown>up votes | 40 up>unknown paused | 130 push down | 130 unknown>down votes"
)]
#[case::an_absence_after_a_resumption_does(
    "0 watch; 0 ping; 40 pause; 60 resume; 70 leave; 80 enter; 149 ping; 200 end",
    "0 push up | 0 unknown>up votes | 40 up>unknown paused | 149 push up | 149 unknown>up votes"
)]
#[case::a_maintenance_neither_excuses_nor_hides_anything(
    "0 watch; 0 ping; 20 maintain; 40 maintained; 75 end",
    "0 push up | 0 unknown>up votes | 70 push down | 70 up>down votes"
)]
#[case::an_absence_in_a_maintenance_counts_as_any_other(
    "0 watch; 0 ping; 20 maintain; 30 leave; 35 enter; 40 maintained; 100 ping; 110 end",
    "0 push up | 0 unknown>up votes | 70 up>no_data gap | 100 push up | 100 no_data>up votes"
)]
#[case::a_deadline_during_unknown_listening_is_reported_once(
    "0 watch; 0 ping; 30 stop; 500 start; 555 end",
    "0 push up | 0 unknown>up votes | 500 push down due 70 | 70 up>no_data gap | 500 no_data>down votes | 550 push down"
)]
#[case::a_short_restart_leaves_no_trace(
    "0 slow; 0 watch; 0 ping; 30 stop; 160 start; 620 end",
    "0 push up | 0 unknown>up votes | 610 push down | 610 up>down votes"
)]
#[case::a_restart_of_a_service_that_never_pinged("0 watch; 30 stop; 500 start; 900 end", "")]
#[case::a_stored_ping_that_the_history_lost_is_recorded(
    "0 watch; 10 stop; 200 ping; 210 start; 269 end",
    "200 push up | 200 unknown>up votes"
)]
#[case::a_clock_that_is_set_moves_the_deadline(
    "0 watch; 0 ping; 30 ahead 3600; 69 end",
    "0 push up | 0 unknown>up votes"
)]
fn heartbeats_change_the_status_of_services(#[case] moves: &str, #[case] expected: &str) {
    let mut played: Vec<String> = play(moves).split(" | ").map(str::to_owned).collect();
    let mut expected: Vec<&str> = expected.split(" | ").collect();
    // Entries and changes leave in one batch, entries first.
    played.sort();
    expected.sort_unstable();
    assert_eq!(played, expected);
}

/// Reliability 15: who pings on time is never down, and who stops is, whatever is done to the wall clock.
#[rstest]
#[case::an_hour_back("30 back 3600")]
#[case::an_hour_ahead("30 ahead 3600")]
#[case::ahead_and_back("30 ahead 3600; 65 back 3600")]
#[case::back_and_ahead("30 back 3600; 65 ahead 3600")]
#[case::ahead_and_back_between_two_pings("30 ahead 3600; 40 back 3600")]
#[case::a_year_ahead("30 ahead 31536000")]
#[case::a_year_ahead_and_back("30 ahead 31536000; 65 back 31536000")]
fn setting_the_clock_neither_makes_nor_hides_a_missed_ping(#[case] clock: &str) {
    // In the order of real time; a move of the clock comes at its second.
    let pings = ["60 ping", "120 ping", "180 ping"];
    let mut moves: Vec<&str> = clock.split("; ").chain(pings).collect();
    moves.sort_by_key(|line| line.split_once(' ').expect("a time").0.parse::<u32>().expect("seconds"));
    let begin = format!("0 watch; 0 ping; {}", moves.join("; "));
    let well = play(&format!("{begin}; 249 end"));
    assert!(!well.contains("down"), "{well}");
    let silent = play(&format!("{begin}; 255 end"));
    assert_eq!(silent.matches("push down").count(), 1, "{silent}");
    assert_eq!(silent.matches("up>down votes").count(), 1, "{silent}");
}

/// A definition after a clock setback still has the stored times of the future.
#[rstest]
#[case::before_the_deadline(64, 0)]
#[case::after_it(66, 1)]
fn new_settings_after_a_clock_was_set_back_count_from_their_change(#[case] end: u32, #[case] missed: usize) {
    let played = play(&format!("0 watch; 0 ping; 30 back 3600; 35 hurry; {end} end"));
    assert_eq!(played.matches("push down").count(), missed, "{played}");
}

/// The process ends while the clock is ahead, and starts when it is right again: the last ping is in the future.
/// Ending takes two minutes of a scene.
#[rstest]
#[case::a_service_that_pings("250 ping; 315 end", 0)]
#[case::a_silent_service("290 end", 1)]
fn a_start_after_a_wrong_clock_expects_pings_from_that_start(#[case] moves: &str, #[case] missed: usize) {
    let wrong = "0 watch; 0 ping; 30 ahead 3600; 40 ping; 45 stop; 200 back 3600; 205 start";
    let played = play(&format!("{wrong}; {moves}"));
    assert_eq!(played.matches("push down").count(), missed, "{played}");
    assert_eq!(played.matches("up>down votes").count(), missed, "{played}");
}
