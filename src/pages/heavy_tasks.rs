//! Runs functions that need a processor for long on threads of their own, few at a time, so that requests for other things
//! do not wait for them.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// Maximum number of functions that run at the same time.
const AT_A_TIME: usize = 2;

/// Threads for functions of one kind. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HeavyTasks {
    permits: Arc<Semaphore>,
}

impl Default for HeavyTasks {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(AT_A_TIME)) }
    }
}

impl HeavyTasks {
    /// Runs a function, after the functions that wait already; `None` if it panics. `known` is called before the function
    /// is run: if it has the result meanwhile, the function is not run.
    pub async fn run<T: Send + 'static>(
        &self,
        known: impl Fn() -> Option<T>,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok()?;
        if let Some(known) = known() {
            return Some(known);
        }
        let running = tokio::task::spawn_blocking(move || {
            // Held until the function has ended, even if nobody waits for its result any longer.
            let _permit = permit;
            task()
        });
        running.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_function_is_not_run_if_its_result_is_known() {
        let tasks = HeavyTasks::default();
        assert_eq!(tasks.run(|| None, || 1).await, Some(1));
        assert_eq!(tasks.run(|| Some(2), || unreachable!("it is not run")).await, Some(2));
        assert_eq!(tasks.run::<u32>(|| None, || panic!("a test")).await, None);
        assert_eq!(tasks.permits.available_permits(), AT_A_TIME);
    }
}
