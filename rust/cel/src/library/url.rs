//! URLs (apiserver `pkg/cel/library/urls.go`).

use std::rc::Rc;

use super::{Native, no_overload};
use crate::value::url::{Url, escape, unescape};
use crate::value::{Entries, Fail, Out, Table, Val};

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "url" => |a| match a {
            [Val::Str(s)] => match Url::parse(s) {
                Ok(url) => Ok(Val::Url(Rc::new(url))),
                Err(why) => {
                    Err(Fail::new(format!("URL parse error during conversion from string: parse {:?}: {why}", &**s)))
                }
            },
            _ => no_overload("url", a),
        },
        "isURL" => |a| match a {
            [Val::Str(s)] => Ok(Val::Bool(Url::parse(s).is_ok())),
            _ => no_overload("isURL", a),
        },
        "getScheme" => |a| part(a, |url| url.scheme.clone()),
        "getHost" => |a| part(a, |url| url.host.clone()),
        "getHostname" => |a| part(a, |url| url.split_host().0.trim_matches(['[', ']']).to_owned()),
        "getPort" => |a| part(a, |url| url.split_host().1.to_owned()),
        "getEscapedPath" => |a| part(a, |url| escape(&url.path)),
        "getQuery" => |a| match a {
            [Val::Url(url)] => Ok(query(&url.query)),
            _ => no_overload("getQuery", a),
        },
        _ => return None,
    })
}

fn part<'a>(a: &[Val<'_>], get: fn(&Url) -> String) -> Out<'a> {
    match a {
        [Val::Url(url)] => Ok(Val::text(get(url))),
        _ => Err(Fail::overload()),
    }
}

/// Return the values of each query parameter.
fn query<'a>(text: &str) -> Val<'a> {
    let mut out: Vec<(String, Vec<Val<'a>>)> = Vec::new();
    for pair in text.split('&').filter(|p| !p.is_empty() && !p.contains(';')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let plain = |t: &str| unescape(&t.replace('+', " "));
        let (Ok(key), Ok(value)) = (plain(key), plain(value)) else { continue };
        match out.iter_mut().find(|(k, _)| *k == key) {
            Some((_, values)) => values.push(Val::text(value)),
            None => out.push((key, vec![Val::text(value)])),
        }
    }
    let entries = out.into_iter().map(|(k, v)| (Val::text(k), Val::list(v))).collect();
    Val::Map(Table::Own(Rc::new(Entries::of(entries))))
}
