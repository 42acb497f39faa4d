package main

import (
	"fmt"
	"strconv"
	"strings"
)

// unique: no version belongs to two resources of the server.
func (c *Checker) unique() {
	first := map[uint64]*resource{}
	for _, name := range c.names {
		r := c.res[name]
		for _, v := range r.all {
			if o := first[v.rv]; o != nil {
				c.fail("version-reused", v.seen, "resourceVersion %d is %s/%s (%s) and %s/%s (%s)", v.rv, o.name, o.byRV[v.rv].key, o.byRV[v.rv], r.name, v.key, v)
			} else {
				first[v.rv] = r
			}
		}
	}
}

// explain: every state comes from a write that was sent, and not from one
// that was refused; every deletion from a delete.
func (c *Checker) explain() {
	for _, name := range c.names {
		r := c.res[name]
		for _, v := range r.all {
			if !v.gone {
				o := c.byValue[v.st.Value]
				switch {
				case o == nil || o.Key != v.key || o.Res != name:
					c.fail("phantom-write", v.seen, "%s/%s: nobody wrote %s there; seen by %s", name, v.key, v, v.by)
				case o.Out == Fail:
					c.fail("failed-write-applied", v.seen, "%s/%s: %s comes from a write that was refused: %s; seen by %s", name, v.key, v, o, v.by)
				case o.Call > v.seen:
					c.fail("phantom-write", v.seen, "%s/%s: %s was seen before it was sent by %s", name, v.key, v, o)
				}
			}
			if v.gone && c.remover(r, v.key, v.st.UID, v.seen) == nil {
				if o := c.overrun(r, v); o != nil {
					c.note("wrong-object-removed", "%s/%s: %s, uid %s, was removed by a write meant for uid %s: %s", name, v.key, v.st, v.st.UID, o.uid(), o)
					continue
				}
				c.fail("phantom-delete", v.seen, "%s/%s: nobody deleted uid %s; seen by %s", name, v.key, v.st.UID, v.by)
			}
			if !v.gone && v.st.Del && c.marker(r, v) == nil {
				c.fail("phantom-delete", v.seen, "%s/%s: nobody asked to delete %s; seen by %s", name, v.key, v, v.by)
			}
		}
	}
}

// remover finds an operation that may have removed this uid before the time.
func (c *Checker) remover(r *resource, key, uid string, before int64) *Op {
	for _, o := range r.writes[key] {
		if o.Call > before {
			break
		}
		switch {
		case o.Kind != "delete" && !o.Free || o.Out == Fail:
		case o.Out == Unknown:
			return o
		case o.removes() && o.uid() == uid:
			return o
		}
	}
	return nil
}

func (c *Checker) marker(r *resource, v *version) *Op {
	for _, o := range r.writes[v.key] {
		if o.Call > v.seen {
			break
		}
		if o.Kind == "delete" && (o.Out == Unknown || o.Out == OK && o.Got != nil && o.Got.UID == v.st.UID) {
			return o
		}
	}
	return nil
}

// realTime: a write that began after something was seen has a higher version.
func (c *Checker) realTime() {
	seen := &floor{}
	for _, o := range c.h.Ops {
		if o.Out != OK {
			continue
		}
		rv := o.ListRV
		if o.write() {
			rv = c.versionOf(o)
		} else if o.Got != nil {
			rv = o.Got.RV
		}
		if rv != 0 {
			seen.add(o, rv)
		}
	}
	seen.seal()
	for _, o := range c.h.Ops {
		rv := c.versionOf(o)
		if rv == 0 || o.Kind == "delete" && !o.removes() { // perhaps marked before
			continue
		}
		if top, by := seen.before(o.Call); top >= rv {
			c.fail("version-order", o.Ret, "a later write has version %d: %s; before it began %d was seen: %s", rv, o, top, by)
		}
	}
}

// killedBetween finds a fault between two times.
func (c *Checker) killedBetween(from, to int64) *Fault {
	for i := range c.h.Faults {
		if f := &c.h.Faults[i]; f.At <= to && f.Ready >= from {
			return f
		}
	}
	return nil
}

// missing reports that a read does not show an acknowledged write.
func (c *Checker) missing(w *Op, rv uint64, read *Op, got string) {
	c.lost[w.ID] = true
	if f := c.killedBetween(w.Ret, read.Call); f != nil {
		c.fail("lost-write", read.Ret, "%s/%s: acknowledged at %d, then %s %s at %.3fs, then %s.\n    write: %s\n    read:  %s",
			w.Res, w.Key, rv, f.Kind, f.What, sec(f.At), got, w, read)
		return
	}
	class := "stale-read"
	if read.Audit != "" {
		class = "lost-write"
	}
	c.fail(class, read.Ret, "%s/%s: acknowledged at %d, then %s.\n    write: %s\n    read:  %s", w.Res, w.Key, rv, got, w, read)
}

// fresh: what reads the latest state shows every write acknowledged before.
func (c *Checker) fresh() {
	for _, o := range c.h.Ops {
		r := c.res[o.Res]
		switch {
		case o.Kind == "get" && (o.Out == OK || o.Out == Fail && o.Code == 404 && o.Reason == "NotFound"):
			rv, w := r.acked[o.Key].before(o.Call)
			if w == nil {
				break
			}
			if o.Got == nil {
				if !c.mayBeGone(r, w, rv, o) {
					c.missing(w, rv, o, "not found, and nobody deleted it")
				}
			} else if o.Got.RV < rv && c.versionOf(w) != 0 {
				c.missing(w, rv, o, fmt.Sprintf("read at %d", o.Got.RV))
			}
		case o.Kind == "list" && o.Out == OK && o.Walk <= 1:
			if o.RVParam == "" {
				if rv, w := r.lists.before(o.Call); rv > o.ListRV {
					if f := c.killedBetween(w.Ret, o.Call); f != nil && !c.rewound[f] {
						c.rewound[f] = true
						c.fail("version-rewound", o.Ret, "after %s %s at %.3fs the server is at version %d, though %d was acknowledged; much of what follows comes from that", f.Kind, f.What, sec(f.At), o.ListRV, rv)
					}
					c.missing(w, rv, o, fmt.Sprintf("a list is only at %d", o.ListRV))
					break
				}
			}
			if o.Match == "NotOlderThan" {
				if want, _ := strconv.ParseUint(o.RVParam, 10, 64); o.ListRV < want {
					c.fail("list-version", o.Ret, "older than asked for: %s", o)
				}
			}
			if o.Match == "Exact" {
				if want, _ := strconv.ParseUint(o.RVParam, 10, 64); o.ListRV != want {
					c.fail("list-version", o.Ret, "not the version asked for: %s", o)
				}
			}
		}
	}
}

// mayBeGone: could the object of write w be deleted at the time of the read?
func (c *Checker) mayBeGone(r *resource, w *Op, rv uint64, read *Op) bool {
	if w.removes() {
		return true
	}
	for _, o := range r.writes[w.Key] {
		if o.Call > read.Ret {
			break
		}
		if o.Ret < w.Call && o.Out != Unknown || o.Out == Fail || o.Kind != "delete" && !o.Free {
			continue
		}
		if o.Out == Unknown {
			return true
		}
		if !o.removes() {
			continue
		}
		if d := c.versionOf(o); d > rv || d == 0 {
			return true
		}
		if v := r.goneUID[w.uid()]; !c.strict && o.uid() != w.uid() && (v == nil || c.overrun(r, v) != nil) {
			return true
		}
	}
	return false
}

// stale: no write that named a version went through over a newer one.
func (c *Checker) stale() {
	for _, o := range c.h.Ops {
		if o.Pre == 0 || o.Out != OK || !o.write() {
			continue
		}
		r, rv := c.res[o.Res], c.versionOf(o)
		if rv == 0 || o.Kind == "delete" && !o.removes() && rv <= o.Pre {
			continue
		}
		if v := r.at(o.Key, rv-1); v != nil && v.rv > o.Pre {
			if c.loosePre(r, o) {
				c.note("removal-race", "the last finalizer was taken away by a write that named %d, over %s: %s", o.Pre, v, o)
				continue
			}
			c.fail("stale-update", o.Ret, "a write that named %d made %d, but %s was between (by %s): %s", o.Pre, rv, v, v.by, o)
		}
	}
}

// removals notes those that were no single step, where that is plain.
func (c *Checker) removals() {
	first := map[string]*Op{}
	for _, o := range c.h.Ops {
		if o.Out != OK || !o.write() || !o.removes() {
			continue
		}
		if p := first[o.uid()]; p != nil {
			c.note("racing-removals", "several removals of one object succeeded: %s; %s", p, o)
			continue
		}
		first[o.uid()] = o
		if v := c.res[o.Res].goneUID[o.uid()]; v != nil && o.Kind == "delete" && v.st.Fin && !v.st.Del {
			c.note("finalizer-overrun", "an object was deleted with its finalizer: %s, by %s", v.st, o)
		}
	}
}

// finals: the last reads hold for each key what the history says, and the
// keys of one writer show at least its last acknowledged number.
func (c *Checker) finals() {
	for _, o := range c.h.Ops {
		if o.Kind != "get" || o.Audit == "" || !strings.Contains(o.Key, "-mono-") {
			continue
		}
		last := 0
		var lastOp *Op
		for _, w := range c.res[o.Res].writes[o.Key] {
			if w.Ret < o.Call && w.Out == OK && strings.HasPrefix(w.Client, "w") {
				if n := number(w.Value); n > last {
					last, lastOp = n, w
				}
			}
		}
		if lastOp == nil || o.Out == Unknown || o.Out == Fail && o.Code != 404 {
			continue
		}
		switch {
		case o.Got == nil:
			c.fail("lost-write", o.Ret, "%s/%s is never deleted, yet it is not found.\n    last acknowledged: %s\n    read: %s", o.Res, o.Key, lastOp, o)
		case strings.HasPrefix(o.Got.Value, "w") && number(o.Got.Value) < last:
			c.fail("lost-write", o.Ret, "%s/%s only grows, yet after %d was acknowledged it is %s.\n    last acknowledged: %s\n    read: %s", o.Res, o.Key, last, o.Got, lastOp, o)
		}
	}
	for _, l := range c.h.Late {
		c.fail("watch-late", 0, "watcher %d of %s never got past version %d; the last write is %d", l.Watcher, l.Res, l.Have, l.Want)
	}
	if !c.h.Meta.Finished {
		c.fail("not-finished", 0, "the run did not end well: %s", c.h.Meta.Error)
	}
}

func number(value string) int {
	_, n, _ := strings.Cut(value, ".")
	i, _ := strconv.Atoi(n)
	return i
}
