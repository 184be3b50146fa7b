//! The services that have not answered the question whether they are alive.

use std::sync::Arc;

use crate::supervise::ActorLife;

/// Seconds between two judgements of an open question: an overloaded thread has very many.
const JUDGE_EVERY: u32 = 4;

/// The questions without an answer, each with the second in which it was asked.
#[derive(Default)]
pub(super) struct OpenQuestions(Vec<(u32, Arc<ActorLife>)>);

impl OpenQuestions {
    /// Adds a question that is asked in this second.
    pub(super) fn add(&mut self, second: u32, life: &Arc<ActorLife>) {
        self.0.push((second, Arc::clone(life)));
    }

    /// Ends the lives of frozen actors, and removes what was answered. `second` is the present one.
    pub(super) fn judge(&mut self, second: u32) {
        self.0.retain(|(asked, life)| {
            if !second.wrapping_sub(*asked).is_multiple_of(JUDGE_EVERY) {
                return true;
            }
            life.end_if_frozen(second);
            // A life with no other owner is over.
            life.is_open() && Arc::strong_count(life) > 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answered_questions_and_lives_that_are_over_are_removed() {
        let lives = [(); 3].map(|()| Arc::new(ActorLife::default()));
        let mut questions = OpenQuestions::default();
        for life in &lives {
            life.ask(7, None, drop);
            questions.add(7, life);
        }
        let [answered, kept, over] = lives;
        answered.note_answer(7);
        drop(over);
        questions.judge(8);
        assert_eq!(questions.0.len(), 3, "judged every four seconds");
        questions.judge(11);
        assert!(matches!(&questions.0[..], [(7, life)] if Arc::ptr_eq(life, &kept)));
    }
}
