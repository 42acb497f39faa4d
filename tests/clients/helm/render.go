package main

import (
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/strvals"
)

// render prints the manifests of a chart.
func render(folder string, given []string) error {
	loaded, err := loader.Load(folder)
	if err != nil {
		return err
	}
	values, err := strvals.Parse(strings.Join(escaped(given), ","))
	if err != nil {
		return err
	}
	install := action.NewInstall(new(action.Configuration))
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	install.ReleaseName, install.Namespace = "gateway", "default"
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	made, err := install.Run(loaded, values)
	if err != nil {
		return err
	}
	fmt.Print(made.Manifest)
	return nil
}

// escaped returns values whose commas are no separators.
func escaped(given []string) []string {
	out := make([]string, len(given))
	for i, value := range given {
		out[i] = strings.ReplaceAll(value, ",", "\\,")
	}
	return out
}
