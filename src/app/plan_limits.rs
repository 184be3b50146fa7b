//! After a downgrade: services beyond the plan's limit are paused, the newest first (contract 3.3).
//!
//! Plans change between two runs of the process, so this runs at start. Nothing is deleted and published pages stay
//! published; a client resumes a service after pausing another.

use crate::clock::Timestamp;
use crate::model::access::Organisation;
use crate::model::plans::PlanTable;
use crate::model::service::{PauseReason, ServicePause};
use crate::model::service_window::WindowKind;
use crate::store::services::active;
use crate::store::{Database, MainError, organisations, windows};

/// Pauses the services beyond the limit in every organisation.
///
/// # Errors
///
/// When the database fails; the organisation being processed is unchanged then.
pub(super) async fn enforce(main: &Database, plans: &PlanTable, now: Timestamp) -> Result<(), MainError> {
    // One statement finds the few organisations over their limit: a transaction for each organisation would take
    // seconds at a start.
    let counts = active::count_by_organisation(main.reader()).await?;
    for organisation in organisations::list(main.reader()).await? {
        let active = counts.get(&organisation.key).copied().unwrap_or_default();
        match plans.limits(&organisation).services {
            Some(limit) if active > u64::from(limit) => {
                pause_beyond(main, &organisation, limit, now).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

async fn pause_beyond(
    main: &Database,
    organisation: &Organisation,
    limit: u32,
    now: Timestamp,
) -> Result<(), MainError> {
    let transaction = main.begin().await?;
    organisations::lock(&transaction, organisation.key).await?;
    let too_many = active::beyond(&transaction, organisation.key, limit).await?;
    let count = too_many.len();
    for service in &too_many {
        windows::open(&transaction, *service, WindowKind::Pause, now).await?;
    }
    let pause = ServicePause { reason: PauseReason::PlanLimit, at: now };
    active::pause(&transaction, &too_many, pause).await?;
    transaction.commit().await?;
    if count > 0 {
        tracing::warn!(
            organisation = %organisation.id,
            services = count,
            limit,
            "services paused: the plan allows fewer"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PlanSettings;
    use crate::config::limits::StoreLimits;
    use crate::id::Id;
    use crate::model::access::Plan;
    use crate::store::Databases;
    use crate::store::database::sqlite_url;

    /// Another writer holds the lock during the test, so a transaction would fail.
    #[tokio::test]
    async fn organisations_within_their_limits_need_no_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let [main, history] = ["main.db", "history.db"].map(|name| sqlite_url(&folder.path().join(name)));
        let main = Databases::open(&main, &history, &StoreLimits::default()).await.unwrap().main;
        let now = Timestamp::from_ms(0);
        let writing = main.begin().await.unwrap();
        let organisation = Organisation {
            key: 0,
            id: Id::random(),
            name: "Shop".into(),
            plan: Plan::Team,
            self_hosted: false,
            locales: vec!["en".into()],
            default_locale: "en".into(),
            created_at: now,
        };
        organisations::insert(&writing, organisation).await.unwrap();
        writing.commit().await.unwrap();
        let writing = main.begin().await.unwrap();
        let plans = PlanTable::new(&PlanSettings::default()).unwrap();
        assert_eq!(enforce(&main, &plans, now).await.map_err(|error| error.to_string()), Ok(()));
        drop(writing);
    }
}
