//! Requests between engine nodes about services: a request is sent to one node by its name.

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::bus::connection::BusConnection;
use crate::bus::messages::enrolment;
use crate::bus::messages::question::{AnswerText, AnswerTextError, QuestionText};
use crate::bus::requests::{RequestSubscription, ask};
use crate::bus::subjects::BusSubject;
use crate::model::node::NodeName;
use crate::service_router::ServiceRouter;
use crate::service_router::peers::{PeerNodes, PeerReply, PeerRequest};

/// Maximum number of requests that are answered at a time; others wait.
const AT_ONCE: usize = 64;

/// The requests to other nodes, over the bus.
#[derive(Clone, Debug)]
pub struct BusPeers(pub BusConnection);

impl PeerNodes for BusPeers {
    fn are_reachable(&self) -> bool {
        self.0.state().is_connected()
    }

    fn ask(&self, node: NodeName, question: PeerRequest) -> BoxFuture<'static, Result<PeerReply, String>> {
        let (connection, is_reachable) = (self.0.clone(), self.are_reachable());
        async move {
            if !is_reachable {
                return Err("the bus is not connected".to_owned());
            }
            let question = QuestionText::from(question);
            let answer: AnswerText = ask(&connection, &BusSubject::Node(node), &question)
                .await
                .map_err(|unanswered| unanswered.to_string())?;
            answer.try_into().map_err(|form: AnswerTextError| form.to_string())
        }
        .boxed()
    }
}

/// Answers requests of other nodes to this node, until the connection is closed.
pub async fn answer(connection: &BusConnection, me: NodeName, router: &ServiceRouter) -> Result<(), String> {
    let questions = RequestSubscription::listen(connection, BusSubject::Node(me).to_string()).await?;
    let each = stream::unfold(questions, |mut questions| async {
        let question = questions.next().await?;
        Some((question, questions))
    });
    each.for_each_concurrent(AT_ONCE, |question| async move {
        let answer = match serde_json::from_slice::<QuestionText>(&question.payload) {
            Ok(text) => {
                let answer = router.answer(text.into()).await;
                enrolment::BusReply::Granted(AnswerText::from(answer))
            }
            Err(_) => enrolment::BusReply::Refused("unknown request".into()),
        };
        question.answer(&answer).await;
    })
    .await;
    Ok(())
}
