//! The release that a kind follows: its minor version, and the feature gates that rules ask for.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Declare the gates and their names.
macro_rules! gates {
    ($($gate:ident),* $(,)?) => {
        /// A feature gate that guards rules of kinds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "they are described upstream (pkg/features/kube_features.go)")]
        pub enum Gate { $($gate),* }

        impl Gate {
            /// Every gate, each at the place of its bit.
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$gate, stringify!($gate))),*];
        }
    };
}

gates![
    CSIVolumeHealth,
    ClearingNominatedNodeNameAfterBinding,
    ClusterTrustBundleProjection,
    ContainerRestartRules,
    ContainerStopSignals,
    CoordinatedLeaderElection,
    CrossNamespaceVolumeDataSource,
    DRAConsumableCapacity,
    DRADeviceBindingConditions,
    DRADeviceTaints,
    DRAExtendedResource,
    DRAListTypeAttributes,
    DRANodeAllocatableResources,
    DRAPartitionableDevices,
    DRAPrioritizedList,
    DRAResourceClaimDeviceStatus,
    DRAWorkloadResourceClaims,
    DeploymentReplicaSetTerminatingReplicas,
    EnvFiles,
    GenericWorkload,
    HPAConfigurableTolerance,
    HPAScaleToZero,
    HostnameOverride,
    InPlacePodLevelResourcesVerticalScaling,
    InPlacePodVerticalScalingInitContainers,
    MatchLabelKeysInPodTopologySpread,
    MatchLabelKeysInPodTopologySpreadSelectorMerge,
    MaxUnavailableStatefulSet,
    MutablePVNodeAffinity,
    MutablePodResourcesForSuspendedJobs,
    MutableSchedulingDirectivesForSuspendedJobs,
    NodeDeclaredFeatures,
    PodCertificateRequest,
    PodDeletionCost,
    PodLevelResources,
    RelaxedServiceNameValidation,
    ResourceHealthStatus,
    ResourceHealthStatusMessage,
    RestartAllContainersOnContainerExits,
    TaintTolerationComparisonOperators,
    TopologyAwareWorkloadScheduling,
    UserNamespacesHostNetworkSupport,
    VolumeLimitScaling,
    WorkloadAwarePreemption,
];

/// A minor version, and the states of its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    minor: u8,
    /// A bit for each gate that is on.
    gates: u64,
}

const _: () = assert!(Gate::ALL.len() <= u64::BITS as usize, "each gate has a bit");

impl Release {
    /// Return the release of a minor version with the gates of some names on. Gates that no rule asks for are ignored.
    pub fn new<'n>(minor: u8, on: impl IntoIterator<Item = &'n str>) -> Self {
        let mut release = Self { minor, gates: 0 };
        for name in on {
            if let Some((gate, _)) = Gate::ALL.iter().find(|(_, own)| *own == name) {
                release.gates |= bit(*gate);
            }
        }
        release
    }

    /// Return the release of a file of the package (`apis/releases`), each gate as it is by default; `None` if the file
    /// is not one of them.
    pub fn parse(file: &[u8]) -> Option<Self> {
        let file: File<'_> = serde_json::from_slice(file).ok()?;
        Some(Self::new(file.minor, file.gates.iter().filter(|(_, (_, on, _))| *on).map(|(name, _)| *name)))
    }

    /// Return the minor version.
    pub const fn minor(self) -> u8 {
        self.minor
    }

    /// Report whether a gate is on.
    pub const fn enabled(self, gate: Gate) -> bool {
        self.gates & bit(gate) != 0
    }
}

/// The part of a file that has the gates, each with its stage, its default and whether that is locked.
#[derive(Deserialize)]
struct File<'f> {
    minor: u8,
    #[serde(borrow)]
    gates: BTreeMap<&'f str, (&'f str, bool, bool)>,
}

const fn bit(gate: Gate) -> u64 {
    1 << gate as u32
}

#[cfg(test)]
mod tests {
    use super::{Gate, Release};

    #[test]
    fn gates_are_on_by_name_and_independent_of_each_other() {
        let names: Vec<_> = Gate::ALL.iter().map(|(_, name)| *name).collect();
        assert!(names.is_sorted(), "{names:?}");
        for (gate, name) in Gate::ALL {
            let release = Release::new(35, [*name, "NoRuleAsksForIt"]);
            assert!(Gate::ALL.iter().all(|(other, _)| release.enabled(*other) == (gate == other)));
            assert_eq!(release.minor(), 35);
        }
    }
}
