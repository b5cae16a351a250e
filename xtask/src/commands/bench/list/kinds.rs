//! The kinds of pages that are measured.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::measure::Whole;
use super::peer::{Peer, request};

/// What the bench's stores hold; see `bench/src/many.rs`.
const DIRECTORY: &str = "/home/somebody/work/project-3";
const RARE_WORD: &str = "xylophone";
const COMMON_WORD: &str = "refactor";
/// Older than everything in them.
const BEFORE_ALL: &str = "2000-01-01T00:00:00Z";
/// The page that is measured as a later one, or the last before the end.
const LATER: u32 = 6;

/// Searches whose first page and a later one are measured, and whether they find anything: words that 2,000 sessions
/// hold or all, that most hold, and that half of them hold.
const SEARCHES: [(&str, &str, bool); 13] = [
    ("2,000", "zeppelin", true),
    ("2,000, half", "zeppe", true),
    ("two of the same 2,000", "zeppelin yardarm", true),
    ("two of other 2,000", "zeppelin vineyard", false),
    ("two halves, other 2,000", "zeppe viney", false),
    ("2,000 and most", "zeppelin workflow", true),
    ("most", "workflow", true),
    ("most, half", "workf", true),
    ("most, three letters", "wor", true),
    ("two of most", "workflow checklist", true),
    ("two halves of most", "workf checkl", true),
    ("old half and new half", "ancient novelty", false),
    ("every other and the others", "evening oddity", false),
];

/// A request that is sent again and again.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) line: String,
    /// Whether its page has rows.
    pub(super) has_rows: bool,
}

/// All kinds of requests, the plain first page first.
pub(super) fn all(program: &mut Peer, whole: &Whole) -> Result<Vec<Kind>> {
    program.time(&request("session/list", &json!({})))?;
    let page = program.answer()?;
    let rows = page["result"]["sessions"].as_array().context("no rows")?;
    // Among the first rows many share a time: half a page is behind the middle one's.
    let recent = &rows[rows.len() / 2]["updatedAt"];
    let middle = whole.times.get(whole.times.len() / 2).context("no pages")?;
    let oldest = whole.times.last().context("no pages")?;
    let kind = |name: &str, params: &Value| Kind {
        name: name.to_owned(),
        line: request("session/list", params),
        has_rows: true,
    };
    let mut kinds = vec![
        kind("first page", &json!({})),
        kind("page 500, or last", &json!({ "cursor": whole.deep })),
        // As many rows as the directory has in the smallest store, so that the sizes compare.
        kind("cwd page, 50 rows", &json!({ "cwd": DIRECTORY, "_meta": {"acp-sessions": {"limit": 50}} })),
        kind("updatedAfter page", &own(&json!({ "updatedAfter": recent }))),
        kind("search, rare word", &own(&json!({ "search": RARE_WORD }))),
        kind("search, common word", &own(&json!({ "search": COMMON_WORD }))),
        kind("search, half a word", &own(&json!({ "search": &COMMON_WORD[..5] }))),
        kind("search, both words", &own(&json!({ "search": format!("{COMMON_WORD} {RARE_WORD}") }))),
    ];
    let none = Kind { has_rows: false, ..kind("createdBefore all", &own(&json!({ "createdBefore": BEFORE_ALL }))) };
    kinds.push(none);
    kinds.extend(two_pages(program, "createdBefore, oldest", &json!({ "createdBefore": oldest }))?);
    kinds.extend(two_pages(program, "createdBefore, middle", &json!({ "createdBefore": middle }))?);
    for (name, query, has_rows) in SEARCHES {
        let pages = two_pages(program, &format!("search, {name}"), &json!({ "search": query }))?;
        let found = pages.iter().all(|page| page.has_rows == has_rows);
        ensure!(found, "the search for `{query}` is not as it should be");
        kinds.extend(pages);
    }
    Ok(kinds)
}

/// The first page of a list and a later one, if it has more than one.
fn two_pages(program: &mut Peer, name: &str, options: &Value) -> Result<Vec<Kind>> {
    let params = |cursor: &Value| {
        let mut params = own(options);
        params["cursor"] = cursor.clone();
        params
    };
    let (mut cursor, mut kinds) = (Value::Null, Vec::new());
    for page in 1..=LATER {
        let line = request("session/list", &params(&cursor));
        program.time(&line)?;
        let answer = program.answer()?;
        ensure!(answer["error"].is_null(), "a list failed: {answer}");
        let has_rows = answer["result"]["sessions"].as_array().is_some_and(|rows| !rows.is_empty());
        cursor = answer["result"]["nextCursor"].clone();
        let is_last = cursor.is_null() || page == LATER;
        if page == 1 {
            kinds.push(Kind { name: name.to_owned(), line, has_rows });
        } else if is_last {
            kinds.push(Kind { name: format!("{name}, later page"), line, has_rows });
        }
        if is_last {
            break;
        }
    }
    Ok(kinds)
}

fn own(options: &Value) -> Value {
    json!({"_meta": {"acp-sessions": options}})
}
