package main

import (
	"context"
	"strconv"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const finalizer = "operator.hydrofoil.test/hold"

// reconciler keeps a ConfigMap and a status for each task.
type reconciler struct {
	client.Client
	failed atomic.Int64
}

// Reconcile brings one task on.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	err := r.settle(ctx, request)
	if apierrors.IsConflict(err) {
		// The cache was behind; it is tried again, as operators do.
		r.failed.Add(1)
		return ctrl.Result{Requeue: true}, nil
	}
	return ctrl.Result{}, err
}

func (r *reconciler) settle(ctx context.Context, request ctrl.Request) error {
	t := &Task{}
	if err := r.Get(ctx, request.NamespacedName, t); err != nil {
		return client.IgnoreNotFound(err)
	}
	if t.DeletionTimestamp != nil {
		if controllerutil.RemoveFinalizer(t, finalizer) {
			return client.IgnoreNotFound(r.Update(ctx, t))
		}
		return nil
	}
	if controllerutil.AddFinalizer(t, finalizer) {
		return r.Update(ctx, t)
	}
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: t.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, held, func() error {
		held.Data = map[string]string{"steps": strconv.FormatInt(t.Spec.Steps, 10)}
		return controllerutil.SetControllerReference(t, held, r.Scheme())
	})
	if err != nil || t.Status.ObservedGeneration == t.Generation {
		return err
	}
	t.Status.ObservedGeneration, t.Status.Steps = t.Generation, t.Spec.Steps
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Settled", ObservedGeneration: t.Generation}
	apimeta.SetStatusCondition(&t.Status.Conditions, ready)
	return r.Status().Update(ctx, t)
}
