package main

import (
	"context"
	"encoding/base64"
	"fmt"

	"helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// kinds are the resources of the chart, and what of each an upgrade changes besides the label.
var kinds = []struct {
	schema.GroupVersionResource
	path []string
	of   func(generation string) string
}{
	{resource("", "v1", "configmaps"), []string{"data", "generation"}, same},
	{resource("", "v1", "secrets"), []string{"data", "password"}, func(g string) string {
		return base64.StdEncoding.EncodeToString([]byte("of-" + g))
	}},
	{resource("", "v1", "serviceaccounts"), nil, same},
	{resource("", "v1", "services"), nil, same},
	{resource("apps", "v1", "deployments"), []string{"spec", "replicas"}, same},
	{resource("apps", "v1", "statefulsets"), []string{"spec", "replicas"}, same},
	{resource("batch", "v1", "cronjobs"), []string{"spec", "schedule"}, func(g string) string { return g + " * * * *" }},
	{resource("rbac.authorization.k8s.io", "v1", "roles"), nil, same},
	{resource("rbac.authorization.k8s.io", "v1", "rolebindings"), nil, same},
	{resource("networking.k8s.io", "v1", "ingresses"), nil, same},
}

var budgets = resource("policy", "v1", "poddisruptionbudgets")

func same(generation string) string { return generation }

func resource(group, version, plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// cluster is what another client sees.
type cluster struct {
	ctx    context.Context
	client dynamic.Interface
}

func (c cluster) get(of schema.GroupVersionResource) (*unstructured.Unstructured, error) {
	return c.client.Resource(of).Namespace(namespace).Get(c.ctx, "proof", metav1.GetOptions{})
}

// has proves that every object is of a generation and that the newest revision of the release has a status.
func (c cluster) has(generation string, revisions int, status release.Status) error {
	for _, kind := range kinds {
		object, err := c.get(kind.GroupVersionResource)
		if err != nil {
			return err
		}
		if found := object.GetLabels()["generation"]; found != generation {
			return fmt.Errorf("%s is of generation %q, not %q", kind.Resource, found, generation)
		}
		if object.GetAnnotations()["meta.helm.sh/release-name"] != releaseName {
			return fmt.Errorf("%s is not marked as the release's", kind.Resource)
		}
		if kind.path == nil {
			continue
		}
		value, _, err := unstructured.NestedFieldNoCopy(object.Object, kind.path...)
		if err != nil || fmt.Sprint(value) != kind.of(generation) {
			return fmt.Errorf("%s has %v at %v (%v)", kind.Resource, value, kind.path, err)
		}
	}
	if err := c.hasExtra(generation == "2"); err != nil {
		return err
	}
	return c.isRecorded(revisions, status)
}

// hasExtra proves that what only the upgrade brings is there, or gone.
func (c cluster) hasExtra(extra bool) error {
	_, err := c.get(budgets)
	if extra != (err == nil) || (!extra && !apierrors.IsNotFound(err)) {
		return fmt.Errorf("the budget: %v", err)
	}
	service, err := c.get(resource("", "v1", "services"))
	if err != nil {
		return err
	}
	ports, _, err := unstructured.NestedSlice(service.Object, "spec", "ports")
	if err != nil || (len(ports) == 2) != extra {
		return fmt.Errorf("the service has ports %v (%v)", ports, err)
	}
	return nil
}

// isRecorded proves that the release has so many revisions, the newest of which has a status.
func (c cluster) isRecorded(revisions int, status release.Status) error {
	secrets := c.client.Resource(resource("", "v1", "secrets")).Namespace(namespace)
	list, err := secrets.List(c.ctx, metav1.ListOptions{LabelSelector: "owner=helm,name=" + releaseName})
	if err != nil {
		return err
	}
	if len(list.Items) != revisions {
		return fmt.Errorf("there are %d revisions, not %d", len(list.Items), revisions)
	}
	newest := fmt.Sprint(revisions)
	for _, record := range list.Items {
		labels := record.GetLabels()
		if labels["version"] == newest && labels["status"] != string(status) {
			return fmt.Errorf("revision %s is %s, not %s", newest, labels["status"], status)
		}
	}
	return nil
}

// isEmpty proves that nothing of the release is left.
func (c cluster) isEmpty() error {
	for _, kind := range kinds {
		if _, err := c.get(kind.GroupVersionResource); !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s is still there (%v)", kind.Resource, err)
		}
	}
	return c.isRecorded(0, "")
}
