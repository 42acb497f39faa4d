//! Admission that computes.

use hydrofoil_codec::json;
use hydrofoil_schema::admit::{self, limits, quota};
use hydrofoil_types::Value;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::draft::Draft;
use crate::error::decode_error;
use crate::stored::Stored;

fn parsed(data: &[u8]) -> PyResult<Value> {
    Ok(json::parse(data).map_err(|e| decode_error(&e))?.value)
}

/// Gives the containers of a pod the defaults of a limit range (JSON).
#[pyfunction]
pub(crate) fn limit_fill(draft: &Draft, range: &[u8]) -> PyResult<()> {
    limits::fill(&mut draft.value.lock(), &parsed(range)?);
    Ok(())
}

/// Why a limit range refuses a pod or, with `claim`, a claim.
#[pyfunction]
pub(crate) fn limit_refusal(draft: &Draft, range: &[u8], claim: bool) -> PyResult<Option<String>> {
    Ok(limits::refusal(claim, &draft.value.lock(), &parsed(range)?))
}

/// Whether a claim asks for more storage than before.
#[pyfunction]
pub(crate) fn storage_grows(draft: &Draft, old: &Stored) -> PyResult<bool> {
    Ok(admit::storage_grows(&*old.value(&draft.typed)?, &draft.value.lock()))
}

/// The quotas by index whose `status.used` changes, with the new one; or why one of them refuses.
type Charged<'py> = (Vec<(usize, Bound<'py, PyBytes>)>, Option<String>);

/// Charges a write to quotas.
#[pyfunction]
pub(crate) fn quota_charge<'py>(
    py: Python<'py>,
    draft: &Draft,
    old: Option<&Stored>,
    resource: (String, String, String),
    quotas: Vec<PyRef<'py, Stored>>,
) -> PyResult<Charged<'py>> {
    let old = old.map(|o| o.value(&draft.typed)).transpose()?;
    let quotas = quotas.iter().map(|q| Ok(q.value(&q.typed)?.into_owned())).collect::<PyResult<Vec<Value>>>()?;
    let object = draft.value.lock();
    let (group, plural, subresource) = &resource;
    let charge = quota::Charge { group, resource: plural, subresource, old: old.as_deref(), object: &object };
    Ok(match charge.check(&quotas) {
        Ok(changed) => {
            let shown = changed.iter().map(|(i, used)| (*i, PyBytes::new(py, &json::encode_any(used))));
            (shown.collect(), None)
        }
        Err(why) => (Vec::new(), Some(why)),
    })
}
