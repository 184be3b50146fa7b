//! A changed escalation policy, with the incidents that follow it.

use crate::clock::Timestamp;
use crate::lifecycle::effects;
use crate::model::escalation::EscalationPolicy;
use crate::model::lifecycle_effect::{EscalationAdvance, LifecycleEffect};
use crate::store::{MainError, Transaction, escalation_policies, escalations};

/// Stores a changed policy, perhaps at another position in the order. Incidents that follow it continue with its
/// changed steps ([`EscalationProgress::after_change`](crate::model::escalation::EscalationProgress::after_change)).
pub async fn update(
    transaction: &Transaction,
    before: &EscalationPolicy,
    after: &EscalationPolicy,
    now: Timestamp,
) -> Result<(), MainError> {
    escalation_policies::update(transaction, before, after).await?;
    if (&before.steps, before.repeat_after_seconds) == (&after.steps, after.repeat_after_seconds) {
        return Ok(());
    }
    let mut effects = Vec::new();
    for EscalationAdvance { incident, progress } in
        escalations::of_policy_for_update(transaction, after.key).await?
    {
        let moved = progress.after_change(before, after, now);
        if moved != progress {
            let advance = EscalationAdvance { incident, progress: moved };
            effects.push(LifecycleEffect::AdvanceEscalation(advance));
        }
    }
    effects::carry_out(transaction, effects, now).await
}
