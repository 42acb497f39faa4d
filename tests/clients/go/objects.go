package main

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

const space = "default"

// made is on every object that a proof of kinds makes.
var made = map[string]string{"made-by": "clients"}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"made-by": "clients"}}
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name:  "main",
			Image: "registry.example/app:1",
			Env:   []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "EMPTY"}},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")},
			}},
		}},
		NodeSelector:                  map[string]string{"disk": "ssd"},
		TerminationGracePeriodSeconds: ptr.To[int64](0),
	}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: meta(name), Spec: podSpec()}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: meta(name),
		Data:       map[string]string{"k": "v", "a": "<&>\u2028"},
		BinaryData: map[string][]byte{"b": {0, 1, 0xff}},
	}
}

func node(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: meta(name),
		Spec:       corev1.NodeSpec{PodCIDR: "10.1.0.0/24", PodCIDRs: []string{"10.1.0.0/24"}},
		Status: corev1.NodeStatus{Capacity: corev1.ResourceList{
			corev1.ResourcePods: resource.MustParse("110"), corev1.ResourceMemory: resource.MustParse("16384Ki"),
		}},
	}
}

func deployment(name string) *appsv1.Deployment {
	spec := podSpec()
	spec.TerminationGracePeriodSeconds = nil
	return &appsv1.Deployment{ObjectMeta: meta(name), Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](0),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}}, Spec: spec,
		},
		Strategy: appsv1.DeploymentStrategy{RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxSurge: ptr.To(intstr.FromInt32(2)), MaxUnavailable: ptr.To(intstr.FromString("10%")),
		}},
	}}
}

func job(name string) *batchv1.Job {
	spec := podSpec()
	spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: meta(name), Spec: batchv1.JobSpec{
		Suspend: ptr.To(true), Template: corev1.PodTemplateSpec{Spec: spec},
	}}
}

func lease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: meta(name), Spec: coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To("me"), LeaseDurationSeconds: ptr.To[int32](15), RenewTime: ptr.To(metav1.NowMicro()),
	}}
}
