package main

import (
	"slices"
	"strings"
	"testing"
)

func TestMutationsAreFlagged(t *testing.T) {
	for _, m := range []struct {
		name   string
		want   string
		mutate func(t *testing.T, h *History)
	}{
		{"lost write of a growing key", "lost-write", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool {
				return o.Kind == "get" && o.Audit == "at the end of the load" && strings.Contains(o.Key, "-mono-") && o.Got != nil
			})
			s := previous(t, h, o)
			o.Got = &s
		}},
		{"lost object", "lost-write", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool { return o.Kind == "get" && o.Audit == "at the very end" && o.Got != nil })
			o.Out, o.Code, o.Reason, o.Got = Fail, 404, "NotFound", nil
		}},
		{"lost after a kill", "lost-write", func(t *testing.T, h *History) {
			o := pick(t, h, 3, plainList)
			h.Faults = append(h.Faults, Fault{Kind: "kill", What: "server", At: o.Call - 1, Ready: o.Call})
			w := pick(t, h, 0, ackedMono)
			o.ListRV, o.Items = w.Got.RV-1, nil
		}},
		{"version went back over a kill", "version-rewound", func(t *testing.T, h *History) {
			o := pick(t, h, 3, plainList)
			h.Faults = append(h.Faults, Fault{Kind: "kill", What: "server", At: o.Call - 1, Ready: o.Call})
			o.ListRV, o.Items = 1, nil
		}},
		{"stale get", "stale-read", func(t *testing.T, h *History) {
			o := pick(t, h, 20, func(o *Op) bool {
				return o.Kind == "get" && o.Audit == "" && o.Got != nil && strings.Contains(o.Key, "-mono-")
			})
			w := previous(t, h, o)
			for _, p := range h.Ops { // let its write be long over
				if p.Value == o.Got.Value {
					p.Ret = p.Call + 1
				}
			}
			o.Got = &w
		}},
		{"stale get, by porcupine", "not-linearizable", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool {
				return o.Kind == "get" && o.Audit == "at the end of the load" && strings.Contains(o.Key, "-mono-") && o.Got != nil
			})
			s := previous(t, h, o)
			o.Got = &s
		}},
		{"stale list", "stale-read", func(t *testing.T, h *History) {
			first, o := pick(t, h, 0, plainList), pick(t, h, 8, plainList)
			for _, p := range h.Ops {
				if plainList(p) && p.Res == o.Res {
					first = p
					break
				}
			}
			o.ListRV, o.Items = first.ListRV, first.Items
		}},
		{"read of a deleted object", "not-linearizable", func(t *testing.T, h *History) {
			d := pick(t, h, 5, func(o *Op) bool { return o.Kind == "delete" && o.Out == OK && o.Got == nil })
			var last *Op
			for _, o := range h.Ops {
				if o.Got != nil && o.Got.UID == d.UID && (last == nil || o.Got.RV > last.Got.RV) {
					last = o
				}
			}
			h.Ops = append(h.Ops, &Op{ID: 1 << 30, Client: "x", Kind: "get", Res: d.Res, Key: d.Key, Call: d.Ret + 1, Ret: d.Ret + 2, Out: OK, Code: 200, Got: last.Got})
		}},
		{"not found though it is there", "lost-write", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool {
				return o.Kind == "get" && o.Audit == "at the end of the load" && o.Got != nil && strings.Contains(o.Key, "-mono-")
			})
			o.Out, o.Code, o.Reason, o.Got = Fail, 404, "NotFound", nil
		}},
		{"a refusal without a reason", "not-linearizable", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool { return o.Kind == "get" && o.Audit == "at the end of the load" && o.Got != nil })
			h.Ops = append(h.Ops, &Op{ID: 1 << 30, Client: "x", Kind: "update", Res: o.Res, Key: o.Key, Value: "x.1", Pre: o.Got.RV,
				Call: o.Call, Ret: o.Ret, Out: Fail, Code: 409, Reason: "Conflict"})
		}},
		{"stale update", "stale-update", func(t *testing.T, h *History) {
			o := pick(t, h, 5, func(o *Op) bool { return o.Kind == "update" && ackedMono(o) && o.Pre > 0 })
			w := *o
			w.Got = &State{RV: o.Pre}
			o.Pre = previous(t, h, &w).RV
		}},
		{"two creates win", "not-linearizable", func(t *testing.T, h *History) {
			o := pick(t, h, 2, func(o *Op) bool { return o.Kind == "patch" && ackedMono(o) })
			o.Kind = "create"
		}},
		{"rewound version", "version-order", func(t *testing.T, h *History) {
			o := pick(t, h, 20, func(o *Op) bool { return ackedMono(o) })
			early := pick(t, h, 0, plainList).ListRV
			renumber(h, o.Got.RV, early) // everywhere: every witness agrees
		}},
		{"answer and event differ in version", "version-mismatch", func(t *testing.T, h *History) {
			o := pick(t, h, 20, ackedMono)
			o.Got.RV += 1 << 40
		}},
		{"answer and event differ in state", "version-reused", func(t *testing.T, h *History) {
			o := pick(t, h, 20, ackedMono)
			o.Got.UID = "another"
		}},
		{"version used by two resources", "version-reused", func(t *testing.T, h *History) {
			a := pick(t, h, 10, func(o *Op) bool { return ackedMono(o) && o.Res == "configmaps" })
			b := pick(t, h, 10, func(o *Op) bool { return ackedMono(o) && o.Res == "secrets" })
			renumberIn(h, "secrets", b.Got.RV, a.Got.RV)
		}},
		{"write seen that was refused", "failed-write-applied", func(t *testing.T, h *History) {
			o := pick(t, h, 20, ackedMono)
			o.Out, o.Code, o.Reason, o.Got = Fail, 409, "Conflict", nil
		}},
		{"write seen that nobody made", "phantom-write", func(t *testing.T, h *History) {
			o := pick(t, h, 20, ackedMono)
			h.Ops = slices.DeleteFunc(h.Ops, func(p *Op) bool { return p == o })
		}},
		{"deletion that nobody made", "phantom-delete", func(t *testing.T, h *History) {
			d := pick(t, h, 3, func(o *Op) bool { return o.Kind == "delete" && o.Out == OK && o.Got == nil })
			h.Ops = slices.DeleteFunc(h.Ops, func(p *Op) bool { return p == d })
		}},
		{"torn object", "torn-object", func(t *testing.T, h *History) {
			s := stream(t, h, 30)
			s.Events[change(t, s, "M")].Torn = "annotation a, data b"
		}},
		{"event twice", "watch-duplicate", func(t *testing.T, h *History) {
			s := stream(t, h, 30)
			i := change(t, s, "")
			s.Events = slices.Insert(s.Events, i, s.Events[i])
		}},
		{"event again after a resume", "watch-duplicate", func(t *testing.T, h *History) {
			for i, s := range h.Streams[1:] {
				p := h.Streams[i]
				if p.Watcher != s.Watcher || s.Init || len(p.Events) == 0 || p.Events[len(p.Events)-1].Type == "B" || s.From != p.Events[len(p.Events)-1].RV {
					continue
				}
				e := p.Events[len(p.Events)-1]
				e.At = s.Over
				s.Events = slices.Insert(s.Events, 0, e)
				return
			}
			t.Fatal("no resume")
		}},
		{"gap in one stream", "watch-gap", func(t *testing.T, h *History) {
			s := stream(t, h, 30)
			i := change(t, s, "M")
			s.Events = slices.Delete(s.Events, i, i+1)
		}},
		{"gap after a resume", "watch-gap", func(t *testing.T, h *History) {
			for i, s := range h.Streams[1:] {
				if h.Streams[i].Watcher == s.Watcher && s.N > 1 && !s.Init && len(s.Events) > 2 && s.Events[0].Type != "B" {
					s.Events = s.Events[1:]
					return
				}
			}
			t.Fatal("no resume")
		}},
		{"gap in all streams", "watch-gap", func(t *testing.T, h *History) {
			rv := pick(t, h, 20, ackedMono).Got.RV
			for _, s := range h.Streams {
				s.Events = slices.DeleteFunc(s.Events, func(e Event) bool { return e.RV == rv && e.Type != "B" })
			}
		}},
		{"deletion in no stream", "watch-gap", func(t *testing.T, h *History) {
			d := pick(t, h, 3, func(o *Op) bool { return o.Kind == "delete" && o.Out == OK && o.Got == nil })
			for _, s := range h.Streams {
				s.Events = slices.DeleteFunc(s.Events, func(e Event) bool { return e.Type == "D" && e.UID == d.UID })
			}
		}},
		{"events out of order", "watch-order", func(t *testing.T, h *History) {
			s := stream(t, h, 30)
			i := change(t, s, "")
			s.Events[i], s.Events[i+1] = s.Events[i+1], s.Events[i]
		}},
		{"bookmark too early", "watch-order", func(t *testing.T, h *History) {
			s := stream(t, h, 30)
			i := change(t, s, "")
			s.Book = true
			s.Events = slices.Insert(s.Events, i, Event{Type: "B", State: State{RV: s.Events[i].RV}, At: s.Events[i].At})
		}},
		{"bookmark goes back", "watch-bookmark", func(t *testing.T, h *History) {
			s := stream(t, h, 30)
			i := change(t, s, "")
			s.Book = true
			s.Events = slices.Insert(s.Events, i+1, Event{Type: "B", State: State{RV: s.Events[i].RV - 1}, At: s.Events[i].At})
		}},
		{"deletion with another state", "watch-deleted-state", func(t *testing.T, h *History) {
			var rv uint64
			for _, s := range h.Streams {
				for i := range s.Events {
					if e := &s.Events[i]; e.Type == "D" && (rv == 0 || rv == e.RV) {
						rv, e.Value = e.RV, "w0.1"
					}
				}
			}
		}},
		{"added twice", "watch-type", func(t *testing.T, h *History) {
			s := stream(t, h, 30)
			s.Events[change(t, s, "M")].Type = "A"
		}},
		{"watcher left behind", "watch-late", func(t *testing.T, h *History) {
			h.Late = append(h.Late, Late{Res: "configmaps", Want: 9, Have: 8})
		}},
		{"object missing in initial events", "initial-events", func(t *testing.T, h *History) {
			for _, s := range h.Streams {
				if _, ok := s.base(); s.Init && ok && s.Key == "" && len(s.Events) > 3 && s.Events[0].Type == "A" {
					s.Events = s.Events[1:]
					return
				}
			}
			t.Fatal("no initial events")
		}},
		{"list lacks an object", "list-state", func(t *testing.T, h *History) {
			o := pick(t, h, 5, plainList)
			o.Items = o.Items[1:]
		}},
		{"exact list holds an older state", "list-state", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool {
				if o.Match != "Exact" || o.Out != OK || o.Walk > 0 {
					return false
				}
				for i := range o.Items {
					if w := (&Op{Res: o.Res, Key: o.Items[i].Key, Got: &o.Items[i].State}); strings.Contains(w.Key, "-mono-") && o.Items[i].RV > 0 {
						for _, p := range h.Ops {
							if p.Out == OK && p.Got != nil && p.Res == o.Res && p.Key == w.Key && p.Got.RV < w.Got.RV {
								o.Items[i].State = previous(t, h, w)
								return true
							}
						}
					}
				}
				return false
			})
			_ = o
		}},
		{"exact list of another version", "list-version", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool { return o.Match == "Exact" && o.Out == OK && o.Walk == 0 })
			o.ListRV++
		}},
		{"page of another version", "torn-page", func(t *testing.T, h *History) {
			o := pick(t, h, 3, func(o *Op) bool { return o.Walk == 2 && o.Out == OK })
			o.ListRV++
		}},
		{"page with an object of another time", "torn-page", func(t *testing.T, h *History) {
			pick(t, h, 0, func(o *Op) bool {
				if o.Walk < 2 || o.Out != OK {
					return false
				}
				for i, it := range o.Items {
					for _, p := range h.Ops {
						if ackedMono(p) && p.Res == o.Res && p.Key == it.Key && p.Got.RV > it.RV && p.Ret < o.Ret {
							o.Items[i].State = *p.Got
							return true
						}
					}
				}
				return false
			})
		}},
		{"page left out", "torn-page", func(t *testing.T, h *History) {
			o := pick(t, h, 0, func(o *Op) bool { return o.Walk == 2 && o.Out == OK && len(o.Items) > 0 && !o.More })
			o.Items = o.Items[1:]
		}},
		{"cached list goes back", "cache-backwards", func(t *testing.T, h *History) {
			o := pick(t, h, 10, func(o *Op) bool { return plainList(o) && strings.HasPrefix(o.Client, "r") })
			c := pick(t, h, 0, func(p *Op) bool { return p.RVParam == "0" && p.Walk == 0 && p.Res == o.Res && p.Call < o.Call })
			c.Client, c.Server = o.Client, o.Server
			c.Call, c.Ret = o.Ret+1, o.Ret+2
		}},
		{"run broken off", "not-finished", func(t *testing.T, h *History) { h.Meta.Finished = false }},
	} {
		t.Run(m.name, func(t *testing.T) {
			h := recorded(t)
			m.mutate(t, h)
			c := newChecker(h)
			c.mustCache = true
			c.check()
			if c.counts[m.want] == 0 {
				t.Errorf("want %s, got %v", m.want, c.counts)
			}
		})
	}
}
