//! Warnings for operators about problems that do not make the process unready, for `/readyz` and `GET /v1/engine`.

use crate::clock::Timestamp;
use crate::engine::registry::{BlindLocation, RegisteredLocation};
use crate::http::v1::state::AppState;
use crate::model::node::NodeName;
use crate::notify::message_hold::MessageHold;
use crate::service_router::ownership::Ownership;
use crate::store::{FullDisk, organisations};

const BUS_AWAY: &str = "the NATS server is unavailable: results of remote locations arrive later; each node answers only for its own \
    services, and no node takes over from another";

const CUT_OFF: &str =
    "this node cannot write to the databases, and others can: it has released its partitions and takes none";

const MESSAGES_HELD: &str = "this installation was restored from a backup, and notifications are held: run 'watchkeeper notifications \
    release' to send them";

const EGRESS_UNDECIDED: &str = "there are several organisations and egress is not set, so the next start will be refused: set it to \
    public-only or private-allowed";

/// Returns one sentence per warning.
pub(in crate::http) async fn warnings(state: &AppState) -> Vec<String> {
    let (now, figures) = (state.now(), state.figures.read());
    let is_bus_away = figures.bus.is_some_and(|bus| !bus.is_connected);
    let unowned = state.router.ownership.unowned().len();
    let unowned = (unowned > 0).then(|| {
        format!(
            "no node owns {unowned} of 64 partitions: their services are not checked until one takes them"
        )
    });
    let cut_off = cut_off_warning(&state.router.ownership);
    let locations = state.compiler.roster.all();
    let impaired = locations.iter().filter_map(|known| location_warning(known, now));
    let egress = is_egress_undecided(state).await.then(|| EGRESS_UNDECIDED.into());
    let clock = state.guard.state().warning();
    let bus = is_bus_away.then(|| BUS_AWAY.into());
    let held = MessageHold::of(&state.config.data_dir).is_in_force().then(|| MESSAGES_HELD.into());
    clock
        .into_iter()
        .chain(bus)
        .chain(unowned)
        .chain(cut_off)
        .chain(held)
        .chain(egress)
        .chain(unreadable_warning(state.router.unreadable.count()))
        .chain(backup_warning(state))
        .chain(disk_warning(state, now))
        .chain(restart_warning(state))
        .chain(impaired)
        .collect()
}

/// Returns true if the egress policy is not set, although several organisations share this installation.
async fn is_egress_undecided(state: &AppState) -> bool {
    state.config.egress.is_none()
        && organisations::count(state.databases.main.reader()).await.is_ok_and(|count| count > 1)
}

/// Returns the warning about services that are not checked because their rows cannot be read.
fn unreadable_warning(services: usize) -> Option<String> {
    (services > 0).then(|| {
        format!("services that are not checked because their rows in the database cannot be read: {services}; the log names them")
    })
}

/// Returns the warning about scheduled backups that fail or are too old.
fn backup_warning(state: &AppState) -> Option<String> {
    let reason = state.backups.failure().map_or_else(
        || "see the log".to_owned(),
        |failure| format!("the last attempt failed: {}", failure.problem),
    );
    state
        .backups
        .is_old()
        .then(|| format!("the newest scheduled backup is too old, or there is none: {reason}"))
}

/// Returns the warning about nodes that cannot write to the databases while others can.
fn cut_off_warning(ownership: &Ownership) -> Option<String> {
    let (cut_off, me) = (ownership.cut_off(), &ownership.member()?.name);
    if cut_off.contains(me) {
        return Some(CUT_OFF.into());
    }
    let names: Vec<&str> = cut_off.iter().map(NodeName::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "these nodes cannot write to the databases, and other nodes check their services: {}",
            names.join(", ")
        )
    })
}

/// Returns the warning about the disk of the embedded databases. The history is checked first, because it is written
/// constantly and notices a full disk before the main database.
fn disk_warning(state: &AppState, now: Timestamp) -> Option<String> {
    let databases = &state.databases;
    let FullDisk { folder, since } = databases.history.full_disk().or_else(|| databases.main.full_disk())?;
    let ago = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
    let (since, folder) = (now.plus_ms(-ago), folder.display());
    let waiting = state.figures.read().waiting_results;
    Some(format!(
        "the disk of {folder} is full since {since}: {waiting} results wait in memory, and nothing that clients send can be saved"
    ))
}

/// Returns the warning about more deaths of actors than restarts are permitted.
fn restart_warning(state: &AppState) -> Option<String> {
    let wait = state.supervisor.restart_overload()?;
    Some(format!(
        "this process is overloaded or has a fault: more of its actors die than may start again, so a restart waits {} s; the log says why",
        wait.as_secs()
    ))
}

/// Returns the warning about a location that is impaired for all organisations.
fn location_warning(known: &RegisteredLocation, now: Timestamp) -> Option<String> {
    let (code, reason) = (&known.location.code, known.impaired_by()?);
    let cause = match known.blindness(now) {
        Some(BlindLocation { since, .. }) => {
            format!("none of its checks could be made since {since} ({})", reason.as_str())
        }
        None => "none of its reference targets answers".to_owned(),
    };
    Some(format!("location {code} is impaired: {cause}"))
}
