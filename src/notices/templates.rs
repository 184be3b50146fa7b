//! Templates of channels that cannot be filled: these channels send the facts as JSON until the template is changed.
//!
//! The API stores no template that fails with the samples. Templates stored by an earlier version may have had another
//! template language, so each leading process checks all stored templates once. A failure with a single message is
//! reported by the courier. A notice is closed when its channel was deleted or switched off, or was changed and its
//! template can be filled.

use crate::model::access::Organisation;
use crate::model::notice::{Notice, NoticeCondition, NoticeText};
use crate::model::notification::{ChannelKind, NotificationChannel};
use crate::model::visibility::Visibility;
use crate::notices::NoticeReconciler;
use crate::notices::phrase::NoticePhrase;
use crate::notify::kinds::template_flaw;
use crate::notify::template_notice::{TEMPLATE_EVENT, channel_of_subject, template_trouble};
use crate::store::{MainError, notices, notification_channels, organisations};
use crate::texts::GeneratedText;

/// Channels that are read at once.
const CHANNELS_AT_ONCE: u64 = 100;

/// Compares the templates with the open notices: all of them, or only those with a notice.
pub(super) async fn compare(parts: &NoticeReconciler, checks_all: bool) -> Result<(), MainError> {
    let main = parts.router.databases.main.reader();
    let mut lasting = notices::lasting_of(main, TEMPLATE_EVENT).await?;
    lasting.retain(|notice| channel_of_subject(&notice.trouble.subject).is_some());
    let mut broken = if checks_all { find_broken(parts).await? } else { Vec::new() };
    for notice in &lasting {
        if is_broken_still(parts, notice).await? {
            broken.push(notice.trouble.clone());
        }
    }
    parts.reconcile(&broken, &lasting, over).await;
    Ok(())
}

/// Returns the troubles of stored templates of active channels.
async fn find_broken(parts: &NoticeReconciler) -> Result<Vec<NoticeCondition>, MainError> {
    let main = parts.router.databases.main.reader();
    let (mut broken, mut after) = (Vec::new(), 0);
    loop {
        let kind = ChannelKind::Template;
        let channels = notification_channels::enabled_of_kind(main, kind, after, CHANNELS_AT_ONCE).await?;
        let Some(last) = channels.last() else { return Ok(broken) };
        after = last.key;
        for (channel, flaw) in flaws_of(channels).await {
            if let Some(owner) = organisations::get(main, channel.organisation).await? {
                broken.push(template_trouble(&channel, &owner, &flaw));
            }
        }
    }
}

/// Returns the channels whose templates cannot be filled, with the reasons; computed on another thread than the engine's.
async fn flaws_of(channels: Vec<NotificationChannel>) -> Vec<(NotificationChannel, String)> {
    let flawed = |channel: NotificationChannel| {
        let flaw = template_flaw(&channel.settings)?.to_string();
        Some((channel, flaw))
    };
    let work = tokio::task::spawn_blocking(move || channels.into_iter().filter_map(flawed).collect());
    work.await.unwrap_or_else(|error| {
        tracing::error!(%error, "cannot check the stored templates");
        Vec::new()
    })
}

/// Returns true unless the channel was deleted or switched off, or was changed since and its template can be filled.
async fn is_broken_still(parts: &NoticeReconciler, notice: &Notice) -> Result<bool, MainError> {
    let Some(id) = channel_of_subject(&notice.trouble.subject) else { return Ok(false) };
    let visibility = Visibility::whole(notice.trouble.subject.organisation);
    let main = parts.router.databases.main.reader();
    let Some(channel) = notification_channels::find(main, visibility, id).await? else { return Ok(false) };
    if !channel.is_enabled {
        return Ok(false);
    }
    if channel.updated_at <= notice.began_at {
        return Ok(true);
    }
    Ok(!flaws_of(vec![channel]).await.is_empty())
}

fn over(notice: &Notice, organisation: &Organisation) -> NoticeText {
    let title = GeneratedText::about("monitor-well", &notice.trouble.words.title);
    NoticePhrase { title, text: GeneratedText::new("monitor-well-text") }.words(organisation)
}
