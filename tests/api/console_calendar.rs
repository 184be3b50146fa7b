//! Calendars of the console: who is on duty on each day of a month.

use serde_json::json;

use crate::support::console::ConsoleUser;
use crate::support::server::Server;

/// Each day has its shifts in the time zone of the schedule; what nobody covers is marked, also without colours.
#[test]
fn a_month_shows_shifts_and_gaps() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "viewer");
    assert!(!user.get("/oncall?month=2026-11").expect(200).body.contains("id=\"calendar\""));
    let anna = json!({"name": "Anna", "email": "anna@example.com"});
    let anna = client.post("/v1/contacts", &anna).expect(201).data()["id"].clone();
    let layer = json!({"name": "Weeks", "contact_ids": [anna], "starts_at": "2026-11-23T08:00:00Z",
        "ends_at": "2026-12-02T00:00:00Z", "rotation": {"kind": "weekly", "day": "mon", "at": "09:00"}});
    let schedule = json!({"name": "Shop", "time_zone": "Europe/Berlin", "layers": [layer]});
    client.post("/v1/oncall/schedules", &schedule).expect(201);
    let page = user.get("/oncall?month=2026-11").expect(200).body;
    for line in ["2026-11-22  nobody", "2026-11-23  00:00–09:00 nobody, 09:00–24:00 Anna", "2026-11-24  Anna"]
    {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(page.contains("<div class=\"problem\">00:00–09:00 nobody</div>") && page.contains("2026-11-30"));
    assert!(page.contains("href=\"?month=2026-12\"") && !page.contains("2026-12-01  "));
    let page = user.get("/oncall?month=2026-12").expect(200).body;
    assert!(page.contains("2026-12-02  00:00–01:00 Anna, 01:00–24:00 nobody"), "{page}");
    user.get("/oncall?month=nonsense").expect(200);
}
