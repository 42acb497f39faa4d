//! The behaviour of one kind: its `strategy.go`, `defaults.go`, `validation.go` and printer upstream.

use hydrofoil_types::{Causes, SmolStr, Timestamp, Value};

use super::Request;
use hydrofoil_rules::Release;
use hydrofoil_rules::meta::NameRule;
use hydrofoil_rules::table::Subject;

/// The fields that clients cannot set through an endpoint.
pub(crate) type ResetFields = &'static [&'static [&'static str]];

/// A conversion of an object to another form and back.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    /// Convert from the kind's own version.
    pub(crate) up: fn(&mut Value),
    /// Convert to the kind's own version.
    pub(crate) down: fn(&mut Value),
}

/// When generations are counted.
#[derive(Clone, Copy)]
pub(crate) struct GenerationRule {
    /// Whether a new object has generation 1; otherwise it has none.
    pub(crate) on_create: bool,
    /// Which updates make a new generation.
    pub(crate) on_update: Change,
}

/// The changes that increase the generation.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    /// No change does.
    Nothing,
    /// The spec, of this internal type (`core.PodSpec`).
    Spec(&'static str),
    /// The changes that the function finds when it compares the new object with the old one.
    Found(fn(&Value, &Value) -> bool),
}

/// When the metadata of a new object is validated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetadataOrder {
    /// Before the rules of the kind.
    First,
    /// After them, when they found no causes.
    Last,
    /// Where the rules of the kind do so themselves.
    Own,
}

/// A check of the metadata on updates by the validation of a kind, besides the common one.
#[derive(Clone, Copy)]
pub(crate) enum MetadataCheck {
    /// `ValidateObjectMeta`.
    Object,
    /// `ValidateObjectMetaUpdate`.
    Update,
}

/// Return the fields that `ResetObjectMetaForStatus` resets: a write of the status sets neither spec nor metadata.
pub(crate) fn reset_metadata(subresource: &str) -> Option<ResetFields> {
    (subresource == "status").then_some(&[&["spec"], &["metadata"]])
}

/// The behaviour of one kind that differs from others. A kind's static names its own steps and takes the rest from
/// [`Strategy::DEFAULT`].
#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "upstream's strategies are independent switches")]
pub(crate) struct Strategy {
    /// The rule for names.
    pub(crate) name_rule: NameRule,
    /// Whether PUT to an absent object creates it.
    pub(crate) allow_create_on_update: bool,
    /// Whether PUT may leave out the resourceVersion.
    pub(crate) allow_unconditional_update: bool,
    /// Whether DELETE returns the object.
    pub(crate) returns_deleted_object: bool,
    /// Whether DELETE allows a grace period.
    pub(crate) graceful_delete: bool,
    /// Whether `/scale` exists.
    pub(crate) has_scale: bool,
    /// Whether `/status` exists and the main resource leaves the status alone.
    pub(crate) has_status: bool,
    /// Whether a new object keeps the status that it was sent with.
    pub(crate) creates_status: bool,
    /// Whether a write of the status leaves the metadata alone (`ResetObjectMetaForStatus`).
    pub(crate) status_resets_metadata: bool,
    /// Return the fields that clients cannot set through an endpoint (`GetResetFields`); `None` for the usual ones.
    pub(crate) reset_fields: fn(&str) -> Option<ResetFields>,
    /// When generations are counted.
    pub(crate) generation: GenerationRule,

    /// Set the defaults of the version (`SetObjectDefaults_*`) at a moment.
    pub(crate) default: fn(Release, &mut Value, Timestamp),
    /// Apply the changes of decoding alone: `conversion.go` of the version moves write-only fields and drops
    /// annotations that another version left.
    pub(crate) after_decode: fn(&mut Value),
    /// Report why the conversion to the internal version refuses an object that its own version allows.
    pub(crate) conversion_refusal: fn(&Value) -> Option<String>,
    /// Set the fields that the conversion from the internal version sets in an empty object, as in a bookmark.
    pub(crate) defaults_of_empty_object: fn(&mut Value),
    /// The form that the rules concern, if it is not the version's own.
    pub(crate) internal: Option<Conversion>,
    /// The version in which objects are stored, where it is not the kind's own.
    pub(crate) storage: Option<Conversion>,
    /// An annotation that the conversion to the version adds, so that only the stored metadata has it.
    pub(crate) converted_annotation: Option<&'static str>,

    /// Drop the fields of features that are off, unless the old object uses them (`dropDisabledFields`).
    pub(crate) drop_disabled: fn(Release, &mut Value, Option<&Value>),
    /// Drop the fields of an update that are not kept, but whose change counts for the generation.
    pub(crate) drop_counted: fn(&mut Value, &Value),
    /// Prepare a new object at a moment (`PrepareForCreate`).
    pub(crate) prepare_create: fn(Release, &mut Value, Timestamp),
    /// Complete a prepared new object that was sent without labels.
    pub(crate) label: fn(&mut Value),
    /// Prepare an update by the old object (`PrepareForUpdate`).
    pub(crate) prepare_update: fn(Release, &mut Value, &Value),
    /// Set what depends on the moment of an update that is prepared.
    pub(crate) age_update: fn(&mut Value, &Value, Timestamp),
    /// Prepare a write of the status, which has the old specification by then.
    pub(crate) prepare_status: fn(Release, &mut Value, &Value, Timestamp),
    /// Prepare an update of another subresource.
    pub(crate) prepare_subresource: fn(Release, &str, &mut Value, &Value, Timestamp),

    /// When the metadata of a new object is validated.
    pub(crate) metadata_order: MetadataOrder,
    /// Which checks of the metadata an update adds to the common one.
    pub(crate) metadata_on_update: &'static [MetadataCheck],
    /// Which ones an update of a subresource adds.
    pub(crate) metadata_on_status: &'static [MetadataCheck],
    /// Whether finalizers without a domain have to be standard ones (`validateKubeFinalizerName`).
    pub(crate) kube_finalizers: bool,
    /// Validate a new object (`Validate`).
    pub(crate) validate: fn(&Request<'_>, &Value, &mut Causes),
    /// Validate an update, of a subresource too, by the old object (`ValidateUpdate`).
    pub(crate) validate_update: fn(&Request<'_>, &Value, &Value, &mut Causes),
    /// Return the warnings that preparation gives, which a refused object has as well.
    pub(crate) warn_prepared: fn(Release, &Value, &mut Vec<String>),
    /// Warn of a new object that is prepared and valid (`WarningsOnCreate`).
    pub(crate) warn_create: fn(Release, &Value, &mut Vec<String>),
    /// Warn of an update by the old object (`WarningsOnUpdate`).
    pub(crate) warn_update: fn(Release, &Value, &Value, &mut Vec<String>),
    /// Warn of a status that is written.
    pub(crate) warn_status: fn(Release, &Value, &mut Vec<String>),

    /// Return the columns of tables, where they are not those of the catalog.
    pub(crate) columns: Option<fn() -> Vec<Value>>,
    /// Print a row (`printers.go`); `None` for the name and the time of creation.
    pub(crate) row: Option<fn(&Subject<'_>) -> Vec<Value>>,
    /// Return the conditions of a row.
    pub(crate) row_conditions: fn(&Subject<'_>) -> Vec<Value>,
    /// Return the value of a field label that is not the path of a field (`ToSelectableFields`).
    pub(crate) field_value: fn(&str, &Value) -> Option<SmolStr>,
    /// Return the message for an unknown field label, if it differs from that of other kinds.
    pub(crate) unknown_field: fn(&str, &str) -> Option<String>,
}

impl Strategy {
    /// A kind without steps of its own.
    pub(crate) const DEFAULT: Self = Self {
        name_rule: NameRule::Subdomain,
        allow_create_on_update: false,
        allow_unconditional_update: true,
        returns_deleted_object: false,
        graceful_delete: false,
        has_scale: false,
        has_status: false,
        creates_status: false,
        status_resets_metadata: false,
        reset_fields: |_| None,
        generation: GenerationRule::NONE,
        default: |_, _, _| {},
        after_decode: |_| {},
        conversion_refusal: |_| None,
        defaults_of_empty_object: |_| {},
        internal: None,
        storage: None,
        converted_annotation: None,
        drop_disabled: |_, _, _| {},
        drop_counted: |_, _| {},
        prepare_create: |_, _, _| {},
        label: |_| {},
        prepare_update: |_, _, _| {},
        age_update: |_, _, _| {},
        prepare_status: |_, _, _, _| {},
        prepare_subresource: |_, _, _, _, _| {},
        metadata_order: MetadataOrder::First,
        metadata_on_update: &[MetadataCheck::Update],
        metadata_on_status: &[MetadataCheck::Update],
        kube_finalizers: true,
        validate: |_, _, _| {},
        validate_update: |req, object, _, causes| (req.kind.strategy.validate)(req, object, causes),
        warn_prepared: |_, _, _| {},
        warn_create: |_, _, _| {},
        warn_update: |_, _, _, _| {},
        warn_status: |_, _, _| {},
        columns: None,
        row: None,
        row_conditions: |_| Vec::new(),
        field_value: |_, _| None,
        unknown_field: |_, _| None,
    };
}

impl GenerationRule {
    /// No generation is counted.
    pub(crate) const NONE: Self = Self { on_create: false, on_update: Change::Nothing };
    /// Only the first generation is counted.
    pub(crate) const FIRST: Self = Self { on_create: true, on_update: Change::Nothing };

    /// Count new objects, and updates that change the spec, which is of the internal type.
    pub(crate) const fn of_spec(shape: &'static str) -> Self {
        Self { on_create: true, on_update: Change::Spec(shape) }
    }

    /// Count new objects, and the updates for which the function returns true.
    pub(crate) const fn of(found: fn(&Value, &Value) -> bool) -> Self {
        Self { on_create: true, on_update: Change::Found(found) }
    }
}
