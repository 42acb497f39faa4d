// Command login logs in with the kubeconfig of each context, and prints who the server says that is.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	for _, name := range os.Args[2:] {
		fmt.Printf("%s: %s\n", name, identity(os.Args[1], name))
	}
}

// identity is the user of a context, or why there is none.
func identity(file, name string) string {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: name}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return err.Error()
	}
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err.Error()
	}
	reviews := set.AuthenticationV1().SelfSubjectReviews()
	review, err := reviews.Create(context.Background(), &authentication.SelfSubjectReview{}, meta.CreateOptions{})
	if errors.IsUnauthorized(err) {
		return "401"
	}
	if err != nil {
		return err.Error()
	}
	groups := slices.Sorted(slices.Values(review.Status.UserInfo.Groups))
	return review.Status.UserInfo.Username + " " + strings.Join(groups, ",")
}
