//! After a downgrade: services beyond what the plan allows are paused, the newest first (contract 3.3).
//!
//! Plans change between two runs of the process, so this is looked at when it starts. Nothing is deleted, published pages
//! stay published; a client resumes what it wants to keep after pausing something else.

use crate::clock::Timestamp;
use crate::model::access::Organisation;
use crate::model::plans::PlanTable;
use crate::model::service::{Pause, PauseReason, Service};
use crate::model::window::WindowKind;
use crate::store::{Database, MainError, organisations, services, windows};

/// Pauses what is too much in every organisation.
///
/// # Errors
/// When the database fails; then nothing has changed in the organisation that it failed in.
pub(super) async fn enforce(main: &Database, plans: &PlanTable, now: Timestamp) -> Result<(), MainError> {
    for organisation in organisations::list(main.reader()).await? {
        if let Some(limit) = plans.limits(&organisation).services {
            pause_beyond(main, &organisation, limit, now).await?;
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
    let too_many = services::active_beyond(&transaction, organisation.key, limit).await?;
    let count = too_many.len();
    for service in too_many {
        windows::open(&transaction, service.key, WindowKind::Pause, now).await?;
        let pause = Some(Pause { reason: PauseReason::PlanLimit, at: now });
        services::update(&transaction, Service { pause, updated_at: now, ..service }).await?;
    }
    transaction.commit().await?;
    if count > 0 {
        tracing::warn!(organisation = %organisation.id, count, limit, "services were paused: the plan allows fewer");
    }
    Ok(())
}
