package main

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// part is a stretch of a key's history between two quiet moments.
type part struct {
	ops  []porcupine.Operation
	init cell
}

// cut splits a long history where nothing is in flight and the state is
// plain from the versions, since porcupine's cost grows with the square.
func cut(ops []porcupine.Operation) []part {
	const enough = 1500
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int {
		switch {
		case a.Call != b.Call:
			if a.Call < b.Call {
				return -1
			}
			return 1
		default:
			return 0
		}
	})
	var parts []part
	from, init, cur, clear := 0, cell{}, cell{}, true
	var latest int64
	for i, o := range ops {
		if i-from >= enough && o.Call > latest && clear {
			parts = append(parts, part{ops[from:i], init})
			from, init = i, cur
		}
		latest = max(latest, o.Return)
		s := o.Input.(*step)
		switch {
		case s.maybe:
			clear = false // until a known write follows
		case s.isRead || s.op.Out != OK:
		case s.rv == 0:
			clear = false
		case s.rv > cur.top:
			cur = after1(cur, s)
			clear = true
		}
	}
	return append(parts, part{ops[from:], init})
}

// after1 is the cell after a write whose version is known.
func after1(c cell, s *step) cell {
	if s.op.removes() {
		return cell{top: s.rv}
	}
	return cell{live: true, st: *s.op.Got, top: s.rv}
}

// model is the sequential object: compare-and-set by resourceVersion.
func model(init cell) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return init },
		Step: func(state, input, _ any) (bool, any) {
			ok, next := apply(state.(cell), input.(*step))
			return ok, next
		},
		Hash: func(state any) uint64 {
			c := state.(cell)
			h := c.top*0x9E3779B97F4A7C15 ^ c.st.RV
			for _, b := range []byte(c.st.Value) {
				h = (h ^ uint64(b)) * 0x100000001B3
			}
			return h
		},
	}
}

func same(a, b State) bool { return a == b }

// apply says whether the operation can have had its outcome in this state.
func apply(c cell, s *step) (bool, cell) {
	o := s.op
	if s.maybe {
		return applyMaybe(c, s)
	}
	if s.isRead {
		if s.read == nil {
			return !c.live, c
		}
		if c.live && c.st.RV == 0 && s.read.Value == c.st.Value {
			return true, cell{true, *s.read, max(c.top, s.read.RV)}
		}
		return c.live && same(c.st, *s.read), c
	}
	if o.Out == Fail {
		switch o.Reason {
		case "NotFound":
			return o.Kind == "create" || !c.live, c
		case "AlreadyExists":
			return c.live, c
		}
		// Conflict. One that named no version lost too many races.
		return o.Pre == 0 || !c.live || c.st.RV != o.Pre, c
	}
	if s.spare && c.top >= s.rv {
		return true, c
	}
	if o.Kind == "create" {
		return !c.live && s.rv > c.top && !o.Got.Del && o.Got.Fin == o.Hold, after1(c, s)
	}
	if s.last != nil && c.live && c.st.RV != 0 && c.st.Value != s.last.st.Value {
		return false, c
	}
	if s.echo && (!c.live || c.st.UID != o.uid()) {
		return true, c
	}
	if !c.live || o.Pre != 0 && c.st.RV != o.Pre && !s.loosePre {
		return false, c
	}
	if o.Kind == "delete" {
		switch {
		case o.Got == nil || o.removes(): // gone at once
			if c.st.Fin && !s.looseFin || o.UID != "" && c.st.UID != "" && o.UID != c.st.UID {
				return false, c
			}
			return s.rv == 0 || s.rv > c.top, cell{top: max(c.top, s.rv)}
		case c.st.Del: // marked before
			return same(c.st, *o.Got), c
		}
		want := *o.Got
		want.Del, want.RV = false, c.st.RV
		return c.st.Fin && same(c.st, want) && o.Got.RV > c.top, cell{true, *o.Got, max(c.top, o.Got.RV)}
	}
	// update, patch
	if c.st.UID != "" && o.Got.UID != c.st.UID || o.Got.Del != c.st.Del {
		return false, c
	}
	fin := c.st.Fin && !o.Free
	if o.Kind == "update" {
		fin = o.Hold
	}
	if o.Got.Fin != fin {
		return false, c
	}
	if c.st.Del && !fin { // its last finalizer went, and it with it
		return s.rv == 0 || s.rv > c.top, cell{top: max(c.top, s.rv)}
	}
	return s.rv > c.top, after1(c, s)
}

// applyMaybe does what a lost operation may have done unseen, or lets it go
// when nothing is hidden any more.
func applyMaybe(c cell, s *step) (bool, cell) {
	o := s.op
	from := max(c.top, s.lo)
	if !s.r.hidden(from, s.hi) {
		return true, c
	}
	l := s.r.byKey[o.Key]
	i := sort.Search(len(l), func(i int) bool { return l[i].rv > c.top })
	atEnd := i == len(l) // then it may also never have been done
	if !atEnd && !s.r.hidden(from, min(l[i].rv, s.hi)) {
		return false, c
	}
	if o.Kind == "create" {
		if c.live {
			return atEnd, c
		}
		return true, cell{true, State{Value: o.Value, Fin: o.Hold}, c.top}
	}
	if !c.live || o.Pre != 0 && c.st.RV != o.Pre {
		return atEnd, c
	}
	n := c
	n.st.RV = 0
	switch {
	case o.Kind == "delete" && !c.st.Fin, o.Free && c.st.Del:
		return true, cell{top: c.top}
	case o.Kind == "delete" && c.st.Del:
		return true, c
	case o.Kind == "delete":
		n.st.Del = true
	default:
		n.st.Value = o.Value
		if o.Kind == "update" {
			n.st.Fin = o.Hold
		} else if o.Free {
			n.st.Fin = false
		}
	}
	return true, n
}

func (r *resource) last() uint64 {
	if len(r.all) == 0 {
		return 0
	}
	return r.all[len(r.all)-1].rv
}

// explainIllegal names the first operation that fits nowhere after the
// longest order that porcupine found.
func explainIllegal(m porcupine.Model, ops []porcupine.Operation, limit time.Duration) (string, int64) {
	_, info := porcupine.CheckOperationsVerbose(m, ops, limit)
	var best []porcupine.Operation
	for _, p := range info.PartialLinearizationsOperations() {
		for _, l := range p {
			if len(l) > len(best) {
				best = l
			}
		}
	}
	in := map[*step]bool{}
	state := m.Init()
	for _, o := range best {
		in[o.Input.(*step)] = true
		_, state = m.Step(state, o.Input, nil)
	}
	text := fmt.Sprintf("%d of %d operations can be put in order, up to ", len(best), len(ops))
	if c := state.(cell); c.live {
		text += c.st.String()
	} else {
		text += fmt.Sprintf("absent (last version %d)", c.top)
	}
	shown := 0
	var at int64
	rest := slices.Clone(ops)
	slices.SortFunc(rest, func(a, b porcupine.Operation) int { return int(min(max(a.Return-b.Return, -1), 1)) })
	for _, o := range rest {
		s := o.Input.(*step)
		if in[s] || shown == 4 {
			continue
		}
		if shown == 0 {
			at = o.Return
			for k := max(0, len(best)-3); k < len(best); k++ {
				text += "\n    before: " + best[k].Input.(*step).describe()
			}
		}
		shown++
		text += "\n    stuck:  " + s.describe()
	}
	return text, at
}
