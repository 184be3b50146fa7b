//! Files that a second run keeps, input that it refuses, and permissions of written files.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);

fn choices(folder: &Path) -> ServerChoices {
    ServerChoices {
        listen: "127.0.0.1:4222".into(),
        names: vec!["localhost".into()],
        server_folder: folder.into(),
        store_folder: folder.join("jetstream"),
        max_bytes: 1 << 30,
        own_certificate: None,
    }
}

/// Every file except the two derived ones: content and mode.
fn stored_files(folder: &Path) -> BTreeMap<PathBuf, (String, u32)> {
    let mut found = BTreeMap::new();
    for part in ["", "keys", "nodes", "tls"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            let follows = ["nats-server.conf", "server.pem"].iter().any(|name| path.ends_with(name));
            if path.is_file() && !follows {
                let mode = path.metadata().unwrap().permissions().mode() & 0o777;
                found.insert(path.clone(), (fs::read_to_string(&path).unwrap(), mode));
            }
        }
    }
    found
}

#[test]
fn adding_a_node_changes_no_existing_file() {
    let folder = tempfile::tempdir().unwrap();
    let (installation, choices) = (BusInstallation::at(folder.path()), choices(folder.path()));
    let first = installation.write(&choices, &["a".parse().unwrap()], NOW).unwrap();
    let before = stored_files(folder.path());
    let both = ["a".parse().unwrap(), "b".parse().unwrap()];
    let second = installation.write(&choices, &both, NOW.plus_ms(86_400_000)).unwrap();
    let after = stored_files(folder.path());
    assert_eq!(first.nodes.len(), 1);
    let made: Vec<bool> = second.nodes.iter().map(|(.., made)| *made).collect();
    assert_eq!(made, [false, true]);
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|(path, content)| after.get(path) == Some(content)));
    assert_eq!(installation.choices().unwrap(), Some(choices));
}

#[test]
fn secrets_are_readable_only_by_their_owner() {
    let folder = tempfile::tempdir().unwrap();
    let installation = BusInstallation::at(folder.path());
    installation.write(&choices(folder.path()), &["a".parse().unwrap()], NOW).unwrap();
    for (path, (text, mode)) in stored_files(folder.path()) {
        let is_secret = ["SEED", "PRIVATE KEY", "signing_key"].iter().any(|mark| text.contains(mark))
            || path.extension().is_some_and(|end| end == "seed");
        assert!(!is_secret || mode == 0o600, "{} has mode {mode:o}", path.display());
    }
    let text = fs::read_to_string(folder.path().join(CONFIGURATION)).unwrap();
    assert!(!text.contains("SEED") && !text.contains("PRIVATE"));
}

#[test]
fn an_unreadable_key_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let installation = BusInstallation::at(folder.path());
    installation.write(&choices(folder.path()), &[], NOW).unwrap();
    for name in ["keys/operator.seed", "keys/engine.seed", "keys/authority.key", "locations.key"] {
        let file = folder.path().join(name);
        let right = fs::read_to_string(&file).unwrap();
        fs::write(&file, "something else").unwrap();
        assert!(installation.write(&choices(folder.path()), &[], NOW).is_err(), "{name}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "something else");
        fs::write(&file, right).unwrap();
    }
    assert!(installation.write(&choices(folder.path()), &[], NOW).is_ok());
}

/// A new key would be useless to nodes, locations and clients that know the old one.
#[test]
fn a_missing_key_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let installation = BusInstallation::at(folder.path());
    let (a, both) = (["a".parse().unwrap()], ["a".parse().unwrap(), "b".parse().unwrap()]);
    installation.write(&choices(folder.path()), &a, NOW).unwrap();
    for name in [
        "keys/operator.seed",
        "keys/system.seed",
        "keys/engine.seed",
        "keys/locations.seed",
        "keys/authority.key",
        "tls/server.key",
        "locations.key",
    ] {
        let (file, away) = (folder.path().join(name), folder.path().join("keys/away"));
        fs::rename(&file, &away).unwrap();
        let before = stored_files(folder.path());
        let refused = installation.write(&choices(folder.path()), &both, NOW).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{} is missing; put it back", file.display())), "{refused}");
        assert_eq!(stored_files(folder.path()), before, "{name}");
        fs::rename(&away, &file).unwrap();
    }
    fs::rename(folder.path().join("keys"), folder.path().join("elsewhere")).unwrap();
    assert!(installation.write(&choices(folder.path()), &both, NOW).is_err());
    assert!(!folder.path().join("keys").exists());
    fs::rename(folder.path().join("elsewhere"), folder.path().join("keys")).unwrap();
    assert!(installation.write(&choices(folder.path()), &both, NOW).is_ok());
}

#[test]
fn files_of_another_installation_are_refused() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let a = ["a".parse().unwrap()];
    for folder in [&folder, &other] {
        BusInstallation::at(folder.path()).write(&choices(folder.path()), &a, NOW).unwrap();
    }
    for name in ["keys/engine.seed", "keys/authority.key", "nodes/a.creds", "tls/ca.pem", "locations.key"] {
        let file = folder.path().join(name);
        let right = fs::read_to_string(&file).unwrap();
        fs::write(&file, fs::read_to_string(other.path().join(name)).unwrap()).unwrap();
        let before = stored_files(folder.path());
        let installation = BusInstallation::at(folder.path());
        assert!(installation.write(&choices(folder.path()), &a, NOW).is_err(), "{name}");
        assert_eq!(stored_files(folder.path()), before, "{name}");
        fs::write(&file, right).unwrap();
    }
    assert!(BusInstallation::at(folder.path()).write(&choices(folder.path()), &a, NOW).is_ok());
}
