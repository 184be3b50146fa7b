//! Operators see who watches what, by way of any node, also when one has died.

use serde_json::Value;

use crate::bus::node::Nodes;
use crate::nodes::{JOINED, TAKEN_OVER};
use crate::support::client::Client;
use crate::support::eventually;

/// Two nodes, and an operator who may see their state.
struct Watched {
    nodes: Nodes,
    token: String,
}

impl Watched {
    async fn start() -> Option<Self> {
        let nodes = Nodes::start(2).await?;
        nodes.until_even(&[0, 1], JOINED).await;
        let organisation = nodes.server(0).organisation("business");
        let token = nodes.server(0).member(&organisation, "engine.view").token?;
        Some(Self { nodes, token })
    }

    fn engine(&self, number: usize) -> Value {
        let operator = Client { token: Some(self.token.clone()), ..self.nodes.client(number) };
        operator.get("/v1/engine").expect(200).data()
    }

    /// The picture of both, and the exit code with it.
    fn picture(&self) -> (String, Option<i32>) {
        let [a, b] = [0, 1].map(|number| self.nodes.server(number).base());
        let arguments = ["status", "--once", "--token", &self.token, "--url", &a, "--url", &b];
        let drawn = self.nodes.server(0).command(&arguments);
        let picture = String::from_utf8(drawn.stdout).unwrap();
        println!("{picture}");
        (picture, drawn.status.code())
    }
}

/// The name of a node, the number of its partitions as another node sees it, and if it lives.
fn shares(engine: &Value) -> Vec<(String, u64, bool)> {
    let nodes = engine["ownership"]["nodes"].as_array().unwrap();
    let share = |node: &Value| {
        let numbers = node["numbers"].as_array().unwrap().len() as u64;
        assert_eq!(node["partitions"], numbers);
        (node["name"].as_str().unwrap().to_owned(), numbers, node["is_living"].as_bool().unwrap())
    };
    nodes.iter().map(share).collect()
}

#[tokio::test]
async fn partition_owners_are_shown_at_any_node() {
    let Some(mut scene) = Watched::start().await else { return };
    let both = scene.nodes.count();
    eventually("both see the same", || {
        let seen: Vec<_> = (0..both).map(|number| shares(&scene.engine(number))).collect();
        let is_even = seen[0].iter().all(|(_, partitions, is_living)| *partitions == 32 && *is_living);
        (seen[0] == seen[1] && seen[0].len() == 2 && is_even).then_some(())
    })
    .await;
    let engines: Vec<Value> = (0..both).map(|number| scene.engine(number)).collect();
    let leaders = engines.iter().filter(|engine| engine["ownership"]["leads"] == true).count();
    assert_eq!(leaders, 1);
    for engine in &engines {
        assert_eq!([&engine["ownership"]["partitions"], &engine["ownership"]["unowned"]], [32, 0]);
        assert_eq!(engine["queues"]["bus_connected"], true);
    }
    let (picture, code) = scene.picture();
    assert!(picture.starts_with("2 of 2 nodes answer") && picture.contains("32 of 64, leads"), "{picture}");
    assert_eq!(code, Some(0));

    scene.nodes.server_mut(1).kill();
    scene.nodes.until_owned(&[0], TAKEN_OVER).await;
    eventually("the survivor has taken over all of it", || {
        let ownership = scene.engine(0)["ownership"].take();
        ([&ownership["partitions"], &ownership["takeovers"]] == [64, 32]).then_some(())
    })
    .await;
    let (picture, code) = scene.picture();
    assert!(picture.starts_with("1 of 2 nodes answer") && picture.contains("does not answer"), "{picture}");
    assert_eq!(code, Some(1));
}
