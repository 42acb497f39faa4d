package main

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// Violation is one broken promise.
type Violation struct {
	Class string
	Text  string
	At    int64
}

// version is one state of one key, at the resourceVersion that made it.
type version struct {
	rv   uint64
	key  string
	st   State // of a deletion the last state, with the deletion's version
	gone bool
	seen int64  // when it was first seen
	by   string // who saw it first
	evs  int    // watch events that brought it
}

func (v *version) String() string {
	if v.gone {
		return fmt.Sprintf("deletion@%d", v.rv)
	}
	return v.st.String()
}

// stateID tells versions of a key apart without their numbers: each write has
// a value of its own, and a deletion only marks an object once.
type stateID struct {
	key, uid, value string
	fin, del        bool
}

func idOf(key string, s State) stateID { return stateID{key, s.UID, s.Value, s.Fin, s.Del} }

type span struct{ from, to uint64 } // (from, to]

// resource is all that is known of one resource.
type resource struct {
	name    string
	start   uint64
	byRV    map[uint64]*version
	byState map[stateID]*version
	byKey   map[string][]*version // in order
	all     []*version            // in order
	goneUID map[string]*version
	covered []span // what watchers saw without a gap
	writes  map[string][]*Op
	acked   map[string]*floor // by key
	lists   *floor            // acknowledged writes of the whole resource
}

// Checker holds a history while it is checked.
type Checker struct {
	h         *History
	res       map[string]*resource
	names     []string
	byValue   map[string]*Op
	bad       []Violation
	notes     map[string]int
	noteText  map[string]string
	counts    map[string]int
	mustGo    bool // a resume or a relist answered 410 is a violation
	mustCache bool // rv="0" lists of one client never go back
	strict    bool // removals are single steps
	limit     time.Duration
	linear    linearStats
	rewound   map[*Fault]bool
	lost      map[int]bool // writes that some read should have shown
}

func newChecker(h *History) *Checker {
	return &Checker{h: h, res: map[string]*resource{}, byValue: map[string]*Op{}, notes: map[string]int{}, noteText: map[string]string{},
		counts: map[string]int{}, rewound: map[*Fault]bool{}, lost: map[int]bool{}, limit: 5 * time.Minute}
}

func (c *Checker) fail(class string, at int64, format string, a ...any) {
	c.counts[class]++
	if c.counts[class] <= 1000 {
		c.bad = append(c.bad, Violation{class, fmt.Sprintf(format, a...), at})
	}
}

func (c *Checker) note(class, format string, a ...any) {
	if c.notes[class]++; c.notes[class] == 1 {
		c.noteText[class] = fmt.Sprintf(format, a...)
	}
}

func (c *Checker) resource(name string) *resource {
	r := c.res[name]
	if r == nil {
		r = &resource{name: name, start: c.h.Meta.Start[name], byRV: map[uint64]*version{}, byState: map[stateID]*version{},
			byKey: map[string][]*version{}, goneUID: map[string]*version{}, writes: map[string][]*Op{}, acked: map[string]*floor{}, lists: &floor{}}
		c.res[name] = r
		c.names = append(c.names, name)
	}
	return r
}

// check runs everything. The order matters: versions are gathered first.
func (c *Checker) check() {
	c.h.order()
	c.gather()
	c.unique()
	c.explain()
	c.realTime()
	c.fresh()
	c.stale()
	c.removals()
	c.lists()
	c.pages()
	c.cacheOrder()
	c.streams()
	c.finals()
	c.linearize()
	slices.SortStableFunc(c.bad, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(weight(a.Class), weight(b.Class)), cmp.Compare(a.Class, b.Class), cmp.Compare(a.At, b.At))
	})
}

// gravest come first in the report, since others often follow from them.
var gravest = []string{"not-finished", "bad-history", "version-rewound", "lost-write", "failed-write-applied", "stale-update", "stale-read", "not-linearizable", "torn-object"}

func weight(class string) int {
	if i := slices.Index(gravest, class); i >= 0 {
		return i
	}
	return len(gravest)
}

// observe takes in one sight of one state.
func (c *Checker) observe(r *resource, key string, s State, gone bool, at int64, by func() string) *version {
	if s.Torn != "" {
		c.fail("torn-object", at, "%s/%s@%d: %s; %s", r.name, key, s.RV, s.Torn, by())
	}
	if v := r.byRV[s.RV]; v != nil {
		switch {
		case v.key != key:
			c.fail("version-reused", at, "resourceVersion %d is %s/%s (%s, by %s) and %s/%s (%s, by %s)", s.RV, r.name, v.key, v, v.by, r.name, key, s, by())
		case v.gone != gone:
			c.fail("version-reused", at, "%s/%s@%d is a deletion and a state: %s, by %s; %s, by %s", r.name, key, s.RV, v, v.by, s, by())
		case idOf(key, v.st) != idOf(key, s):
			c.fail("version-reused", at, "%s/%s@%d has two states: %s uid %s, by %s; %s uid %s, by %s", r.name, key, s.RV, v.st, v.st.UID, v.by, s, s.UID, by())
		}
		v.seen = min(v.seen, at)
		return v
	}
	v := &version{rv: s.RV, key: key, st: s, gone: gone, seen: at, by: by()}
	if !gone {
		id := idOf(key, s)
		if w := r.byState[id]; w != nil {
			c.fail("version-mismatch", at, "%s/%s: the same write has two versions: %s, by %s; %s, by %s", r.name, key, w, w.by, v, v.by)
			if w.rv > v.rv {
				r.byState[id] = v
			}
		} else {
			r.byState[id] = v
		}
	} else if w := r.goneUID[s.UID]; w != nil {
		c.fail("version-mismatch", at, "%s/%s: uid %s was deleted twice: at %d, by %s; at %d, by %s", r.name, key, s.UID, w.rv, w.by, v.rv, v.by)
	} else {
		r.goneUID[s.UID] = v
	}
	r.byRV[s.RV] = v
	r.byKey[key] = append(r.byKey[key], v)
	r.all = append(r.all, v)
	return v
}

func (c *Checker) gather() {
	for _, o := range c.h.Ops {
		r := c.resource(o.Res)
		if o.Out == Unknown && o.Code > 0 && o.Code < 300 && strings.HasPrefix(o.Reason, "answer: ") {
			c.fail("bad-answer", o.Ret, "%s", o)
		}
		if !o.write() {
			continue
		}
		r.writes[o.Key] = append(r.writes[o.Key], o)
		if o.Value != "" {
			if p := c.byValue[o.Value]; p != nil {
				c.fail("bad-history", o.Call, "two writes of one value: %s; %s", p, o)
			}
			c.byValue[o.Value] = o
		}
		if o.Out == OK && o.Got != nil && !o.removes() {
			c.observe(r, o.Key, *o.Got, false, o.Ret, o.String)
			if o.Kind != "delete" && o.Got.Value != o.Value {
				c.fail("wrong-answer", o.Ret, "the answer shows another write's value: %s", o)
			}
		}
	}
	for _, s := range c.h.Streams {
		r := c.resource(s.Res)
		s.Last = s.From
		inside := s.Init
		for i := range s.Events {
			e := &s.Events[i]
			switch e.Type {
			case "B":
				inside = inside && !e.End
			case "A", "M", "D":
				v := c.observe(r, e.Key, e.State, e.Type == "D", e.At, func() string { return fmt.Sprintf("event %d of %s", i+1, s) })
				v.evs++
			default:
				c.fail("bad-event", e.At, "%s: %s", s, e.Torn)
				continue
			}
			if !inside {
				s.Last = max(s.Last, e.RV)
			}
		}
		if from, ok := s.base(); ok && s.Key == "" && s.Last > from {
			r.covered = append(r.covered, span{from, s.Last})
		}
	}
	for _, o := range c.h.Ops {
		r := c.resource(o.Res)
		switch {
		case o.Out != OK:
		case o.Kind == "get":
			c.observe(r, o.Key, *o.Got, false, o.Ret, o.String)
		case o.Kind == "list":
			for _, i := range o.Items {
				c.observe(r, i.Key, i.State, false, o.Ret, o.String)
			}
		}
	}
	slices.Sort(c.names)
	for _, r := range c.res {
		r.order()
	}
	for _, o := range c.h.Ops {
		r := c.res[o.Res]
		if rv := c.versionOf(o); rv != 0 && o.write() {
			if r.acked[o.Key] == nil {
				r.acked[o.Key] = &floor{}
			}
			r.acked[o.Key].add(o, rv)
			r.lists.add(o, rv)
		}
	}
	for _, r := range c.res {
		r.lists.seal()
		for _, f := range r.acked {
			f.seal()
		}
	}
}

// base is where the stream's stream of changes starts.
func (s *Stream) base() (uint64, bool) {
	if !s.Init {
		return s.From, s.Code == 200
	}
	for _, e := range s.Events {
		if e.Type == "B" && e.End {
			return e.RV, true
		}
	}
	return 0, false
}

// versionOf is the version that an acknowledged write made, 0 where nobody
// can tell: answers to deletions carry none, their events do.
func (c *Checker) versionOf(o *Op) uint64 {
	if o.Out != OK || !o.write() {
		return 0
	}
	if o.removes() {
		if v := c.res[o.Res].goneUID[o.uid()]; v != nil && v.key == o.Key {
			return v.rv
		}
		return 0
	}
	return o.Got.RV
}

func (r *resource) order() {
	byRV := func(a, b *version) int { return cmp.Compare(a.rv, b.rv) }
	slices.SortFunc(r.all, byRV)
	for _, l := range r.byKey {
		slices.SortFunc(l, byRV)
	}
	slices.SortFunc(r.covered, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var merged []span
	for _, s := range r.covered {
		if n := len(merged); n > 0 && s.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	r.covered = merged
}

// whole tells whether some watcher saw every change in (from, to].
func (r *resource) whole(from, to uint64) bool {
	if from >= to {
		return true
	}
	i := sort.Search(len(r.covered), func(i int) bool { return r.covered[i].to >= to })
	return i < len(r.covered) && r.covered[i].from <= from
}

// at is the latest known version of the key not after rv.
func (r *resource) at(key string, rv uint64) *version {
	l := r.byKey[key]
	i := sort.Search(len(l), func(i int) bool { return l[i].rv > rv })
	if i == 0 {
		return nil
	}
	return l[i-1]
}

// floor answers: what is the highest version acknowledged before this time?
type floor struct {
	ret []int64
	rv  []uint64
	op  []*Op
}

func (f *floor) add(o *Op, rv uint64) {
	f.ret, f.rv, f.op = append(f.ret, o.Ret), append(f.rv, rv), append(f.op, o)
}

func (f *floor) seal() {
	idx := make([]int, len(f.ret))
	for i := range idx {
		idx[i] = i
	}
	slices.SortFunc(idx, func(a, b int) int { return cmp.Compare(f.ret[a], f.ret[b]) })
	g := floor{}
	for _, i := range idx {
		rv, o := f.rv[i], f.op[i]
		if n := len(g.rv); n > 0 && g.rv[n-1] > rv {
			rv, o = g.rv[n-1], g.op[n-1]
		}
		g.ret, g.rv, g.op = append(g.ret, f.ret[i]), append(g.rv, rv), append(g.op, o)
	}
	*f = g
}

func (f *floor) before(t int64) (uint64, *Op) {
	if f == nil {
		return 0, nil
	}
	i := sort.Search(len(f.ret), func(i int) bool { return f.ret[i] >= t })
	if i == 0 {
		return 0, nil
	}
	return f.rv[i-1], f.op[i-1]
}
