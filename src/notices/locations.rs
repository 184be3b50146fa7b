//! Locations that have lost their own network, can make no check, or send no reports: their votes do not count, and services
//! that only they check are not checked.

use std::collections::{BTreeSet, HashSet};

use tokio::time::Instant;

use crate::model::access::Organisation;
use crate::model::check::Trouble as CheckTrouble;
use crate::model::incident::Severity;
use crate::model::location::Standing;
use crate::model::notice::{Notice, Source, Trouble, Words};
use crate::model::notification::Event;
use crate::notices::patience::Patience;
use crate::notices::phrase::Phrase;
use crate::notices::{Notices, key};
use crate::store::{MainError, notices, organisations, services};
use crate::texts::Text;

const EVENT: Event = Event::LocationImpaired;

/// Compares the locations, as each organisation with services sees them, with the open notices.
pub(super) async fn compare(parts: &Notices, patience: &mut Patience) -> Result<(), MainError> {
    let main = parts.announcer.databases.main.reader();
    let lasting = notices::lasting_of(main, EVENT).await?;
    let (locations, now) = (parts.announcer.definer.roster.all(), parts.guard.now());
    let told: HashSet<(i64, &str)> = lasting.iter().map(|notice| key(&notice.trouble.source)).collect();
    let mut wrong = Vec::new();
    let lasting_for = lasting.iter().map(|notice| notice.trouble.source.organisation);
    let mut concerned: BTreeSet<i64> = lasting_for.collect();
    if locations.iter().all(|known| known.is_well_for_all(now)) {
        if concerned.is_empty() {
            patience.forget(EVENT.as_str());
            return Ok(());
        }
    } else {
        concerned.extend(services::organisations_with_services(main).await?);
    }
    for organisation in organisations::with_keys(main, concerned).await? {
        for known in &locations {
            let standing = known.standing(organisation.key, now);
            let name = known.location.code.to_string();
            let source = Source { organisation: organisation.key, event: EVENT, name };
            let is_told = told.contains(&key(&source));
            let thing = format!("{EVENT} {} {}", source.name, organisation.key);
            if patience.counts(&thing, standing != Standing::Online, is_told, Instant::now()) {
                wrong.push(trouble(source, (standing, known.blind_by()), &organisation));
            }
        }
    }
    parts.reconcile(&wrong, &lasting, over).await;
    Ok(())
}

fn trouble(
    source: Source,
    (standing, blind_by): (Standing, Option<CheckTrouble>),
    organisation: &Organisation,
) -> Trouble {
    let (title, text) = match (standing, blind_by.filter(|by| *by != CheckTrouble::LocationImpaired)) {
        (Standing::Offline, _) => ("location-silent", Text::new("location-silent-text")),
        (_, Some(by)) => ("location-blind", Text::new("location-blind-text").with_note(by.as_str())),
        (_, None) => ("location-impaired", Text::new("location-impaired-text")),
    };
    let words = Phrase { title: Text::about(title, &source.name), text }.words(organisation);
    Trouble { source, severity: Severity::Major, words, service: None }
}

fn over(notice: &Notice, organisation: &Organisation) -> Words {
    let title = Text::about("location-back", &notice.trouble.source.name);
    Phrase { title, text: Text::new("location-back-text") }.words(organisation)
}
