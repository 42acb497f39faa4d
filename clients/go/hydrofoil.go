// Package hydrofoil starts a Kubernetes API server for a test, resets it, breaks it on purpose and shows its requests.
package hydrofoil

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is a server of one test or suite.
type Server struct {
	// URL is the address: http://127.0.0.1:PORT.
	URL string
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	t          testing.TB
}

// Fault is a fault that was added to a server.
type Fault struct {
	ID   string `json:"id"`
	Seen int    `json:"seen"`
	Hits int    `json:"hits"`
}

// Request is a request that a server has answered.
type Request struct {
	Method, Path, Verb, Resource, Subresource, Namespace, Name, User, Agent, Body, Answer, Fault string
	Code                                                                                         int
	Params                                                                                       map[string]string
}

// User has the credentials of a user.
type User struct {
	Headers    map[string]string `json:"headers"`
	Kubeconfig map[string]any    `json:"kubeconfig"`
}

// Start starts a server with flags of `hydrofoil serve`; it ends with the test.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	command := strings.Fields(os.Getenv("HYDROFOIL"))
	if len(command) == 0 {
		command = []string{"hydrofoil"}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	words := append(command[1:], "serve", "--port=0", "--test-controls", "--kubeconfig="+kubeconfig)
	program := exec.Command(command[0], append(words, flags...)...)
	program.Stderr = os.Stderr
	output, err := program.StdoutPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil {
		t.Fatalf("hydrofoil: %v (HYDROFOIL names the command)", err)
	}
	t.Cleanup(func() {
		_ = program.Process.Signal(syscall.SIGTERM)
		_ = program.Wait()
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if address, found := strings.CutPrefix(lines.Text(), "serving on "); found {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return &Server{URL: address, Kubeconfig: kubeconfig, t: t}
		}
	}
	t.Fatal("hydrofoil has not started")
	return nil
}

// call sends a request for the controls and decodes the answer; a failure ends the test.
func (s *Server) call(method, path string, body []byte, answer any) {
	s.t.Helper()
	request, err := http.NewRequest(method, s.URL+"/hydrofoil/v1"+path, bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if response.StatusCode >= 400 {
		var status struct{ Message string }
		_ = json.Unmarshal(data, &status)
		s.t.Fatalf("hydrofoil: %s %s: %s", method, path, status.Message)
	}
	if answer != nil {
		if err := json.Unmarshal(data, answer); err != nil {
			s.t.Fatalf("hydrofoil: %s %s: %v", method, path, err)
		}
	}
}

func encoded(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

// Reset returns to the state at readiness, without faults and requests.
func (s *Server) Reset() { s.t.Helper(); s.call("POST", "/reset", nil, nil) }

// Restart breaks all connections and ends the history, as clients see it of a restart; address, objects and users stay.
func (s *Server) Restart() { s.t.Helper(); s.call("POST", "/restart", nil, nil) }

// Snapshot returns the id of the present state.
func (s *Server) Snapshot() string {
	s.t.Helper()
	var taken struct{ ID string }
	s.call("POST", "/snapshots", nil, &taken)
	return taken.ID
}

// Restore returns to a snapshot; watches receive the differences as events. It returns their number.
func (s *Server) Restore(id string) int {
	s.t.Helper()
	var restored struct{ Changed int }
	s.call("POST", "/snapshots/"+id+"/restore", nil, &restored)
	return restored.Changed
}

// Freeze stops the clock at a moment.
func (s *Server) Freeze(at time.Time) {
	s.t.Helper()
	s.call("PUT", "/clock", encoded(map[string]any{"now": at.UTC().Format(time.RFC3339Nano), "frozen": true}), nil)
}

// Advance moves the clock forward.
func (s *Server) Advance(by time.Duration) {
	s.t.Helper()
	s.call("POST", "/clock/advance", encoded(map[string]string{"duration": by.String()}), nil)
}

// AddFault adds a fault: an action, and its match and parameters.
func (s *Server) AddFault(action string, given map[string]any) Fault {
	s.t.Helper()
	body := map[string]any{"action": action}
	for name, value := range given {
		body[name] = value
	}
	var fault Fault
	s.call("POST", "/faults", encoded(body), &fault)
	return fault
}

// Fault returns a fault with its present counts.
func (s *Server) Fault(id string) Fault {
	s.t.Helper()
	var fault Fault
	s.call("GET", "/faults/"+id, nil, &fault)
	return fault
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() { s.t.Helper(); s.call("DELETE", "/faults", nil, nil) }

// Requests returns the requests that a query such as "verb=list&params.limit=" selects.
func (s *Server) Requests(query string) []Request {
	s.t.Helper()
	var found struct{ Items []Request }
	s.call("GET", "/requests?"+query, nil, &found)
	return found.Items
}

// Apply applies objects in YAML or JSON. A text with a line break or ": ", or that begins with "{" or "[", is a manifest;
// any other is the path of a file or a folder, which begins at the folder of the test.
func (s *Server) Apply(manifests string) {
	s.t.Helper()
	if isManifest(manifests) {
		s.call("POST", "/apply", []byte(manifests), nil)
	} else {
		s.ApplyFile(manifests)
	}
}

// ApplyFile applies the objects of a file, or of all files in a folder and below it.
func (s *Server) ApplyFile(path string) {
	s.t.Helper()
	if _, err := os.Stat(path); err != nil {
		s.t.Fatalf("hydrofoil: %q is no file or folder, and no manifest (a text %s)", path, rule)
	}
	var texts []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || (name != path && !slices.Contains(suffixes, filepath.Ext(name))) {
			return err
		}
		data, err := os.ReadFile(name)
		texts = append(texts, string(data))
		return err
	})
	if err != nil {
		s.t.Fatalf("hydrofoil: %v", err)
	}
	s.call("POST", "/apply?origin="+url.QueryEscape(path), []byte(strings.Join(texts, "\n---\n")), nil)
}

const rule = "is a manifest if it has a line break or ': ', or begins with '{' or '['"

var suffixes = []string{".yaml", ".yml", ".json"}

func isManifest(text string) bool {
	begin := strings.TrimLeft(text, " \t\r\n")
	return strings.Contains(text, "\n") || strings.Contains(text, ": ") ||
		strings.HasPrefix(begin, "{") || strings.HasPrefix(begin, "[")
}

// Wait returns an object such as "deployments.apps/web" once it meets a condition.
func (s *Server) Wait(object, condition, namespace string, timeout time.Duration) map[string]any {
	s.t.Helper()
	var found map[string]any
	body := map[string]any{"object": object, "condition": condition, "namespace": namespace, "timeout": timeout.Seconds()}
	s.call("POST", "/wait", encoded(body), &found)
	return found
}

// Get returns an object such as "deployments.apps/web".
func (s *Server) Get(object, namespace string) map[string]any {
	s.t.Helper()
	var found map[string]any
	query := url.Values{"object": {object}, "namespace": {namespace}}
	s.call("GET", "/object?"+query.Encode(), nil, &found)
	return found
}

// SetStatus sets members of the status of an object, as its controller would; nil removes one. It returns the object.
func (s *Server) SetStatus(object string, status map[string]any, namespace string) map[string]any {
	s.t.Helper()
	var found map[string]any
	body := map[string]any{"object": object, "status": status, "namespace": namespace}
	s.call("PUT", "/status", encoded(body), &found)
	return found
}

// User returns the credentials of a user that has no rights but those of roles.
func (s *Server) User(name string, groups ...string) User {
	s.t.Helper()
	var user User
	s.call("POST", "/users", encoded(map[string]any{"name": name, "groups": groups}), &user)
	return user
}

// String returns the address.
func (s *Server) String() string { return fmt.Sprintf("hydrofoil at %s", s.URL) }
