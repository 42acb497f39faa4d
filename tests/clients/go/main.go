// Command clients proves a server with the clients that operators are written with: client-go's typed clients and
// informers and controller-runtime's client and cache, all of them speaking protobuf. It prints a line a proof and fails
// at the first that does not hold.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// patience is how long the whole program may take.
const patience = 60 * time.Second

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of the server")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := prove(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
}

func prove(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// Proofs come at the speed of the server.
	config.QPS = -1
	typed := rest.CopyConfig(config)
	typed.ContentType = protobuf
	typed.AcceptContentTypes = protobuf
	spoken := &spoken{}
	typed.Wrap(spoken.wrap)
	set, err := kubernetes.NewForConfig(typed)
	if err != nil {
		return err
	}
	for _, p := range []struct {
		name string
		run  func() error
	}{
		{"core/v1 pods", func() error { return proveKind(ctx, set.CoreV1().Pods(space), pod) }},
		{"core/v1 configmaps", func() error { return proveKind(ctx, set.CoreV1().ConfigMaps(space), configMap) }},
		{"core/v1 nodes", func() error { return proveKind(ctx, set.CoreV1().Nodes(), node) }},
		{"apps/v1 deployments", func() error { return proveKind(ctx, set.AppsV1().Deployments(space), deployment) }},
		{"batch/v1 jobs", func() error { return proveKind(ctx, set.BatchV1().Jobs(space), job) }},
		{"coordination.k8s.io/v1 leases", func() error { return proveKind(ctx, set.CoordinationV1().Leases(space), lease) }},
		{"informers", func() error { return proveInformers(ctx, set) }},
		{"only protobuf was spoken", spoken.check},
		{"leader election", func() error { return proveElection(ctx, set) }},
		{"metadata informer", func() error { return proveMetadata(ctx, config, set) }},
		{"controller-runtime client", func() error { return proveRuntimeClient(ctx, config) }},
		{"controller-runtime cache", func() error { return proveRuntimeCache(ctx, config) }},
	} {
		if err := p.run(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Println("proved:", p.name)
	}
	return nil
}
