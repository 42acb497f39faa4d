package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	corev1 "k8s.io/api/core/v1"
)

// watched is an informer and what a fresh list of its kind gives.
type watched struct {
	name     string
	informer cache.SharedIndexInformer
	list     func() (runtime.Object, error)
	added    atomic.Int64
	deleted  atomic.Int64
}

func (w *watched) count() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.added.Add(1) },
		DeleteFunc: func(any) { w.deleted.Add(1) },
	}
}

// settled waits until the informer holds what a fresh list gives, object by object.
func (w *watched) settled(ctx context.Context) error {
	var why error
	err := wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		list, err := w.list()
		if err != nil {
			return false, err
		}
		fresh, err := apimeta.ExtractList(list)
		if err != nil {
			return false, err
		}
		why = same(fresh, w.informer.GetStore())
		return why == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w: %v", w.name, err, why)
	}
	return nil
}

func same(fresh []runtime.Object, held cache.Store) error {
	if len(fresh) != len(held.ListKeys()) {
		return fmt.Errorf("%d objects listed, %d held", len(fresh), len(held.ListKeys()))
	}
	for _, o := range fresh {
		mine, found, err := held.Get(o)
		if err != nil || !found {
			return fmt.Errorf("not held: %v (%v)", o, err)
		}
		if !apiequality.Semantic.DeepEqual(mine, o) {
			return fmt.Errorf("held: %v, listed: %v", mine, o)
		}
	}
	return nil
}

// proveInformers writes objects of four groups before and after the informers start, and compares what they hold.
func proveInformers(ctx context.Context, set kubernetes.Interface) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := churn(ctx, set, "before"); err != nil {
		return err
	}
	all := metav1.ListOptions{}
	f := informers.NewSharedInformerFactory(set, 0)
	kinds := []*watched{
		{name: "pods", informer: f.Core().V1().Pods().Informer(), list: func() (runtime.Object, error) {
			return set.CoreV1().Pods("").List(ctx, all)
		}},
		{name: "deployments", informer: f.Apps().V1().Deployments().Informer(), list: func() (runtime.Object, error) {
			return set.AppsV1().Deployments("").List(ctx, all)
		}},
		{name: "jobs", informer: f.Batch().V1().Jobs().Informer(), list: func() (runtime.Object, error) {
			return set.BatchV1().Jobs("").List(ctx, all)
		}},
		{name: "leases", informer: f.Coordination().V1().Leases().Informer(), list: func() (runtime.Object, error) {
			return set.CoordinationV1().Leases("").List(ctx, all)
		}},
	}
	for _, w := range kinds {
		if _, err := w.informer.AddEventHandler(w.count()); err != nil {
			return err
		}
	}
	f.Start(ctx.Done())
	for kind, synced := range f.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("%v did not sync", kind)
		}
	}
	if err := churn(ctx, set, "after"); err != nil {
		return err
	}
	for _, w := range kinds {
		if err := w.settled(ctx); err != nil {
			return err
		}
	}
	held := func(w *watched) int64 { return int64(len(w.informer.GetStore().ListKeys())) }
	return wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(context.Context) (bool, error) {
		for _, w := range kinds {
			if w.added.Load()-w.deleted.Load() != held(w) {
				return false, nil
			}
		}
		return true, nil
	})
}

// churn leaves three of six objects of each kind, changed.
func churn(ctx context.Context, set kubernetes.Interface, prefix string) error {
	create, update, now := metav1.CreateOptions{}, metav1.UpdateOptions{}, *metav1.NewDeleteOptions(0)
	for i := range 6 {
		name := fmt.Sprintf("%s%d", prefix, i)
		p, err := set.CoreV1().Pods(space).Create(ctx, pod(name), create)
		if err != nil {
			return err
		}
		d, err := set.AppsV1().Deployments(space).Create(ctx, deployment(name), create)
		if err != nil {
			return err
		}
		j, err := set.BatchV1().Jobs(space).Create(ctx, job(name), create)
		if err != nil {
			return err
		}
		l, err := set.CoordinationV1().Leases(space).Create(ctx, lease(name), create)
		if err != nil {
			return err
		}
		if i%2 == 1 {
			if err := set.CoreV1().Pods(space).Delete(ctx, name, now); err != nil {
				return err
			}
			if err := set.AppsV1().Deployments(space).Delete(ctx, name, now); err != nil {
				return err
			}
			if err := set.CoordinationV1().Leases(space).Delete(ctx, name, now); err != nil {
				return err
			}
			continue
		}
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if _, err := set.CoreV1().Pods(space).UpdateStatus(ctx, p, update); err != nil {
			return err
		}
		*d.Spec.Replicas = 3
		if _, err := set.AppsV1().Deployments(space).Update(ctx, d, update); err != nil {
			return err
		}
		*j.Spec.Suspend = false
		if _, err := set.BatchV1().Jobs(space).Update(ctx, j, update); err != nil {
			return err
		}
		*l.Spec.HolderIdentity = "another"
		if _, err := set.CoordinationV1().Leases(space).Update(ctx, l, update); err != nil {
			return err
		}
	}
	return nil
}

// proveMetadata follows pods by their metadata alone.
func proveMetadata(ctx context.Context, config *rest.Config, set kubernetes.Interface) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	f := metadatainformer.NewSharedInformerFactory(client, 0)
	w := &watched{name: "pods", informer: f.ForResource(pods).Informer(), list: func() (runtime.Object, error) {
		return client.Resource(pods).List(ctx, metav1.ListOptions{})
	}}
	f.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), w.informer.HasSynced) {
		return fmt.Errorf("no sync")
	}
	if _, err := set.CoreV1().Pods(space).Create(ctx, pod("metadata"), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := w.settled(ctx); err != nil {
		return err
	}
	held, found, err := w.informer.GetStore().GetByKey(space + "/metadata")
	if err != nil || !found || held.(*metav1.PartialObjectMetadata).Labels["made-by"] != "clients" {
		return fmt.Errorf("held: %v (%v)", held, err)
	}
	return nil
}

// proveElection has two candidates; the second leads once the first lets go.
func proveElection(ctx context.Context, set kubernetes.Interface) error {
	leads := make(chan string, 2)
	candidate := func(ctx context.Context, id string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: space, Name: "leader"},
				Client:     set.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: id},
			},
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 50 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- id }, OnStoppedLeading: func() {},
			},
		})
	}
	for _, id := range []string{"first", "second"} {
		own, letGo := context.WithCancel(ctx)
		go candidate(own, id)
		select {
		case got := <-leads:
			if got != id {
				letGo()
				return fmt.Errorf("%s leads, not %s", got, id)
			}
		case <-ctx.Done():
			letGo()
			return ctx.Err()
		}
		letGo()
	}
	return nil
}
