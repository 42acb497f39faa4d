// Command envtest starts a server as envtest starts kube-apiserver, and lets users in with envtest's own certificates:
// those that its authority signed are who they say, those of another authority are refused.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	authentication "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	nowhere, _ := url.Parse("http://127.0.0.1:1")
	server := &envtest.APIServer{Path: path, EtcdURL: nowhere, Out: os.Stderr, Err: os.Stderr, StartTimeout: 30 * time.Second}
	// Objects are kept in the server itself.
	server.Configure().Disable("etcd-servers")
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	plane := &envtest.ControlPlane{APIServer: server}
	admin, err := plane.AddUser(envtest.User{Name: "root", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return err
	}
	person, err := plane.AddUser(envtest.User{Name: "ann", Groups: []string{"blue", "green"}}, nil)
	if err != nil {
		return err
	}
	fmt.Println("admin:", identity(admin.Config()))
	fmt.Println("user:", identity(person.Config()))
	fmt.Println("user lists secrets:", secrets(person.Config()))
	fmt.Println("admin lists secrets:", secrets(admin.Config()))
	foreign := rest.CopyConfig(person.Config())
	if foreign.CertData, foreign.KeyData, err = stranger(); err != nil {
		return err
	}
	fmt.Println("stranger:", identity(foreign))
	return nil
}

// identity is the user of a configuration, or the refusal.
func identity(config *rest.Config) string {
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

func secrets(config *rest.Config) string {
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err.Error()
	}
	_, err = set.CoreV1().Secrets("default").List(context.Background(), meta.ListOptions{})
	switch {
	case errors.IsForbidden(err):
		return "403"
	case err != nil:
		return err.Error()
	}
	return "200"
}

// stranger makes a certificate of ann that nobody knows signed.
func stranger() (cert, key []byte, err error) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "ann", Organization: []string{"system:masters"}},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.MarshalECPrivateKey(secret)
	if err != nil {
		return nil, nil, err
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}), nil
}
