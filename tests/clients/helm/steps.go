package main

import (
	"errors"
	"strings"

	"helm.sh/helm/v3/pkg/action"
)

const releaseName = "proof"

func install(config *action.Configuration) error {
	step := action.NewInstall(config)
	step.ReleaseName, step.Namespace, step.CreateNamespace = releaseName, namespace, true
	_, err := step.Run(proofChart(), map[string]any{"generation": "1"})
	return err
}

func upgrade(config *action.Configuration) error {
	step := action.NewUpgrade(config)
	step.Namespace = namespace
	_, err := step.Run(releaseName, proofChart(), map[string]any{"generation": "2", "extra": true})
	return err
}

// refused upgrades to a chart that the server must not take: the selector of a Deployment is fixed.
func refused(config *action.Configuration) error {
	step := action.NewUpgrade(config)
	step.Namespace = namespace
	_, err := step.Run(releaseName, proofChart(), map[string]any{"generation": "2", "extra": true, "selector": "other"})
	if err == nil {
		return errors.New("the selector of a Deployment was changed")
	}
	if !strings.Contains(err.Error(), "field is immutable") {
		return err
	}
	return nil
}

func rollback(config *action.Configuration) error {
	step := action.NewRollback(config)
	step.Version = 1
	return step.Run(releaseName)
}

func uninstall(config *action.Configuration) error {
	_, err := action.NewUninstall(config).Run(releaseName)
	return err
}
