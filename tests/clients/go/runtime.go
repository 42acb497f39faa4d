package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// proveRuntimeClient does what a reconciler does with its client: create or update, patch, status, finalizers, apply.
func proveRuntimeClient(ctx context.Context, config *rest.Config) error {
	c, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	d := deployment("reconciled")
	d.Namespace = space
	if err := c.Create(ctx, d); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	result, err := controllerutil.CreateOrUpdate(ctx, c, d, func() error {
		d.Spec.Replicas = ptr.To[int32](4)
		controllerutil.AddFinalizer(d, "example.com/hold")
		return nil
	})
	if err != nil || result != controllerutil.OperationResultUpdated || d.Generation != 2 {
		return fmt.Errorf("create or update: %s, generation %d: %v", result, d.Generation, err)
	}
	base := d.DeepCopy()
	d.Spec.Template.Spec.Containers[0].Image = "registry.example/app:2"
	if err := c.Patch(ctx, d, client.StrategicMergeFrom(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	stale := base.DeepCopy()
	stale.Labels["late"] = "yes"
	if err := c.Patch(ctx, stale, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		return fmt.Errorf("patch of a stale object: %v", err)
	}
	d.Status.ObservedGeneration = d.Generation
	if err := c.Status().Update(ctx, d); err != nil || d.Status.ObservedGeneration != 3 {
		return fmt.Errorf("status: %v, %w", d.Status, err)
	}
	if err := proveApply(ctx, c); err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	if err := c.Get(ctx, client.ObjectKeyFromObject(d), u); err != nil {
		return fmt.Errorf("unstructured: %w", err)
	}
	if n, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas"); n != 4 {
		return fmt.Errorf("unstructured: %d replicas", n)
	}
	return proveFinalizer(ctx, c, d)
}

func proveApply(ctx context.Context, c client.Client) error {
	applied := appsapply.Deployment("reconciled", space).WithSpec(appsapply.DeploymentSpec().
		WithSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{"app": "reconciled"})).
		WithTemplate(coreapply.PodTemplateSpec().WithSpec(coreapply.PodSpec().WithContainers(
			coreapply.Container().WithName("sidecar").WithImage("registry.example/side:1"),
		))))
	if err := c.Apply(ctx, applied, client.FieldOwner("clients")); err != nil {
		return fmt.Errorf("apply: %w", err)
	}
	got := &appsv1.Deployment{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: space, Name: "reconciled"}, got); err != nil {
		return err
	}
	if len(got.Spec.Template.Spec.Containers) != 2 {
		return fmt.Errorf("apply: containers %v", got.Spec.Template.Spec.Containers)
	}
	return nil
}

func proveFinalizer(ctx context.Context, c client.Client, d *appsv1.Deployment) error {
	if err := c.Delete(ctx, d, client.PropagationPolicy("Background")); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil || d.DeletionTimestamp == nil {
		return fmt.Errorf("deletion waits for the finalizer: %v, %w", d.ObjectMeta, err)
	}
	controllerutil.RemoveFinalizer(d, "example.com/hold")
	if err := c.Update(ctx, d); err != nil {
		return fmt.Errorf("finalizer: %w", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); !apierrors.IsNotFound(err) {
		return fmt.Errorf("get of what is gone: %v", err)
	}
	return nil
}

// proveRuntimeCache reads by key, label and index from a cache that follows writes.
func proveRuntimeCache(ctx context.Context, config *rest.Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	held, err := cache.New(config, cache.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	byNode := func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }
	if err := held.IndexField(ctx, &corev1.Pod{}, "spec.nodeName", byNode); err != nil {
		return err
	}
	if _, err := held.GetInformer(ctx, &coordinationv1.Lease{}); err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- held.Start(ctx) }()
	if !held.WaitForCacheSync(ctx) {
		return fmt.Errorf("no sync: %v", <-failed)
	}
	for i := range 4 {
		p := pod(fmt.Sprintf("cached%d", i))
		p.Namespace, p.Spec.NodeName = space, fmt.Sprintf("node%d", i%2)
		if err := c.Create(ctx, p); err != nil {
			return fmt.Errorf("create: %w", err)
		}
	}
	return wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		pods := &corev1.PodList{}
		if err := held.List(ctx, pods, client.MatchingFields{"spec.nodeName": "node1"}, client.MatchingLabels(made)); err != nil {
			return false, err
		}
		return len(pods.Items) == 2, nil
	})
}
