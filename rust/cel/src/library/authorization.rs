//! Functions of authorizers (apiserver `pkg/cel/library/authz.go`); `check` itself is a step of the program.

use std::rc::Rc;

use smol_str::SmolStr;

use super::{Native, no_overload};
use crate::value::{Fail, Out, Right, Stage, Text, Val};

/// Return the function of a name.
pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "path" => path,
        "group" => |args| narrow("group", args, Stage::Authorizer, |r, text| (r.stage, r.group) = (Stage::Group, text)),
        "serviceAccount" => service_account,
        "resource" => resource,
        "subresource" => |args| narrow("subresource", args, Stage::Resource, |r, text| r.subresource = text),
        "namespace" => |args| narrow("namespace", args, Stage::Resource, |r, text| r.namespace = text),
        "name" => |args| narrow("name", args, Stage::Resource, |r, text| r.name = text),
        "fieldSelector" => |args| narrow("fieldSelector", args, Stage::Resource, |r, text| r.field_selector = text),
        "labelSelector" => |args| narrow("labelSelector", args, Stage::Resource, |r, text| r.label_selector = text),
        "allowed" => is_allowed,
        "reason" => reason,
        "errored" => has_error,
        "error" => error,
        _ => return None,
    })
}

fn narrow<'a>(name: &str, args: &[Val<'a>], stage: Stage, change: impl FnOnce(&mut Right, SmolStr)) -> Out<'a> {
    match args {
        [Val::Right(right), Val::Str(text)] if right.stage == stage => {
            let mut right = Right::clone(right);
            change(&mut right, SmolStr::new(&**text));
            Ok(Val::Right(Rc::new(right)))
        }
        _ => no_overload(name, args),
    }
}

/// Check that a text that narrows down a right is not blank.
fn present(args: &[Val<'_>], what: &str) -> Result<(), Fail> {
    match args {
        [_, Val::Str(text)] if text.trim().is_empty() => Err(Fail::new(format!("{what} must not be empty"))),
        _ => Ok(()),
    }
}

fn path<'a>(args: &[Val<'a>]) -> Out<'a> {
    present(args, "path")?;
    narrow("path", args, Stage::Authorizer, |r, text| (r.stage, r.path) = (Stage::Path, text))
}

fn resource<'a>(args: &[Val<'a>]) -> Out<'a> {
    present(args, "resource")?;
    narrow("resource", args, Stage::Group, |r, text| (r.stage, r.resource) = (Stage::Resource, text))
}

fn service_account<'a>(args: &[Val<'a>]) -> Out<'a> {
    let [Val::Right(right), Val::Str(namespace), Val::Str(name)] = args else {
        return no_overload("serviceAccount", args);
    };
    if right.stage != Stage::Authorizer {
        return no_overload("serviceAccount", args);
    }
    if !is_subdomain(name) {
        return Err(Fail::new("Invalid service account name"));
    }
    if !is_label(namespace) {
        return Err(Fail::new("Invalid service account namespace"));
    }
    let account = Some((SmolStr::new(&**namespace), SmolStr::new(&**name)));
    Ok(Val::Right(Rc::new(Right { account, ..Right::clone(right) })))
}

fn is_label(text: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !text.is_empty() && text.len() <= 63 && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    let part = |part: &str| {
        let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        !part.is_empty() && part.bytes().all(allowed) && !part.starts_with('-') && !part.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(part)
}

fn is_allowed<'a>(args: &[Val<'a>]) -> Out<'a> {
    match args {
        [Val::Verdict(verdict)] => Ok(Val::Bool(verdict.allowed)),
        _ => no_overload("allowed", args),
    }
}

fn reason<'a>(args: &[Val<'a>]) -> Out<'a> {
    match args {
        [Val::Verdict(verdict)] => Ok(Val::Str(Text::Ref(&verdict.reason))),
        _ => no_overload("reason", args),
    }
}

fn has_error<'a>(args: &[Val<'a>]) -> Out<'a> {
    match args {
        [Val::Verdict(verdict)] => Ok(Val::Bool(verdict.error.is_some())),
        _ => no_overload("errored", args),
    }
}

fn error<'a>(args: &[Val<'a>]) -> Out<'a> {
    match args {
        [Val::Verdict(verdict)] => Ok(Val::Str(Text::Ref(verdict.error.as_deref().unwrap_or("")))),
        _ => no_overload("error", args),
    }
}
