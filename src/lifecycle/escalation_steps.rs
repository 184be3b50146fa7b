//! Takes a step of an escalation in one transaction with its messages, so that it is taken exactly once even if the
//! process is killed.

use std::collections::BTreeSet;

use crate::clock::Timestamp;
use crate::lifecycle::{audience, effects};
use crate::model::contact::Contact;
use crate::model::escalation::EscalationStep;
use crate::model::incident_effects::recipients::ReachedContact;
use crate::model::incident_effects::step::{StepOccasion, step_effects};
use crate::model::incident_effects::transition::waits_for_acknowledgement;
use crate::model::time_range::TimeRange;
use crate::store::escalations::DueStep;
use crate::store::oncall::{rosters, schedules};
use crate::store::{
    MainError, Transaction, contacts, escalation_policies, escalations, incidents, organisations,
};

/// Takes the step that is due, if it still is: writes its messages and the time of the next step. Returns the number of
/// messages that are sent now. The clock is read under the lock, so that messages about an incident have the order of its
/// changes.
pub async fn take_step(
    transaction: &Transaction,
    due: DueStep,
    clock: impl FnOnce() -> Timestamp,
) -> Result<usize, MainError> {
    organisations::lock(transaction, due.organisation).await?;
    let now = clock();
    let Some((policy, progress)) = escalations::claim_due(transaction, due.incident, now).await? else {
        return Ok(0);
    };
    let whole = incidents::of_key_for_update(transaction, due.incident).await?;
    let policy = escalation_policies::with_key(transaction, policy).await?;
    let (Some(whole), Some(policy)) = (whole.filter(waits_for_acknowledgement), policy) else {
        escalations::delete(transaction, due.incident).await?;
        return Ok(0);
    };
    let Some(audience) = audience::of_step(transaction, &whole.incident, now).await? else { return Ok(0) };
    let people = match progress.step(&policy) {
        Some(step) => people_of(transaction, step, now).await?,
        None => Vec::new(),
    };
    let step = StepOccasion { incident: &whole, policy: &policy, progress, people: &people, at: now };
    let effects = step_effects(&step, &audience);
    let leaving = effects.iter().filter(|effect| effect.leaves_now()).count();
    effects::carry_out(transaction, effects, now).await?;
    Ok(leaving)
}

/// Returns the recipients of a step: the contacts on duty now in its schedules, and the contacts that it names. A contact
/// to whom both applies counts as on duty.
async fn people_of(
    transaction: &Transaction,
    step: &EscalationStep,
    now: Timestamp,
) -> Result<Vec<ReachedContact>, MainError> {
    let keys: Vec<i64> = step.schedules.iter().map(|schedule| schedule.key).collect();
    let schedules = schedules::with_keys(transaction, &keys).await?;
    let moment = TimeRange { from: now, to: now.plus_ms(1) };
    let stored = rosters::of_schedules(transaction, schedules, moment).await?;
    let on_duty = stored.iter().filter_map(|stored| stored.roster().on_duty(now)).map(|shift| shift.contact);
    let on_duty: BTreeSet<i64> = on_duty.collect();
    let named = step.contacts.iter().map(|contact| contact.key);
    let all: BTreeSet<i64> = on_duty.iter().copied().chain(named).collect();
    let all: Vec<i64> = all.into_iter().collect();
    let contacts = contacts::with_keys(transaction, &all).await?;
    let reached = |contact: Contact| ReachedContact { is_on_duty: on_duty.contains(&contact.key), contact };
    Ok(contacts.into_iter().map(reached).collect())
}
