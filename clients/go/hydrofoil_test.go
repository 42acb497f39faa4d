package hydrofoil_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hydrofoil.dev/hydrofoil"
)

const maps = "/api/v1/namespaces/default/configmaps"

func status(t *testing.T, server *hydrofoil.Server, path string) int {
	t.Helper()
	answer, err := http.Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestServer(t *testing.T) {
	server := hydrofoil.Start(t)
	before := server.Snapshot()
	server.Apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	found := server.Wait("configmaps/a", "exists", "default", 10*time.Second)
	if found["kind"] != "ConfigMap" || status(t, server, maps+"/a") != 200 {
		t.Fatalf("not applied: %v", found)
	}
	if changed := server.Restore(before); changed != 1 {
		t.Fatalf("%d objects differed", changed)
	}
	if status(t, server, maps+"/a") != 404 {
		t.Fatal("not restored")
	}
	fault := server.AddFault("status", map[string]any{"code": 503, "verb": "list", "times": 1})
	if status(t, server, maps) != 503 || status(t, server, maps) != 200 || server.Fault(fault.ID).Hits != 1 {
		t.Fatal("the fault has not acted once")
	}
	if requests := server.Requests("verb=list&code=503"); len(requests) != 1 || requests[0].Path != maps {
		t.Fatalf("%v", requests)
	}
	server.Freeze(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	server.Advance(25 * time.Hour)
	server.Apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
	metadata := server.Wait("configmaps/b", "exists", "default", time.Second)["metadata"].(map[string]any)
	if metadata["creationTimestamp"] != "2026-01-02T01:00:00Z" {
		t.Fatalf("%v", metadata)
	}
	if !strings.HasPrefix(server.User("bob", "dev").Headers["Authorization"], "Bearer ") {
		t.Fatal("no token")
	}
	server.ClearFaults()
	server.Restart()
	server.Reset()
	if len(server.Requests("")) != 0 || status(t, server, maps+"/b") != 404 {
		t.Fatal("not reset")
	}
}

func TestStatus(t *testing.T) {
	server := hydrofoil.Start(t)
	server.Apply("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}")
	server.SetStatus("pods/p", map[string]any{"phase": "Running"}, "default")
	if found := server.Get("pods/p", "default")["status"].(map[string]any); found["phase"] != "Running" {
		t.Fatalf("%v", found)
	}
}

func TestTextsAndPaths(t *testing.T) {
	server := hydrofoil.Start(t)
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"b/b.json":  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`,
		"notes.txt": "no manifest",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server.Apply(folder)
	server.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
	server.Apply(`[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"}}]`)
	before, err := os.Getwd()
	if err == nil {
		err = os.Chdir(folder)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chdir(before) })
	server.Apply("a.yaml")
	for _, name := range []string{"a", "b", "c", "d"} {
		if status(t, server, maps+"/"+name) != 200 {
			t.Fatalf("no %s", name)
		}
	}
}
