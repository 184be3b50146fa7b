//! `/v1/statuspages/{id}/assets/…` and `/assets/{hash}` (contract 4.16).
//!
//! What is done to a drawing and which pictures are sound is tested beside the code; here is what clients see of it.

use std::io::Cursor;

use image::{DynamicImage, GrayAlphaImage, GrayImage, ImageFormat, RgbImage, RgbaImage};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::client::{Answer, Client};
use crate::support::server::Server;

const FORM: &str = "Content-Type: multipart/form-data; boundary=XX";
const MIB: usize = 1024 * 1024;

fn page(client: &Client) -> String {
    let body = json!({"name": "Shop", "is_published": false});
    let made = client.post("/v1/statuspages", &body).expect(201);
    format!("/v1/statuspages/{}", made.data()["id"].as_str().unwrap())
}

fn form(field: &str, bytes: &[u8]) -> Vec<u8> {
    let head =
        format!("--XX\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"x.txt\"\r\n\r\n");
    [head.as_bytes(), bytes, b"\r\n--XX--\r\n"].concat()
}

fn upload(client: &Client, page: &str, name: &str, bytes: &[u8]) -> Answer {
    client.send("POST", &format!("{page}/assets/{name}"), &[FORM], &form("file", bytes))
}

/// The path of an address that the page shows.
fn path_of(page: &Value, key: &str) -> String {
    let url = page[key].as_str().unwrap_or_else(|| panic!("{key}: {page}"));
    let at = url.find("/assets/").unwrap();
    url[at..].to_owned()
}

fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let image = DynamicImage::ImageRgba8(RgbaImage::new(width, height));
    let image = if format == ImageFormat::Jpeg { image.to_rgb8().into() } else { image };
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"/></svg>"#;

/// Contract 4.16: 200 with the page without components; public, with a policy that lets nothing run.
#[test]
fn an_uploaded_drawing_is_cleaned_and_served() {
    let client = Server::shared_client();
    let page = page(&client);
    let hostile = SVG.replace("<path", "<script>alert(1)</script><path onload=\"alert(1)\"");
    let answer = upload(&client, &page, "logo", hostile.as_bytes()).expect(200);
    let shown = answer.data();
    assert!(shown.get("components").is_none() && shown.get("components_count").is_none(), "{shown}");
    assert_eq!(shown["id"], page.rsplit('/').next().unwrap());
    assert!(shown["logo_dark_url"].is_null() && shown["favicon_url"].is_null());
    assert_eq!(answer.header("content-language"), Some("en"));
    assert!(shown["logo_url"].as_str().unwrap().starts_with(&format!("http://{}/assets/", client.address)));
    let served = client.without_token().get(&path_of(&shown, "logo_url")).expect(200);
    assert_eq!(served.body, SVG);
    for (name, value) in [
        ("content-type", "image/svg+xml"),
        ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "public, max-age=31536000, immutable"),
    ] {
        assert_eq!(served.header(name), Some(value), "{name}");
    }
    let read = client.get(&page).expect(200).data();
    assert_eq!(read["logo_url"], shown["logo_url"]);
}

/// Contract 4.16: which types go where; file names do not count.
#[rstest]
#[case("logo", ImageFormat::Jpeg, "image/jpeg")]
#[case("logo", ImageFormat::Png, "image/png")]
#[case("logo-dark", ImageFormat::WebP, "image/webp")]
#[case("favicon", ImageFormat::Ico, "image/x-icon")]
#[case("favicon", ImageFormat::Png, "image/png")]
fn images_are_served_with_their_type(
    #[case] name: &str,
    #[case] format: ImageFormat,
    #[case] content_type: &str,
) {
    let client = Server::shared_client();
    let page = page(&client);
    let shown = upload(&client, &page, name, &picture(format, 16, 16)).expect(200).data();
    let key = format!("{}_url", name.replace('-', "_"));
    let served = client.without_token().send("HEAD", &path_of(&shown, &key), &[], b"").expect(200);
    assert_eq!(served.header("content-type"), Some(content_type));
    assert!(served.header("content-length").unwrap().parse::<usize>().unwrap() > 0);
    assert_eq!(served.body, "");
}

/// Contract 4.16: the address is the content; an upload replaces, a delete removes, a second one changes nothing.
#[test]
fn the_address_changes_with_the_content() {
    let client = Server::shared_client();
    let (page, other) = (page(&client), page(&client));
    let first = upload(&client, &page, "favicon", SVG.as_bytes()).expect(200).data();
    let same = upload(&client, &other, "logo", SVG.as_bytes()).expect(200).data();
    assert_eq!(path_of(&same, "logo_url"), path_of(&first, "favicon_url"));
    let drawing = SVG.replace("h9", "h8").replace("<svg", "<svg id=\"a-new-one\"");
    let second = upload(&client, &page, "favicon", drawing.as_bytes()).expect(200).data();
    assert_ne!(second["favicon_url"], first["favicon_url"]);
    client.get(&path_of(&second, "favicon_url")).expect(200);
    for _ in 0..2 {
        let deleted = client.delete(&format!("{page}/assets/favicon")).expect(200).data();
        assert!(deleted["favicon_url"].is_null() && deleted.get("components").is_none());
    }
    let gone = client.without_token().get(&path_of(&second, "favicon_url")).expect(404);
    assert_eq!(gone.message(), "The requested resource does not exist.");
    client.delete(&page).expect(200);
    client.get(&path_of(&same, "logo_url")).expect(200);
}

/// A PNG of 2 × 2 pixels with a palette of two colours.
const PALETTE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02\x08\x03\0\0\0\x45\x68\xfd\x16\0\0\0\x06PLTE\
    \xc8\x1e\x1e\x1e\xc8\x1e\xd8\x5e\xc2\x06\0\0\0\x0cIDAT\x78\xda\x63\x60\x60\x04\x42\0\0\x0c\0\x03\x15\x9e\x18\xfc\
    \0\0\0\0IEND\xae\x42\x60\x82";

fn png(image: impl Into<DynamicImage>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// An icon file with this PNG, said to have this side.
fn icon_of(png: &[u8], side: u8) -> Vec<u8> {
    let length = u32::try_from(png.len()).unwrap().to_le_bytes();
    let head = [0, 0, 1, 0, 1, 0, side, side, 0, 0, 1, 0, 32, 0];
    [&head[..], &length, &22_u32.to_le_bytes(), png].concat()
}

/// Contract 4.16: an icon whose picture is a PNG of any kind is taken; icon tools write all of them.
#[rstest]
#[case::rgba(&png(RgbaImage::new(16, 16)), 16)]
#[case::rgb(&png(RgbImage::new(16, 16)), 16)]
#[case::grey(&png(GrayImage::new(16, 16)), 16)]
#[case::grey_with_alpha(&png(GrayAlphaImage::new(16, 16)), 16)]
#[case::palette(PALETTE, 2)]
#[case::largest_side(&png(GrayImage::new(256, 256)), 0)]
fn an_icon_may_hold_a_png_of_any_kind(#[case] png: &[u8], #[case] side: u8) {
    let client = Server::shared_client();
    let page = page(&client);
    let icon = icon_of(png, side);
    let shown = upload(&client, &page, "favicon", &icon).expect(200).data();
    let served = client.without_token().send("HEAD", &path_of(&shown, "favicon_url"), &[], b"").expect(200);
    assert_eq!(served.header("content-type"), Some("image/x-icon"));
    assert_eq!(served.header("content-length"), Some(&*icon.len().to_string()));
}

#[rstest]
#[case::other_side(&png(GrayImage::new(16, 16)), 17)]
#[case::damaged(&PALETTE[..60], 2)]
#[case::too_long(&png(GrayImage::new(8_193, 256)), 0)]
fn an_icon_with_a_bad_png_is_refused(#[case] png: &[u8], #[case] side: u8) {
    let client = Server::shared_client();
    let refused = upload(&client, &page(&client), "favicon", &icon_of(png, side));
    assert_eq!(refused.errors(), [("file".to_owned(), IMAGE.to_owned())]);
}

const IMAGE: &str = "The image cannot be read or is too large.";
const REFUSED: &str = "The SVG contains parts that are not allowed.";

/// Contract 4.16 and 5.3: each refusal has its own text.
#[rstest]
#[case("logo", Vec::new(), "The file is empty.")]
#[case("logo", vec![0; 2 * MIB + 1], "The file may have at most 2 MB.")]
#[case("logo", vec![0; 3 * MIB], "The file may have at most 2 MB.")]
#[case("favicon", vec![0; MIB + 1], "The file may have at most 1 MB.")]
#[case("favicon", vec![b'x'; MIB], "Allowed file types: ICO, PNG, SVG.")]
#[case("logo", vec![b'x'; 2 * MIB], "Allowed file types: JPEG, PNG, WebP, SVG.")]
#[case("logo", b"GIF89a".to_vec(), "Allowed file types: JPEG, PNG, WebP, SVG.")]
#[case("logo-dark", picture(ImageFormat::Ico, 16, 16), "Allowed file types: JPEG, PNG, WebP, SVG.")]
#[case("favicon", picture(ImageFormat::Jpeg, 16, 16), "Allowed file types: ICO, PNG, SVG.")]
#[case("favicon", picture(ImageFormat::WebP, 16, 16), "Allowed file types: ICO, PNG, SVG.")]
#[case("logo", picture(ImageFormat::Png, 16, 16)[..50].to_vec(), IMAGE)]
#[case("logo", picture(ImageFormat::Png, 8_193, 1), IMAGE)]
#[case("logo", b"<svg><g></svg>".to_vec(), IMAGE)]
#[case("logo", b"<!DOCTYPE svg><svg/>".to_vec(), REFUSED)]
#[case("logo", b"<svg>&x;</svg>".to_vec(), REFUSED)]
#[case("favicon", b"<html/>".to_vec(), REFUSED)]
fn a_bad_file_is_refused(#[case] name: &str, #[case] bytes: Vec<u8>, #[case] text: &str) {
    let client = Server::shared_client();
    let page = page(&client);
    let refused = upload(&client, &page, name, &bytes);
    assert_eq!(refused.errors(), [("file".to_owned(), text.to_owned())]);
    assert_eq!(refused.message(), text);
}

/// Contract 4.16: without a file; other fields are ignored.
#[test]
fn the_file_must_be_in_its_field() {
    let client = Server::shared_client();
    let page = page(&client);
    let logo = format!("{page}/assets/logo");
    for body in [form("picture", SVG.as_bytes()), b"--XX--\r\n".to_vec(), Vec::new()] {
        let refused = client.send("POST", &logo, &[FORM], &body);
        assert_eq!(refused.errors(), [("file".to_owned(), "This field is required.".to_owned())]);
    }
    let other = b"--XX\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n";
    client.send("POST", &logo, &[FORM], &[&other[..], &form("file", SVG.as_bytes())].concat()).expect(200);
}

/// Contract 4.16: any other content type is 400.
#[rstest]
#[case("Content-Type: image/svg+xml")]
#[case("Content-Type: application/json")]
#[case("Content-Type: multipart/form-data")]
#[case("X-None: 1")]
fn only_a_form_is_accepted(#[case] content_type: &str) {
    let client = Server::shared_client();
    let page = page(&client);
    let answer = client.send("POST", &format!("{page}/assets/logo"), &[content_type], SVG.as_bytes());
    assert_eq!(answer.expect(400).message(), "Send the file as multipart/form-data.");
}

/// Contract 4.16: "`Idempotency-Key` has no effect".
#[test]
fn a_key_does_not_repeat_an_upload() {
    let client = Server::shared_client();
    let page = page(&client);
    let send = |drawing: &str| {
        let lines = [FORM, "Idempotency-Key: one-key-for-all"];
        client
            .send("POST", &format!("{page}/assets/logo"), &lines, &form("file", drawing.as_bytes()))
            .expect(200)
    };
    let first = send(SVG);
    let second = send(&SVG.replace("h9", "h7"));
    assert_ne!(first.data()["logo_url"], second.data()["logo_url"]);
    assert_eq!(second.header("idempotent-replayed"), None);
}

/// Contract 1.5, 2.2 and 4.16: other names, foreign pages, missing permission.
#[test]
fn files_belong_to_their_page() {
    let server = Server::shared();
    let (client, stranger) = (server.client(), server.tenant("business"));
    let page = page(&client);
    upload(&client, &page, "banner", SVG.as_bytes()).expect(404);
    client.delete(&format!("{page}/assets/Logo")).expect(404);
    let unknown = upload(&client, &format!("/v1/statuspages/{UNKNOWN_ID}"), "logo", b"x").expect(404);
    assert_eq!(
        upload(&stranger, &page, "logo", b"x").expect(404).without_request_id(),
        unknown.without_request_id()
    );
    stranger.delete(&format!("{page}/assets/logo")).expect(404);
    let reader = server.member(&server.organisation("team"), "statuspages.view");
    let refused = upload(&reader, &page, "logo", b"x").expect(403);
    assert_eq!(refused.message(), "This token is missing the permission 'statuspages.edit'.");
    assert_eq!(client.get(&format!("{page}/assets/logo")).expect(405).header("allow"), Some("POST, DELETE"));
}

/// Contract 1.1: what is no file is no path of the server.
#[rstest]
#[case("/assets/short")]
#[case("/assets/../v1/me")]
#[case("/assets/")]
#[case("/assets/0000000000000000000000000000000000000000000000000000000000000000")]
fn an_unknown_file_is_not_found(#[case] path: &str) {
    let answer = Server::shared_client().without_token().get(path).expect(404);
    assert_eq!(answer.message(), "The requested resource does not exist.");
}
