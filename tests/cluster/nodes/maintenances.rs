//! Planned work begins and ends by itself, once, whichever node leads: also when that one dies in between.

use rstest::rstest;
use serde_json::json;

use crate::bus::node::Nodes;
use crate::nodes::{JOINED, TAKEN_OVER};
use crate::support::eventually;
use crate::support::moments::in_ms;
use crate::support::planned::{id_of, planned, shown, timeline};

/// Works that begin while all nodes live, and such that begin while the leader is dead; they end later.
const EACH: usize = 5;
/// Start of the maintenances that fall due while the leader may be dead.
const BEGIN_MS: i64 = 3_000;
const LATER_MS: i64 = 12_000;

#[rstest]
#[case::the_leader_dies("KILL")]
#[case::the_leader_freezes_and_resumes("STOP")]
#[tokio::test]
async fn planned_maintenance_starts_and_ends_once(#[case] signal: &str) {
    let Some(nodes) = Nodes::start(2).await else { return };
    nodes.until_even(&[0, 1], JOINED).await;
    let leading = nodes.until_led().await;
    let client = nodes.client(1 - leading);
    let works: Vec<String> = [BEGIN_MS, LATER_MS]
        .into_iter()
        .flat_map(|begin_ms| std::iter::repeat_n(begin_ms, EACH))
        .map(|begin_ms| {
            let (start, end) = (in_ms(begin_ms), in_ms(begin_ms + 6_000));
            let times = json!({"scheduled_start": start.to_string(), "scheduled_end": end.to_string(),
                "auto_start": true, "auto_complete": true});
            id_of(&planned(&client, &times))
        })
        .collect();
    eventually("the first ones have begun", || {
        works[..EACH].iter().all(|id| shown(&client, id)["status"] != "scheduled").then_some(())
    })
    .await;
    nodes.server(leading).signal(signal);
    nodes.until_owned(&[1 - leading], TAKEN_OVER).await;
    if signal == "STOP" {
        nodes.server(leading).signal("CONT");
    }
    for id in &works {
        let data = eventually("it has ended", || {
            let data = shown(&client, id);
            (data["status"] == "completed").then_some(data)
        });
        let statuses: Vec<String> = timeline(&data.await).into_iter().map(|(status, ..)| status).collect();
        assert_eq!(statuses, ["scheduled", "in_progress", "completed"], "each once");
    }
}
