package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"strings"
	"testing"
)

// recorded is a short history of kube-apiserver and etcd.
func recorded(t *testing.T) *History {
	t.Helper()
	file, err := os.Open("testdata/reference.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := load(lines)
	if err != nil {
		t.Fatal(err)
	}
	h.order()
	return h
}

func verdictOf(h *History) *Checker {
	c := newChecker(h)
	c.check()
	return c
}

func TestRecordedHistoryPasses(t *testing.T) {
	c := verdictOf(recorded(t))
	for _, v := range c.bad {
		t.Errorf("%s: %s", v.Class, v.Text)
	}
	if c.linear.ops < 500 || c.linear.undecided > 0 {
		t.Errorf("porcupine looked at %d operations, %d undecided", c.linear.ops, c.linear.undecided)
	}
	for _, name := range c.names {
		if !c.wholeRun(c.res[name]) {
			t.Errorf("%s: the watchers did not see the whole run", name)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	h := recorded(t)
	var b bytes.Buffer
	if err := h.save(&b); err != nil {
		t.Fatal(err)
	}
	first := b.String()
	again, err := load(&b)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := again.save(&b); err != nil || b.String() != first {
		t.Errorf("saved %d bytes, saved again %d, %v", len(first), b.Len(), err)
	}
}

// pick returns the n-th operation that fits.
func pick(t *testing.T, h *History, n int, fits func(o *Op) bool) *Op {
	t.Helper()
	for _, o := range h.Ops {
		if fits(o) {
			if n == 0 {
				return o
			}
			n--
		}
	}
	t.Fatal("the history has no such operation")
	return nil
}

// stream returns a plain stream of a whole resource with at least n events.
func stream(t *testing.T, h *History, n int) *Stream {
	t.Helper()
	for _, s := range h.Streams {
		count := 0
		for _, e := range s.Events {
			if e.Type != "B" {
				count++
			}
		}
		if count >= n && !s.Init && s.Key == "" {
			return s
		}
	}
	t.Fatal("the history has no such stream")
	return nil
}

// change returns the place of a middle event of the type, "" for any.
func change(t *testing.T, s *Stream, kind string) int {
	t.Helper()
	for i := len(s.Events) / 2; i < len(s.Events)-1; i++ {
		if e := s.Events[i]; e.Type != "B" && (kind == "" || e.Type == kind) && s.Events[i+1].Type != "B" {
			return i
		}
	}
	t.Fatal("the stream has no such event")
	return 0
}

func ackedMono(o *Op) bool {
	return o.Out == OK && o.write() && strings.Contains(o.Key, "-mono-")
}

func plainList(o *Op) bool {
	return o.Kind == "list" && o.Out == OK && o.Walk == 0 && o.RVParam == "" && len(o.Items) > 3 && o.Audit == ""
}

// previous is the version of the key that the write replaced.
func previous(t *testing.T, h *History, o *Op) State {
	t.Helper()
	var best State
	for _, p := range h.Ops {
		if p.Out == OK && p.Got != nil && p.Res == o.Res && p.Key == o.Key && p.Got.RV < o.Got.RV && p.Got.RV > best.RV {
			best = *p.Got
		}
	}
	if best.RV == 0 {
		t.Fatal("no earlier version")
	}
	return best
}
