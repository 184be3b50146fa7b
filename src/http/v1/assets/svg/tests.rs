//! Tests hostile drawings, and harmless ones that must not change.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

const OPEN: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">"#;

fn inside(inner: &str) -> String {
    format!("{OPEN}{inner}</svg>")
}

fn clean(text: &str) -> Result<String, SvgError> {
    sanitise(text.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// Checks that `before` becomes `after` inside of a drawing.
#[track_caller]
fn check(before: &str, after: &str) {
    assert_eq!(clean(&inside(before)), Ok(inside(after)), "{before}");
}

/// Contract 4.16: parts that draw are kept.
#[rstest]
#[case(r#"<path d="M0 0h10v10z" fill="red"/>"#)]
#[case(r##"<g id="a"><use xlink:href="#b"/><use href="#c"/></g>"##)]
#[case(r##"<rect fill="url(#grad)" style="fill:url(#grad);stroke:#000"/>"##)]
#[case(r#"<image href="data:image/png;base64,AAAA"/>"#)]
#[case(r#"<image xlink:href="DATA:image/JPEG;base64,AAAA"/>"#)]
#[case(r#"<style>.a{fill:#f00} .b&gt;.c{fill:url(#x)}</style>"#)]
#[case(r#"<text>Fish &amp; chips — ü &lt;3</text>"#)]
#[case(r#"<animate attributeName="opacity" from="0" to="1"/>"#)]
#[case(r#"<set attributeName="fill" to="red"/>"#)]
#[case(r#"<title>a</title><desc>b</desc><linearGradient id="g"><stop offset="0"/></linearGradient>"#)]
fn drawing_elements_stay(#[case] drawing: &str) {
    check(drawing, drawing);
}

/// Contract 4.16: elements that are removed with everything inside.
#[rstest]
#[case("<script>alert(1)</script>")]
#[case("<SCRIPT>alert(1)</SCRIPT>")]
#[case(r#"<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>"#)]
#[case("<script/>")]
#[case(r#"<script xlink:href="https://evil.example/x.js"/>"#)]
#[case("<script><![CDATA[alert(1)]]></script>")]
#[case("<script><g><path/></g>a</script>")]
#[case(r#"<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">a</p></foreignObject>"#)]
#[case("<ForeignObject>a</ForeignObject>")]
#[case(r#"<iframe src="https://evil.example"/>"#)]
#[case(r#"<embed src="x"/>"#)]
#[case(r#"<object data="x"/>"#)]
#[case("<audio/>")]
#[case("<video><g/></video>")]
#[case(r#"<animate attributeName="href" values="javascript:alert(1)"/>"#)]
#[case(r#"<animate attributeName="xlink:href" to="https://evil.example"/>"#)]
#[case(r#"<animate attributeName=" &#104;ref " to="x"/>"#)]
#[case(r#"<animateTransform attributeName="xlink:HREF" to="x"/>"#)]
#[case(r#"<set attributeName="href" to="javascript:alert(1)"/>"#)]
#[case(r#"<y:set attributeName="z:href" to="javascript:alert(1)"/>"#)]
#[case(r#"<set attributeName="onclick" to="alert(1)"/>"#)]
#[case(r#"<style>@import "https://evil.example/x.css";</style>"#)]
#[case(r"<style>@\69mport 'x'; </style>")]
#[case("<style>@im<!-- -->port 'x';</style>")]
#[case("<style>@im<![CDATA[port 'x']]>;</style>")]
#[case("<style>@&#105;mport 'x';</style>")]
#[case("<style>.a{fill:url(https://evil.example/#a)}</style>")]
#[case(r#"<style>.a{fill:URL( "//evil.example/#a" )}</style>"#)]
#[case(r"<style>.a{fill:u\72l(https://evil.example)}</style>")]
#[case(r"<style>.a{fill:\000075 rl(https://evil.example)}</style>")]
#[case("<style>.a{fill:image-set('https://evil.example' 1x)}</style>")]
#[case(r#"<style>.a{content:"/*";fill:url(https://evil.example);color:"*/"}</style>"#)]
#[case("<style>.a{content:'/*'}@import 'https://evil.example/x.css';</style>")]
#[case("<x:style>.a{width:expression(alert(1))}</x:style>")]
#[case("<?xml-stylesheet href=\"javascript:alert(1)\"?>")]
#[case("<!-- <script>alert(1)</script> -->")]
fn active_and_external_content_is_removed(#[case] part: &str) {
    check(&format!("<g>{part}</g><path/>"), "<g></g><path/>");
}

/// Contract 4.16: attributes that are removed.
#[rstest]
#[case(r#"onload="alert(1)""#)]
#[case(r#"ONLOAD="alert(1)""#)]
#[case(r#"x:onclick="alert(1)""#)]
#[case(r#"href="javascript:alert(1)""#)]
#[case(r#"xlink:href="JaVaScRiPt:alert(1)""#)]
#[case(r#"href=" javascript:alert(1)""#)]
#[case(r#"href="java&#10;script:alert(1)""#)]
#[case(r#"href="&#x6a;avascript:alert(1)""#)]
#[case(r#"any:href="https://evil.example""#)]
#[case(r#"HREF="//evil.example""#)]
#[case(r#"href="other.svg#a""#)]
#[case(r#"href="data:image/svg+xml;base64,AAAA""#)]
#[case(r#"href="data:text/html,x""#)]
#[case(r#"href="data:image/pngx,AAAA""#)]
#[case(r#"href="data:image/gif;base64,AAAA""#)]
#[case(r#"href="""#)]
#[case(r#"xml:base="https://evil.example/""#)]
#[case(r#"style="fill:url(https://evil.example)""#)]
#[case(r#"style="fill:u\72 l(//evil.example)""#)]
#[case(r#"style="behavior:url(#a)""#)]
#[case(r#"style="@import 'x'""#)]
#[case(r#"fill="url(https://evil.example/#a)""#)]
#[case(r#"filter="url('&#104;ttps://evil.example')""#)]
#[case(r##"mask="url(#a) url(//evil.example)""##)]
fn harmful_attributes_are_removed(#[case] attribute: &str) {
    check(&format!(r#"<a id="1" {attribute} class="2"/>"#), r#"<a id="1" class="2"/>"#);
}

#[test]
fn elements_of_other_vocabularies_lose_their_meaning() {
    check(
        r#"<h:form xmlns:h="http://www.w3.org/1999/xhtml" action="javascript:x"/>"#,
        r#"<h:form xmlns:h="urn:removed" action="javascript:x"/>"#,
    );
}

/// Contract 4.16: SVGs that are refused as a whole, and texts that are not XML.
#[rstest]
#[case("<!DOCTYPE svg><svg/>", SvgError::Refused)]
#[case(r#"<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>"#, SvgError::Refused)]
#[case("<svg>&a;</svg>", SvgError::Refused)]
#[case("<svg><a b='&a;'/></svg>", SvgError::Refused)]
#[case("<svg><script>&a;</script></svg>", SvgError::Refused)]
#[case("<html/>", SvgError::Refused)]
#[case("<SVG/>", SvgError::Refused)]
#[case(r#"<svg xmlns="http://www.w3.org/1999/xhtml"/>"#, SvgError::Refused)]
#[case(r#"<x:svg xmlns:x="http://www.w3.org/1999/xhtml"/>"#, SvgError::Refused)]
#[case("", SvgError::Unreadable)]
#[case("<svg>", SvgError::Unreadable)]
#[case("<svg></g>", SvgError::Unreadable)]
#[case("<svg/><svg/>", SvgError::Unreadable)]
#[case("<svg/>text", SvgError::Unreadable)]
#[case("<svg a='1' a='2'/>", SvgError::Unreadable)]
#[case("<svg a=1/>", SvgError::Unreadable)]
#[case("<svg>&#1;</svg>", SvgError::Unreadable)]
#[case("<svg>a & b</svg>", SvgError::Unreadable)]
#[case("<svg><a\"b/></svg>", SvgError::Unreadable)]
#[case("<svg><a:b:c/></svg>", SvgError::Unreadable)]
fn unnecessary_and_malformed_svg_is_refused(#[case] text: &str, #[case] error: SvgError) {
    assert_eq!(clean(text), Err(error), "{text}");
}

/// Contract 4.16: 64 levels are accepted, 65 are not; removed levels count as well.
#[rstest]
#[case(63, Ok(()))]
#[case(64, Err(SvgError::Refused))]
#[case(100_000, Err(SvgError::Refused))]
fn nesting_depth_is_limited(
    #[case] groups: usize,
    #[case] expected: Result<(), SvgError>,
    #[values("g", "script")] name: &str,
) {
    let text = inside(&(format!("<{name}>").repeat(groups) + &format!("</{name}>").repeat(groups)));
    assert_eq!(clean(&text).map(drop), expected);
}

#[test]
fn a_prefixed_root_and_a_declaration_are_fine() {
    let text = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<s:svg xmlns:s=\"http://www.w3.org/2000/svg\"><s:g/></s:svg>\n";
    assert_eq!(clean(text).unwrap(), "<s:svg xmlns:s=\"http://www.w3.org/2000/svg\"><s:g/></s:svg>");
    assert_eq!(sanitise(b"<svg>\xff</svg>"), Err(SvgError::Unreadable));
}

/// Many attributes must not occupy a thread for long.
#[test]
fn a_flood_of_attributes_is_refused() {
    let many: String = (0..200_000).map(|at| format!(" a{at}=''")).collect();
    assert_eq!(clean(&format!("<svg{many}/>")), Err(SvgError::Unreadable));
}

proptest! {
    /// For any input, sanitising does not panic, and sanitising the result again does not change it.
    #[test]
    fn cleaning_twice_changes_nothing(inner in r#"(<g>|</g>|<a |href=|"|'|>|/>|&amp;|&#60;|<style>|</style>|<!--|-->|<!\[CDATA\[|\]\]>|url\(|x| ){0,12}"#) {
        if let Ok(once) = clean(&inside(&inner)) {
            prop_assert_eq!(clean(&once).unwrap(), once);
        }
    }
}
