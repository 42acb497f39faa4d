// Command operator is an operator as kubebuilder lays one out: a typed kind with a status, a manager, a controller that
// owns ConfigMaps and a finalizer. It defines its kind, reconciles objects of it, deletes them, and prints what that took.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// patience is how long the whole program may take.
const patience = 120 * time.Second

// figures are what the program prints.
type figures struct {
	Objects    int     `json:"objects"`
	Reconciled float64 `json:"reconciledSeconds"`
	Deleted    float64 `json:"deletedSeconds"`
	Requests   int64   `json:"requests"`
	Retried    int64   `json:"retried"`
}

func main() {
	objects := flag.Int("objects", 1000, "how many objects are reconciled")
	flag.Parse()
	log.SetLogger(logr.Discard())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found, err := run(ctx, *objects)
	if err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
}

// counted counts requests.
type counted struct {
	inner http.RoundTripper
	n     *atomic.Int64
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.inner.RoundTrip(r)
}

func run(ctx context.Context, objects int) (*figures, error) {
	// The flag -kubeconfig is the library's own.
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	// The speed is the server's.
	config.QPS = -1
	var requests atomic.Int64
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return counted{inner: inner, n: &requests} })
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, addToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	if err := define(ctx, direct); err != nil {
		return nil, fmt.Errorf("define: %w", err)
	}
	r := &reconciler{}
	if err := start(ctx, config, scheme, r); err != nil {
		return nil, err
	}
	found := &figures{Objects: objects}
	if found.Reconciled, err = timed(func() error { return create(ctx, direct, objects) }); err != nil {
		return nil, fmt.Errorf("reconcile: %w", err)
	}
	if found.Deleted, err = timed(func() error { return remove(ctx, direct) }); err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	found.Requests, found.Retried = requests.Load(), r.failed.Load()
	return found, nil
}

func timed(work func() error) (float64, error) {
	start := time.Now()
	err := work()
	return time.Since(start).Seconds(), err
}

// start runs a manager with the controller of the kind until the context ends.
func start(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, r *reconciler) error {
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	r.Client = manager.GetClient()
	options := controller.Options{MaxConcurrentReconciles: 8}
	built := ctrl.NewControllerManagedBy(manager).For(&Task{}).Owns(&corev1.ConfigMap{}).WithOptions(options)
	if err := built.Complete(r); err != nil {
		return err
	}
	go func() {
		if err := manager.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "manager:", err)
		}
	}()
	return nil
}
