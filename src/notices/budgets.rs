//! Error budgets of SLA targets that burn too fast: the burn-rate rules of the SRE workbook.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use crate::model::access::Organisation;
use crate::model::incident::Severity;
use crate::model::notice::{Notice, NoticeCondition, NoticeSubject, NoticeText};
use crate::model::notification::NotificationEvent;
use crate::model::sla::SlaTarget;
use crate::model::sla::burn::{BurnRateReading, BurnState, LONGEST_MS};
use crate::model::visibility::Visibility;
use crate::notices::NoticeReconciler;
use crate::notices::debouncer::NoticeDebouncer;
use crate::notices::phrase::NoticePhrase;
use crate::sla_reports::{SlaReportError, SlaReportRequest, gather};
use crate::stats::sla::calculation::SlaCalculation;
use crate::store::{MainError, PageWindow, notices, organisations, sla_targets};
use crate::texts::GeneratedText;

const EVENT: NotificationEvent = NotificationEvent::SlaBurning;
/// The time without a firing rule after which the notice is closed: short windows recover soon.
const OVER_AFTER: Duration = Duration::from_secs(600);
/// Maximum number of targets of an organisation.
const TARGETS_MAX: u64 = 1_000;

/// State of budgets between two comparisons.
#[derive(Debug)]
pub(super) struct BudgetMemory {
    patience: NoticeDebouncer,
}

impl Default for BudgetMemory {
    fn default() -> Self {
        Self { patience: NoticeDebouncer::new(Duration::ZERO, OVER_AFTER) }
    }
}

impl BudgetMemory {
    /// Compares the budgets of all organisations with the open notices.
    pub(super) async fn compare(&mut self, parts: &NoticeReconciler) -> Result<(), MainError> {
        let main = parts.router.databases.main.reader();
        let lasting = notices::lasting_of(main, EVENT).await?;
        let (mut wrong, mut known) = (Vec::new(), BTreeSet::new());
        let owners = sla_targets::organisations_with_targets(main).await?;
        for organisation in organisations::with_keys(main, owners).await? {
            let visibility = Visibility::whole(organisation.key);
            let window = PageWindow { offset: 0, limit: TARGETS_MAX };
            for target in sla_targets::list(main, visibility, window).await?.0 {
                known.insert(target.id.to_string());
                wrong.extend(self.check_target(parts, &organisation, target, &lasting).await);
            }
        }
        let over = |notice: &Notice, organisation: &Organisation| {
            over(notice, organisation, !known.contains(&notice.trouble.subject.name))
        };
        parts.reconcile(&wrong, &lasting, over).await;
        Ok(())
    }

    /// Returns the trouble of a target's budget. When it cannot be read, the trouble of the open notice is returned.
    async fn check_target(
        &mut self,
        parts: &NoticeReconciler,
        organisation: &Organisation,
        target: SlaTarget,
        lasting: &[Notice],
    ) -> Option<NoticeCondition> {
        let (id, name) = (target.id, target.name.clone());
        let subject = NoticeSubject { organisation: organisation.key, event: EVENT, name: id.to_string() };
        let notice = lasting.iter().find(|notice| notice.trouble.subject == subject);
        let firing = match firing(parts, organisation, target).await {
            Ok(firing) => firing,
            Err(error) => {
                tracing::debug!(sla_target = %id, %error, "cannot read the error budget; retrying");
                return notice.map(|notice| notice.trouble.clone());
            }
        };
        if !self.patience.is_confirmed(id.as_str(), firing.is_some(), notice.is_some(), Instant::now()) {
            return None;
        }
        match firing {
            Some(firing) => Some(trouble(subject, &firing, &name, organisation)),
            None => notice.map(|notice| notice.trouble.clone()),
        }
    }
}

/// Returns the most urgent firing rule.
async fn firing(
    parts: &NoticeReconciler,
    organisation: &Organisation,
    target: SlaTarget,
) -> Result<Option<BurnRateReading>, SlaReportError> {
    let now = parts.guard.now();
    let period = target.terms.period.current(target.terms.zone, now);
    let judged = SlaCalculation::new(target.terms.clone(), period, now);
    let asked = SlaReportRequest { judged, since: now.plus_ms(-LONGEST_MS), now };
    let report = gather(&parts.router, Visibility::whole(organisation.key), target, asked).await?;
    let firing = report.burn.into_iter().flatten().filter(BurnRateReading::is_firing);
    Ok(firing.min_by_key(|reading| Reverse(reading.rule.state)))
}

fn trouble(
    subject: NoticeSubject,
    firing: &BurnRateReading,
    name: &str,
    organisation: &Organisation,
) -> NoticeCondition {
    let is_fast = firing.rule.state == BurnState::Fast;
    let rate = firing.long.unwrap_or_default();
    let rate = format!("{}.{}", rate / 1_000, rate % 1_000 / 100);
    let hours = usize::try_from(firing.rule.long_ms / 3_600_000).unwrap_or_default();
    let phrase = NoticePhrase {
        title: GeneratedText::about(if is_fast { "budget-burns-fast" } else { "budget-burns" }, name),
        text: GeneratedText::new("budget-burns-text").with_note(&rate).within_hours(hours),
    };
    NoticeCondition {
        subject,
        severity: if is_fast { Severity::Critical } else { Severity::Major },
        words: phrase.words(organisation),
        service: None,
    }
}

fn over(notice: &Notice, organisation: &Organisation, is_gone: bool) -> NoticeText {
    let text = if is_gone { "target-gone-text" } else { "budget-lasts-text" };
    let title = GeneratedText::about("budget-lasts", &notice.trouble.words.title);
    NoticePhrase { title, text: GeneratedText::new(text) }.words(organisation)
}
