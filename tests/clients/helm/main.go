// Command helm takes a chart of ten kinds through its life by Helm's own library: install, upgrade, rollback,
// uninstall. What has to be in the cluster after each step is asked for by another client. With -template it renders a
// chart with some values instead, as `helm template` does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "helm-proof"

func main() {
	path := flag.String("kubeconfig", "", "path of a kubeconfig")
	folder := flag.String("template", "", "folder of a chart to render, with values as arguments")
	flag.Parse()
	err := error(nil)
	if *folder != "" {
		err = render(*folder, flag.Args())
	} else {
		err = run(*path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run proves each step and prints its name.
func run(kubeconfig string) error {
	settings := cli.New()
	settings.KubeConfig = kubeconfig
	settings.SetNamespace(namespace)
	config := new(action.Configuration)
	silent := func(string, ...interface{}) {}
	if err := config.Init(settings.RESTClientGetter(), namespace, "secret", silent); err != nil {
		return err
	}
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	rest.QPS = -1
	client, err := dynamic.NewForConfig(rest)
	if err != nil {
		return err
	}
	seen := cluster{context.Background(), client}
	steps := []struct {
		name  string
		take  func(*action.Configuration) error
		prove func(cluster) error
	}{
		{"install", install, func(c cluster) error { return c.has("1", 1, release.StatusDeployed) }},
		{"upgrade", upgrade, func(c cluster) error { return c.has("2", 2, release.StatusDeployed) }},
		{"upgrade that cannot be", refused, func(c cluster) error { return c.has("2", 3, release.StatusFailed) }},
		{"rollback", rollback, func(c cluster) error { return c.has("1", 4, release.StatusDeployed) }},
		{"uninstall", uninstall, cluster.isEmpty},
	}
	for _, step := range steps {
		if err := step.take(config); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if err := step.prove(seen); err != nil {
			return fmt.Errorf("after %s: %w", step.name, err)
		}
		fmt.Println("proved:", step.name)
	}
	return nil
}
