//! A device with one passkey (EdDSA), which answers challenges as a browser passes them on.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

use crate::support::client::{Answer, Client};
use crate::support::console::{ConsoleUser, PASSWORD, form};

/// A device, as used in a document of one origin.
pub(crate) struct Authenticator {
    key: Ed25519KeyPair,
    /// Such as `http://127.0.0.1:8080`.
    pub(crate) origin: String,
    /// Host without a port.
    pub(crate) host: String,
    /// Credential id.
    pub(crate) credential: Vec<u8>,
    /// Id of the user that the passkey was made for.
    pub(crate) user_handle: String,
    /// Flags of the device: 1 = somebody was present, 4 = the user was verified.
    pub(crate) flags: u8,
    pub(crate) counter: u32,
}

impl Authenticator {
    /// A new device.
    pub(crate) fn new(client: &Client) -> Self {
        let key = Ed25519KeyPair::generate().unwrap();
        let credential = key.public_key().as_ref()[..16].to_vec();
        let origin = format!("http://{}", client.address);
        let host = client.address.ip().to_string();
        Self { key, origin, host, credential, user_handle: String::new(), flags: 5, counter: 0 }
    }

    fn client_data(&self, operation: &str, challenge: &str) -> Vec<u8> {
        let challenge = URL_SAFE_NO_PAD.encode(challenge);
        json!({"type": operation, "challenge": challenge, "origin": self.origin}).to_string().into_bytes()
    }

    /// What the device says about itself, with more flags and bytes.
    fn data(&self, flags: u8, more: &[u8]) -> Vec<u8> {
        let host = digest(&SHA256, self.host.as_bytes());
        [host.as_ref(), &[self.flags | flags], &self.counter.to_be_bytes(), more].concat()
    }

    /// The fields of a form that adds the passkey with this name.
    pub(crate) fn made(&self, challenge: &str, name: &str) -> Vec<(String, String)> {
        // A map of five bytes: key type 1, algorithm -8, curve 6, and the point.
        let key = [&[0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32], self.key.public_key().as_ref()].concat();
        let data = self.data(0x40, &[&[0; 16], &[0, 16][..], &self.credential, &key].concat());
        let length = u8::try_from(data.len()).unwrap();
        let attestation = [b"\xa3cfmtdnonegattStmt\xa0hauthData\x58", &[length][..], &data].concat();
        fields(&[
            ("what", "passkey-add"),
            ("name", name),
            ("challenge", challenge),
            ("rawId", &STANDARD.encode(&self.credential)),
            ("clientDataJSON", &STANDARD.encode(self.client_data("webauthn.create", challenge))),
            ("attestationObject", &STANDARD.encode(attestation)),
        ])
    }

    /// The fields of a form that signs in.
    pub(crate) fn used(&self, challenge: &str) -> Vec<(String, String)> {
        let (client_data, data) = (self.client_data("webauthn.get", challenge), self.data(0, &[]));
        let signed = [&data, digest(&SHA256, &client_data).as_ref()].concat();
        fields(&[
            ("what", "passkey"),
            ("next", "/settings"),
            ("challenge", challenge),
            ("rawId", &STANDARD.encode(&self.credential)),
            ("clientDataJSON", &STANDARD.encode(client_data)),
            ("authenticatorData", &STANDARD.encode(data)),
            ("signature", &STANDARD.encode(self.key.sign(&signed))),
            ("userHandle", &STANDARD.encode(&self.user_handle)),
        ])
    }

    /// Adds the passkey in the settings of a user, with a new challenge.
    pub(crate) fn add(&mut self, client: &Client, user: &ConsoleUser, name: &str) -> Answer {
        let page = user.get("/settings").expect(200).body;
        let (_, rest) = page.split_once("data-user=\"").unwrap();
        self.user_handle = rest.split('"').next().unwrap().to_owned();
        let challenge = challenge(client, "/console/settings", &user.cookie());
        self.send(client, "/console/settings", &self.made(&challenge, name), &user.cookie())
    }

    /// Signs in, with a new challenge.
    pub(crate) fn sign_in(&self, client: &Client) -> Answer {
        let challenge = challenge(client, "/console/sign-in", "X-Nothing: 1");
        self.send(client, "/console/sign-in", &self.used(&challenge), "X-Nothing: 1")
    }

    /// Sends a form as a document of the client's own origin, whatever the device has signed.
    pub(crate) fn send(
        &self,
        client: &Client,
        path: &str,
        fields: &[(String, String)],
        line: &str,
    ) -> Answer {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
        post(client, path, &form(&fields), line)
    }
}

fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn post(client: &Client, path: &str, body: &str, line: &str) -> Answer {
    let origin = format!("Origin: http://{}", client.address);
    let lines = ["Content-Type: application/x-www-form-urlencoded", &origin, line];
    client.without_token().send("POST", path, &lines, body.as_bytes())
}

/// A new challenge from the form at this path.
pub(crate) fn challenge(client: &Client, path: &str, line: &str) -> String {
    let fields = form(&[("what", "passkey-challenge"), ("present", PASSWORD)]);
    post(client, path, &fields, line).expect(200).body
}
