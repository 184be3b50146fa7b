//! The requirements on a supervised actor: the name of its kind, and an answer to the question whether it is
//! alive.

use actix::{Actor, Context, Handler};

use crate::supervise::kind::ActorKind;
use crate::supervise::life::LivenessQuery;

/// An actor that is started under supervision.
pub trait SupervisedActor: Actor<Context = Context<Self>> + Handler<LivenessQuery> {
    /// The name of the actor's kind, and the effect of its death.
    const KIND: ActorKind;
}
