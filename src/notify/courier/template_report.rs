//! Opens a notice when the template of a channel cannot be filled and a message is therefore sent as JSON.

use crate::lifecycle;
use crate::model::notification::NotificationChannel;
use crate::notify::courier::attempt::Courier;
use crate::notify::template_notice::{template_subject, template_trouble};
use crate::store::{MainError, notices, organisations};

impl Courier {
    /// Opens the notice, unless it is already open. A failed write is repeated with the next message.
    pub(super) async fn report_template(&self, channel: &NotificationChannel, flaw: &str) {
        if let Err(error) = self.begin_template_notice(channel, flaw).await {
            tracing::warn!(
                channel = %channel.id,
                %error,
                "cannot write a notice; retrying with the next message"
            );
        }
    }

    async fn begin_template_notice(
        &self,
        channel: &NotificationChannel,
        flaw: &str,
    ) -> Result<(), MainError> {
        let main = &self.databases.main;
        if notices::is_open(main.reader(), &template_subject(channel)).await? {
            return Ok(());
        }
        let Some(organisation) = organisations::get(main.reader(), channel.organisation).await? else {
            return Ok(());
        };
        let trouble = template_trouble(channel, &organisation, flaw);
        let transaction = main.begin().await?;
        if lifecycle::notices::raise(&transaction, &trouble, self.guard.now()).await? {
            tracing::info!(event = %trouble.subject.event, subject = trouble.subject.name, "notice started");
        }
        transaction.commit().await
    }
}
