package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const space = "default"

// pause is the time between two looks at all objects.
const pause = 100 * time.Millisecond

// define creates the kind, as `make install` does, and waits until it is served.
func define(ctx context.Context, c client.Client) error {
	integer := map[string]any{"type": "integer", "format": "int64"}
	condition := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true,
		"properties": map[string]any{"type": map[string]any{"type": "string"}}, "required": []any{"type"}}
	status := map[string]any{"type": "object", "properties": map[string]any{
		"observedGeneration": integer, "steps": integer,
		"conditions": map[string]any{"type": "array", "items": condition,
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"type"}},
	}}
	rule := map[string]any{"rule": "self.steps >= oldSelf.steps", "message": "steps never go back"}
	spec := map[string]any{"type": "object", "required": []any{"steps"}, "x-kubernetes-validations": []any{rule},
		"properties": map[string]any{"steps": map[string]any{"type": "integer", "format": "int64", "minimum": int64(0)}}}
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "tasks." + groupVersion.Group},
		"spec": map[string]any{
			"group": groupVersion.Group, "scope": "Namespaced",
			"names": map[string]any{"plural": "tasks", "kind": "Task"},
			"versions": []any{map[string]any{
				"name": groupVersion.Version, "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": spec, "status": status}}},
			}},
		},
	}}
	if err := c.Create(ctx, crd); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		err := c.List(ctx, &TaskList{})
		if apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// create makes the objects, changes every tenth, and waits until all are reconciled.
func create(ctx context.Context, c client.Client, objects int) error {
	for i := range objects {
		t := &Task{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: fmt.Sprintf("t%04d", i)}}
		t.Spec.Steps = int64(i)
		if err := c.Create(ctx, t); err != nil {
			return err
		}
		if i%10 == 0 {
			more := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"steps":%d}}`, i+1))
			if err := c.Patch(ctx, t, more); err != nil {
				return err
			}
		}
	}
	return wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		list := &TaskList{}
		if err := c.List(ctx, list, client.InNamespace(space)); err != nil {
			return false, err
		}
		if len(list.Items) != objects {
			return false, fmt.Errorf("%d objects of %d", len(list.Items), objects)
		}
		for i := range list.Items {
			t := &list.Items[i]
			done := t.Status.ObservedGeneration == t.Generation && t.Status.Steps == t.Spec.Steps
			if !done || !apimeta.IsStatusConditionTrue(t.Status.Conditions, "Ready") {
				return false, nil
			}
		}
		return true, nil
	})
}

// remove deletes all objects and waits until the last finalizer has gone.
func remove(ctx context.Context, c client.Client) error {
	if err := c.DeleteAllOf(ctx, &Task{}, client.InNamespace(space)); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, pause, true, func(ctx context.Context) (bool, error) {
		list := &TaskList{}
		err := c.List(ctx, list, client.InNamespace(space), client.Limit(1))
		return len(list.Items) == 0, err
	})
}
