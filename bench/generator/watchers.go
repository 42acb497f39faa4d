package main

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// fanOut runs one churn before a group of watchers and reports it.
func (r *Runner) fanOut(res *Result, f *fan, during func() error) {
	var err error
	f.r, res.Unit = r, "delivered events"
	if f.from, err = r.currentRV(configmaps); err != nil {
		res.fail(err)
		return
	}
	if err := f.open(); err != nil {
		res.fail(err)
		return
	}
	defer f.close()
	if during != nil {
		if err := during(); err != nil {
			res.fail(err)
			return
		}
	}
	time.Sleep(500 * time.Millisecond)
	win := r.begin()
	began := time.Since(f.k.base)
	res.fail(f.k.run(r, 10))
	wrote := time.Since(f.k.base) - began
	if res.Error == "" {
		res.fail(f.wait(3 * time.Minute))
	}
	win.end()
	time.Sleep(300 * time.Millisecond) // time for events too many
	f.close()
	f.tell(res, win)
	if d := time.Duration(f.last.Load()) - began; d > 0 {
		res.Seconds = d.Seconds()
		res.PerSecond = float64(res.Ops) / res.Seconds
	}
	rate := float64(f.k.ops()) / wrote.Seconds()
	res.more("writes_per_second", rate)
	if rate < f.k.rate*.95 {
		res.Notes = append(res.Notes, fmt.Sprintf("the writers reached %.0f of %.0f writes a second", rate, f.k.rate))
	}
	f.verify(res)
	res.fail(r.clean(configmaps))
}

// tell fills in the figures of a fan.
func (f *fan) tell(res *Result, win *window) {
	var sent, ack hist
	var delivered int64
	reconnects := 0
	for _, w := range f.watchers {
		sent.merge(w.sent)
		ack.merge(w.ack)
		delivered += w.count.Load()
		reconnects += w.reconnects
	}
	res.fill(win, delivered)
	res.LagSent, res.LagAck = sent.quantiles(), ack.quantiles()
	res.more("events", float64(f.k.ops()))
	res.more("reconnects", float64(reconnects))
}

func encName(proto bool) string {
	if proto {
		return "protobuf"
	}
	return "json"
}

// watch measures fan-out at full speed, at 200 writes a second, and with a
// selector on each watch.
func (r *Runner) watch() error {
	const fixed = 200
	for _, n := range []int{max(r.watchers/10, 1), r.watchers} {
		for _, proto := range []bool{false, true} {
			res := &Result{Case: "watch", Name: fmt.Sprintf("%s watchers=%d rate=max", encName(proto), n)}
			r.fanOut(res, &fan{k: newChurn(r.events/3, 1000, 0), n: n, proto: proto}, nil)
			r.add(res)

			res = &Result{Case: "watch", Name: fmt.Sprintf("%s watchers=%d rate=%d/s", encName(proto), n, fixed)}
			r.fanOut(res, &fan{k: newChurn(max(int(r.seconds*fixed)/3, 1), 1000, fixed), n: n, proto: proto}, nil)
			r.add(res)
		}
	}
	for _, proto := range []bool{false, true} {
		res := &Result{Case: "watch", Name: fmt.Sprintf("%s selective watchers=%d rate=max", encName(proto), r.watchers)}
		r.fanOut(res, &fan{k: newChurn(r.watchers, 1000, 0), n: r.watchers, proto: proto, selective: true}, nil)
		r.add(res)
	}
	return nil
}

// slow is the fan-out with 10 watchers more that never read.
func (r *Runner) slow() error {
	const idle, size = 10, 16000
	n := max(r.watchers/10, 1)
	res := &Result{Case: "slow", Name: fmt.Sprintf("json watchers=%d +%d never reading, 16KB", n, idle)}
	f := &fan{k: newChurn(r.events/3, size, 0), n: n}
	var conns []*Conn
	r.fanOut(res, f, func() error {
		for range idle {
			c := r.target.conn(4 << 10)
			c.rcvbuf, c.timeout = 256<<10, 5*time.Minute
			conns = append(conns, c)
			if err := c.do(f.request(0, f.from)); err != nil {
				return err
			}
		}
		return nil
	})
	if res.Error == "" {
		f.drain(res, conns)
	}
	for _, c := range conns {
		c.shut()
	}
	r.add(res)
	return nil
}

// drain reads at last what the slow watchers were sent: it must be the
// beginning of what the others saw, without a gap, and then an end.
func (f *fan) drain(res *Result, conns []*Conn) {
	all := f.watchers[0].record
	got := make([]float64, len(conns))
	var cut, whole, open atomic.Int64
	res.fail(parallel(len(conns), func(i int, _ *atomic.Bool) error {
		n, err := compareRest(conns[i], all)
		got[i] = float64(n)
		var timeout interface{ Timeout() bool }
		switch {
		case err == nil:
			whole.Add(1)
		case errors.As(err, &timeout) && timeout.Timeout():
			open.Add(1)
		case isEnd(err):
			cut.Add(1)
		default:
			return fmt.Errorf("slow watcher %d after %d events: %w", i, n, err)
		}
		return nil
	}))
	res.more("slow_cut_off", float64(cut.Load()))
	res.more("slow_got_everything", float64(whole.Load()))
	res.more("slow_least_events", slices.Min(got))
	res.more("slow_most_events", slices.Max(got))
	if n := open.Load(); n > 0 {
		res.fail(fmt.Errorf("%d slow watchers stay open and get no more events: silent loss", n))
	}
	res.prove("what each slow watcher could still read is the beginning of the sequence, without a gap; then the stream ends or is complete")
}

// compareRest reads a slow watch to its end, or to the last of all events.
func compareRest(c *Conn, all []seen) (n int, err error) {
	s := stream{c: c}
	for _, want := range all {
		if err := c.nc.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			return n, err
		}
		e, err := s.next()
		if err != nil {
			return n, err
		}
		if e.rv != want.rv {
			return n, fmt.Errorf("resourceVersion %d where %d was due: a gap or a repeat", e.rv, want.rv)
		}
		n++
	}
	return n, nil
}

// resume opens watches that have 10,000 events to catch up with.
func (r *Runner) resume() error {
	from, err := r.currentRV(configmaps)
	if err != nil {
		return err
	}
	k := newChurn(3334, 1000, 0)
	if err := k.run(r, 10); err != nil {
		return err
	}
	for _, proto := range []bool{false, true} {
		for _, n := range []int{1, 16} {
			r.add(r.catchUp(k, from, n, proto))
		}
	}
	return nil
}

// catchUp opens n watches at an old version, several times over, and drains
// them.
func (r *Runner) catchUp(k *churn, from string, n int, proto bool) *Result {
	const rounds = 4
	res := &Result{Case: "resume", Name: fmt.Sprintf("%s missed=%d watchers=%d", encName(proto), k.ops(), n), Unit: "delivered events"}
	var drain hist
	var fans []*fan
	win := r.begin()
	for range rounds {
		f := &fan{r: r, k: k, n: n, proto: proto, from: from}
		fans = append(fans, f)
		began := time.Now()
		err := f.open()
		if err == nil {
			err = f.wait(2 * time.Minute)
		}
		drain.add(time.Since(began))
		f.close()
		if err != nil {
			res.fail(err)
			break
		}
	}
	win.end()
	res.fill(win, int64(len(fans)*n*k.ops()))
	res.Latency = drain.quantiles()
	for _, f := range fans {
		res.Proof = nil
		f.verify(res)
	}
	return res
}

// connections opens idle watches, weighs them, and shows that each is alive.
func (r *Runner) connections() error {
	res := &Result{Case: "connections", Name: fmt.Sprintf("idle watches=%d", r.idle), Unit: "watches opened"}
	from, err := r.currentRV(configmaps)
	if err != nil {
		return err
	}
	f := &fan{r: r, k: newChurn(1, 1000, 0), n: r.idle, from: from}
	win := r.begin()
	err = f.open()
	win.end()
	res.fail(err)
	res.fill(win, int64(r.idle))
	if err == nil {
		time.Sleep(5 * time.Second)
		rested, err := readUsage(r.pids)
		res.fail(err)
		idle := r.begin()
		time.Sleep(5 * time.Second)
		idle.end()
		res.RSSAfter = float64(rested.rss) / mb
		res.more("rss_bytes_per_watch", float64(rested.rss-win.before.rss)/float64(r.idle))
		res.more("idle_cpu_ms_per_second", float64(idle.cpu)/1000/idle.seconds)
		res.fail(f.k.run(r, 1))
		res.fail(f.wait(time.Minute))
		time.Sleep(300 * time.Millisecond)
	}
	f.close()
	if res.Error == "" {
		var sent hist
		for _, w := range f.watchers {
			sent.merge(w.sent)
		}
		res.LagSent = sent.quantiles()
		f.verify(res)
	}
	r.add(res)
	return r.clean(configmaps)
}
