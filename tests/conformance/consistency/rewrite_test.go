package main

import (
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// renumber gives a version another number wherever it was seen.
func renumber(h *History, from, to uint64) {
	renumberIn(h, "configmaps", from, to)
	renumberIn(h, "secrets", from, to)
}

func renumberIn(h *History, res string, from, to uint64) {
	for _, o := range h.Ops {
		if o.Res != res {
			continue
		}
		if o.Got != nil && o.Got.RV == from {
			o.Got.RV = to
		}
		for i := range o.Items {
			if o.Items[i].RV == from {
				o.Items[i].RV = to
			}
		}
	}
	for _, s := range h.Streams {
		for i := range s.Events {
			if s.Res == res && s.Events[i].RV == from && s.Events[i].Type != "B" {
				s.Events[i].RV = to
			}
		}
	}
}

// forget makes the outcome of a write unknown, as a broken connection does.
func forget(o *Op) {
	o.Out, o.Code, o.Reason, o.Got, o.UID = Unknown, 0, "EOF", nil, ""
}

func mustPass(t *testing.T, h *History) {
	t.Helper()
	for i, v := range verdictOf(h).bad {
		if i < 5 {
			t.Errorf("%s: %s", v.Class, v.Text)
		}
	}
}

func TestUnknownOutcomesPass(t *testing.T) {
	for every := 1; every <= 7; every += 2 {
		h := recorded(t)
		n := 0
		for _, o := range h.Ops {
			if o.write() && o.Client != "main" {
				if n++; n%every == 0 {
					forget(o)
				}
			}
		}
		mustPass(t, h)
	}
}

// blind takes from all watchers what happened between two versions, as a
// restarted server does that remembers no events, and makes some outcomes in
// that time unknown.
func blind(h *History, res string, from, to uint64, every int) {
	var out []*Stream
	for _, s := range h.Streams {
		if s.Res != res {
			out = append(out, s)
			continue
		}
		if s.Init {
			continue
		}
		a, b := *s, *s
		b.From, b.N = max(s.From, to), s.N+1000
		a.Events, b.Events = nil, nil
		for _, e := range s.Events {
			if e.RV <= from {
				a.Events = append(a.Events, e)
			} else if e.RV > to {
				b.Events = append(b.Events, e)
			}
		}
		if s.From <= from {
			out = append(out, &a)
		}
		out = append(out, &b)
	}
	h.Streams = out
	named := map[uint64]bool{} // what a client names, it has seen
	for _, o := range h.Ops {
		named[o.Pre] = true
	}
	n := 0
	for _, o := range h.Ops {
		if o.Res == res && o.write() && o.Client != "main" && o.Out == OK && o.Got != nil && o.Got.RV > from && o.Got.RV <= to && !named[o.Got.RV] {
			if n++; n%every == 0 {
				forget(o)
			}
		}
	}
}

func TestBlindStretchesPass(t *testing.T) {
	c := verdictOf(recorded(t))
	all := c.res["configmaps"].all
	for _, width := range []int{5, 20, 60} {
		for at := 40; at+width < len(all)-40; at += 37 {
			h := recorded(t)
			blind(h, "configmaps", all[at].rv, all[at+width].rv, 4)
			mustPass(t, h)
			if t.Failed() {
				t.Fatalf("blind from %d to %d", all[at].rv, all[at+width].rv)
			}
		}
	}
}

func TestLostInABlindStretchIsFlagged(t *testing.T) {
	h := recorded(t)
	w := pick(t, h, 20, func(o *Op) bool { return ackedMono(o) && o.Res == "configmaps" })
	blind(h, "configmaps", w.Got.RV-3, w.Got.RV+3, 1000)
	// Nobody but its writer ever saw it, and the next read is older.
	h.Ops = slices.DeleteFunc(h.Ops, func(o *Op) bool {
		return o.Kind == "list" && slices.ContainsFunc(o.Items, func(i Item) bool { return i.RV == w.Got.RV }) ||
			o.Kind == "get" && o.Got != nil && o.Got.RV == w.Got.RV
	})
	old := previous(t, h, w)
	h.Ops = append(h.Ops, &Op{ID: 1 << 30, Client: "main", Kind: "get", Res: w.Res, Key: w.Key, Call: w.Ret + 1, Ret: w.Ret + 2, Out: OK, Code: 200, Got: &old,
		Audit: "after fault 1"})
	c := verdictOf(h)
	if c.counts["lost-write"] == 0 || c.counts["not-linearizable"] == 0 {
		t.Errorf("got %v", c.counts)
	}
}

// What a broken server answers is no reason to fall over.
func TestGarbageIsSurvived(t *testing.T) {
	flagged := 0
	for seed := range uint64(40) {
		h := recorded(t)
		rng := rand.New(rand.NewPCG(seed, 0))
		op := func() *Op { return h.Ops[rng.IntN(len(h.Ops))] }
		for range 1 + rng.IntN(20) {
			a, b := op(), op()
			switch rng.IntN(8) {
			case 0:
				a.Got, b.Got = b.Got, a.Got
				if a.Out == OK && a.Got == nil && a.Kind != "delete" && a.Kind != "list" {
					a.Out = Unknown
				}
				if b.Out == OK && b.Got == nil && b.Kind != "delete" && b.Kind != "list" {
					b.Out = Unknown
				}
			case 1:
				a.ListRV, b.ListRV = b.ListRV, a.ListRV
			case 2:
				a.Items, b.Items = b.Items, a.Items
			case 3:
				a.Call, a.Ret = b.Call, b.Ret
			case 4:
				a.Value, b.Value = b.Value, a.Value
			case 5:
				a.UID, b.UID = b.UID, a.UID
			case 6:
				s := h.Streams[rng.IntN(len(h.Streams))]
				rng.Shuffle(len(s.Events), func(i, j int) { s.Events[i].State, s.Events[j].State = s.Events[j].State, s.Events[i].State })
			case 7:
				s := h.Streams[rng.IntN(len(h.Streams))]
				for i := range s.Events {
					s.Events[i].RV /= 2
				}
			}
		}
		c := newChecker(h)
		c.limit = 5 * time.Second
		c.check()
		c.report(io.Discard, 3, 0)
		if len(c.bad) > 0 {
			flagged++
		}
	}
	if flagged < 30 {
		t.Errorf("only %d of 40 were flagged", flagged)
	}
}
