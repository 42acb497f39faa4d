package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// linearStats says how much porcupine looked at.
type linearStats struct {
	keys, ops, parts int
	undecided        int
	took             time.Duration
}

// cell is the model of one key: the object, and the highest version so far.
// An RV of 0 in a live cell is one that nobody ever saw.
type cell struct {
	live bool
	st   State
	top  uint64
}

// step is one operation as the model sees it.
type step struct {
	op *Op
	rv uint64 // the version it made, 0 = none or not known
	// maybe: outcome unknown and never seen. It can only have been done
	// where no watcher looked, between lo and hi.
	maybe  bool
	lo, hi uint64
	// What upstream allows, since it looks at an object and removes it in two
	// steps: see races.
	echo, loosePre, looseFin bool
	spare                    bool     // may find its work done
	last                     *version // what it removed or marked is known
	r                        *resource
	read                     *State // a read: what it found, nil = absent
	isRead                   bool
}

func (s *step) describe() string { return s.op.String() }

// linearize checks each key by itself with porcupine.
func (c *Checker) linearize() {
	began := time.Now()
	type job struct {
		res, key string
		ops      []porcupine.Operation
		init     cell
	}
	var jobs []job
	for _, name := range c.names {
		r := c.res[name]
		steps := c.steps(r)
		for _, key := range sortedKeys(steps) {
			c.linear.keys++
			c.linear.ops += len(steps[key])
			for _, part := range cut(steps[key]) {
				jobs = append(jobs, job{name, key, part.ops, part.init})
			}
		}
	}
	c.linear.parts = len(jobs)
	var mu sync.Mutex
	var wg sync.WaitGroup
	gate := make(chan struct{}, runtime.NumCPU())
	for _, j := range jobs {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			m := model(j.init)
			// No part may use up the time of all others.
			left := min(c.limit-time.Since(began), c.limit/4)
			result := porcupine.Unknown
			if left > 0 {
				result = porcupine.CheckOperationsTimeout(m, j.ops, left)
			}
			if result == porcupine.Ok {
				return
			}
			text, at := explainIllegal(m, j.ops, min(max(left, time.Second), 20*time.Second))
			mu.Lock()
			defer mu.Unlock()
			if result == porcupine.Unknown {
				c.linear.undecided++
				c.fail("undecided", at, "%s/%s: porcupine came to no end within --check-limit %s: %s", j.res, j.key, c.limit, text)
				return
			}
			c.fail("not-linearizable", at, "%s/%s: no order explains the answers: %s", j.res, j.key, text)
		})
	}
	wg.Wait()
	c.linear.took = time.Since(began)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func itoa(i int) string { return fmt.Sprint(i) }

// steps turns a resource's history into operations by key. What the watch
// or a read showed of an operation with unknown outcome settles it: it was
// done, before it was seen.
func (c *Checker) steps(r *resource) map[string][]porcupine.Operation {
	out := map[string][]porcupine.Operation{}
	add := func(key string, s *step, call, ret int64) {
		s.r = r
		out[key] = append(out[key], porcupine.Operation{Input: s, Call: call, Return: max(ret, call)})
	}
	taken := map[*version]bool{}
	for _, o := range c.h.Ops {
		if o.Res == r.name && o.Out == OK && o.write() {
			if rv := c.versionOf(o); rv != 0 {
				// A delete that began after the mark was seen found it there.
				if v := r.byRV[rv]; v != nil && (v.gone || o.Kind != "delete" || o.Call < v.seen) {
					taken[v] = true
				}
			}
		}
	}
	seen := &floor{}
	for _, o := range c.h.Ops {
		if rv := c.versionOf(o); rv != 0 {
			seen.add(o, rv)
		}
	}
	seen.seal()
	firstAfter := func(t int64) uint64 { // the lowest version of a write begun after t
		low := uint64(math.MaxUint64)
		i := sort.Search(len(c.h.Ops), func(i int) bool { return c.h.Ops[i].Call > t })
		for _, o := range c.h.Ops[i:min(i+200, len(c.h.Ops))] {
			if rv := c.versionOf(o); rv != 0 && !(o.Kind == "delete" && !o.removes()) {
				low = min(low, rv)
			}
		}
		return low
	}
	var open []*Op
	for _, o := range c.h.Ops {
		if o.Res != r.name {
			continue
		}
		switch {
		case o.Kind == "list" && o.Out == OK && o.Walk == 0 && o.RVParam == "":
			got := map[string]*State{}
			for i := range o.Items {
				got[o.Items[i].Key] = &o.Items[i].State
			}
			for key := range r.writes {
				add(key, &step{op: o, isRead: true, read: got[key]}, o.Call, o.Ret)
			}
		case o.Kind == "list":
		case o.Kind == "get":
			if o.Out == OK || o.Code == 404 && o.Reason == "NotFound" {
				add(o.Key, &step{op: o, isRead: true, read: o.Got}, o.Call, o.Ret)
			}
		case o.Out == OK:
			s := &step{op: o, rv: c.versionOf(o)}
			c.races(r, s)
			add(o.Key, s, o.Call, o.Ret)
		case o.Out == Fail:
			if o.Reason == "NotFound" || o.Reason == "Conflict" || o.Reason == "AlreadyExists" {
				add(o.Key, &step{op: o}, o.Call, o.Ret)
			}
		default:
			open = append(open, o)
		}
	}
	// Deletions and marks that no acknowledged operation accounts for: one of
	// those with unknown outcome did it, whichever. Where one does account
	// for a mark, an unknown one may still have been faster.
	for _, v := range r.all {
		if !v.gone && !v.st.Del || !v.gone && c.byValue[v.st.Value] != nil && !c.markOnly(r, v) {
			continue
		}
		if v.gone && taken[v] {
			continue // in flight when it went, so it may as well have done it
		}
		d := culprit(r, v, open)
		if o := c.overrun(r, v); d == nil && o != nil {
			free := *o
			free.Pre = 0
			d = culprit(r, v, []*Op{&free})
		}
		if d != nil {
			s := &step{op: d, rv: v.rv, spare: taken[v], last: v}
			c.races(r, s)
			add(v.key, s, d.Call, v.seen)
		}
	}
	whole := c.wholeRun(r)
	for _, o := range open {
		if v := wrote(o, r); v != nil {
			add(o.Key, &step{op: done(o, v), rv: v.rv}, o.Call, v.seen)
			continue
		}
		if whole {
			continue // nobody saw it, and nothing was hidden: it was not done
		}
		lo, _ := seen.before(o.Call)
		hi := min(firstAfter(o.Ret+int64(linger)), r.last()+1)
		if !r.hidden(lo, hi) {
			continue
		}
		add(o.Key, &step{op: o, maybe: true, lo: lo, hi: hi}, o.Call, r.settled(o, hi))
	}
	return out
}

// linger is how long after it broke off an operation may still be done. It
// matters only where no watcher looked: what is seen counts at any time.
const linger = 20 * time.Second

// hidden tells whether a version after from and before to can have escaped
// the watchers.
func (r *resource) hidden(from, to uint64) bool {
	return from+1 < to && !r.whole(from, to-1)
}

// settled is when an unseen operation had been done, or would never be: when
// the key is seen at a version after the last stretch that nobody watched.
func (r *resource) settled(o *Op, hi uint64) int64 {
	i := sort.Search(len(r.covered), func(i int) bool { return r.covered[i].from >= hi })
	if i > 0 { // the last stretch watched before hi ends what is hidden, if hi is in it
		end := r.covered[i-1].from
		l := r.byKey[o.Key]
		k := sort.Search(len(l), func(k int) bool { return l[k].rv > end })
		if k < len(l) && !r.hidden(end, hi) {
			return max(l[k].seen, o.Ret)
		}
	}
	return math.MaxInt64
}

// races finds out which of upstream's looser rules for removals may apply.
// All of them need another write in flight at the same time, and --strict
// switches them off.
func (c *Checker) races(r *resource, s *step) {
	o := s.op
	if c.strict || !o.removes() {
		return
	}
	for _, p := range r.writes[o.Key] {
		if p.ID == o.ID || p.Call > o.Ret || p.Ret < o.Call && p.Out != Unknown || p.Out == Fail {
			continue
		}
		// Several removals may all succeed: what they meant is gone as each
		// of them wished.
		if p.Out == Unknown && (p.Kind == "delete" || p.Free) || p.removes() {
			s.echo = true
		}
		// A delete may not see a finalizer that comes after its first look.
		if o.Kind == "delete" && p.Hold && (p.Out == Unknown || p.uid() == o.uid()) {
			s.looseFin = true
		}
	}
	s.loosePre = c.loosePre(r, o)
}

// overrun finds a removal that took an object for the one it meant: the name
// was free and written anew while it was in flight.
func (c *Checker) overrun(r *resource, v *version) *Op {
	if c.strict || !v.gone {
		return nil
	}
	born := int64(math.MaxInt64)
	for _, w := range r.byKey[v.key] {
		if o := c.byValue[w.st.Value]; !w.gone && w.st.UID == v.st.UID && o != nil && o.Key == v.key {
			born = min(born, o.Call)
		}
	}
	for _, o := range r.writes[v.key] {
		if o.Call < v.seen && o.Ret >= born && o.Out == OK && o.removes() && o.uid() != v.st.UID {
			return o
		}
	}
	return nil
}

// loosePre: a write that takes the last finalizer away compares the version,
// and then removes whatever is there. Only writes in flight at the same time
// can have come in between.
func (c *Checker) loosePre(r *resource, o *Op) bool {
	if c.strict || o.Pre == 0 || o.Kind == "delete" || !o.removes() {
		return false
	}
	l := r.byKey[o.Key]
	i := sort.Search(len(l), func(i int) bool { return l[i].rv > o.Pre })
	return i < len(l) && c.madeAfter(r, l[i], o.Call)
}

// madeAfter: can the version have been made after the time?
func (c *Checker) madeAfter(r *resource, v *version, t int64) bool {
	for _, p := range r.writes[v.key] {
		if p.Out == Unknown && (p.Value == v.st.Value || p.Kind == "delete") || c.versionOf(p) == v.rv && p.Ret >= t {
			return true
		}
	}
	return false
}

// wrote finds the version that a write with unknown outcome made.
func wrote(o *Op, r *resource) *version {
	if o.Value == "" {
		return nil
	}
	for _, v := range r.byKey[o.Key] {
		if !v.gone && v.st.Value == o.Value {
			return v
		}
	}
	return nil
}

// markOnly: the version differs from an earlier one by its mark of deletion.
func (c *Checker) markOnly(r *resource, v *version) bool {
	id := idOf(v.key, v.st)
	id.del = false
	w := r.byState[id]
	return w != nil && w.rv < v.rv || c.byValue[v.st.Value].Out == OK && c.versionOf(c.byValue[v.st.Value]) != v.rv
}

// culprit stands for all operations with unknown outcome that may have
// deleted or marked the object, and began with the first of them.
func culprit(r *resource, v *version, open []*Op) *Op {
	var d *Op
	p := r.at(v.key, v.rv-1)
	for _, o := range open {
		if o.Key != v.key || o.Call > v.seen || o.Kind != "delete" && !(v.gone && o.Free) {
			continue
		}
		if o.Kind == "delete" && o.Pre != 0 && p != nil && p.rv > o.Pre {
			continue // it named a version that was past
		}
		if d == nil {
			t := *o
			d = &t
			continue
		}
		d.Pre = 0
		d.Ret = max(d.Ret, o.Ret)
	}
	if d == nil {
		return nil
	}
	d.Out, d.Reason = OK, "settled: seen by "+v.by
	st := v.st
	if v.gone {
		d.Kind, d.Free, d.Got, d.UID, d.Value = "delete", false, nil, st.UID, ""
		if st.Fin { // then it was its last finalizer that went
			d.Kind, d.Free, d.Pre = "patch", true, 0
			st.Fin, st.Del = false, true
			d.Got = &st
		}
	} else {
		d.Got = &st
	}
	return d
}

// done is the write as if its answer had come.
func done(o *Op, v *version) *Op {
	d := *o
	st := v.st
	d.Out, d.Reason, d.Got = OK, "settled: seen by "+v.by, &st
	return &d
}
