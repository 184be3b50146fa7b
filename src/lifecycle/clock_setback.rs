//! Corrects rows that were written while the clock was ahead, after it was set back: nothing waits longer than
//! intended.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::clock::Timestamp;
use crate::lifecycle::effects;
use crate::model::escalation::EscalationPolicy;
use crate::model::lifecycle_effect::{EscalationAdvance, LifecycleEffect};
use crate::model::notification::digest::{DeliveryHold, HoldReason};
use crate::model::notification::quiet_hours::LONGEST_MS;
use crate::store::notifications::courier::bring_all_forward;
use crate::store::notifications::holds::held_beyond;
use crate::store::{MainError, Transaction, escalation_policies, escalations};

/// Rows read per query.
const AT_ONCE: u64 = 500;

/// Moves steps of escalations and attempts of messages back to times that are possible now.
pub async fn bring_back(transaction: &Transaction, now: Timestamp) -> Result<(), MainError> {
    bring_all_forward(transaction, now).await?;
    let held = held_beyond(transaction, now.plus_ms(LONGEST_MS)).await?;
    let released = DeliveryHold { until: now, by: HoldReason::QuietHours };
    let effects = vec![LifecycleEffect::Rehold { deliveries: held, hold: released }];
    effects::carry_out(transaction, effects, now).await?;
    let mut policies: HashMap<i64, Option<EscalationPolicy>> = HashMap::new();
    let mut after = 0;
    loop {
        let waiting = escalations::due_after(transaction, now, after, AT_ONCE).await?;
        let Some((_, last)) = waiting.last() else { return Ok(()) };
        after = last.incident;
        let mut effects = Vec::new();
        for (key, EscalationAdvance { incident, progress }) in waiting {
            let policy = match policies.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(escalation_policies::with_key(transaction, key).await?),
            };
            let Some(policy) = policy else { continue };
            let within = progress.limit_wait(policy, now);
            if within != progress {
                let advance = EscalationAdvance { incident, progress: within };
                effects.push(LifecycleEffect::AdvanceEscalation(advance));
            }
        }
        effects::carry_out(transaction, effects, now).await?;
    }
}
