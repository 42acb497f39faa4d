package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// churn makes events: every object is created, updated and deleted. An
// operation's number is three times its object's number, plus 0, 1 or 2.
type churn struct {
	objects   int
	size      int     // bytes of data in each object
	rate      float64 // operations a second, 0 = as fast as it goes
	base      time.Time
	sent, ack []atomic.Int64 // nanoseconds after base, 0 = not yet
	rv        []uint64       // from the answers; 0 for deletes, which carry none
}

const eventName = "load-e-" // and the object's number

func newChurn(objects, size int, rate float64) *churn {
	n := 3 * objects
	return &churn{objects: objects, size: size, rate: rate, base: time.Now(),
		sent: make([]atomic.Int64, n), ack: make([]atomic.Int64, n), rv: make([]uint64, n)}
}

func (k *churn) ops() int { return 3 * k.objects }

// run makes the writes over conns connections.
func (k *churn) run(r *Runner, conns int) error {
	var ticket, next atomic.Int64
	start := time.Now()
	return parallel(conns, func(_ int, failed *atomic.Bool) error {
		c := r.target.conn(16 << 10)
		defer c.shut()
		if err := c.dial(); err != nil {
			return err
		}
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= k.objects {
				return nil
			}
			name := fmt.Sprintf("%s%0*d", eventName, digits, i)
			one := configmaps + "/" + name
			for step := range 3 {
				op := 3*i + step
				req, want := &Request{Method: "POST", Path: configmaps, Accept: acceptJSON, ContentType: acceptJSON}, 201
				switch step {
				case 0:
					req.Body = configMap(name, "", 0, k.size)
				case 1:
					req.Method, req.Path, want = "PUT", one, 200
					req.Body = configMap(name, fmt.Sprint(k.rv[op-1]), 1, k.size)
				case 2:
					req.Method, req.Path, want = "DELETE", one, 200
				}
				if k.rate > 0 {
					due := float64(ticket.Add(1)-1) / k.rate
					time.Sleep(time.Until(start.Add(time.Duration(due * 1e9))))
				}
				k.sent[op].Store(int64(time.Since(k.base)))
				b, err := c.call(req, want)
				k.ack[op].Store(int64(time.Since(k.base)))
				if err != nil {
					return err
				}
				if step < 2 {
					if k.rv[op], err = jsonRV(b); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// seen is one event as the first watcher keeps it.
type seen struct {
	op int
	rv uint64
}

// watcher follows one watch, and goes on from the last event it has when the
// server ends the stream.
type watcher struct {
	fan        *fan
	c          *Conn
	id         int
	count      atomic.Int64
	rv         uint64 // of the last event
	digest     uint64
	record     []seen // watcher 0, and every watcher of a selective fan
	reconnects int
	sent, ack  *hist
	err        error
	closing    atomic.Bool
	reached    chan struct{}
}

// fan is a group of watchers of the same churn.
type fan struct {
	r         *Runner
	k         *churn
	n         int
	proto     bool
	selective bool // watcher i sees only object i
	from      string
	want      int // events for each watcher
	watchers  []*watcher
	exited    sync.WaitGroup
	last      atomic.Int64 // nanoseconds after base of the last delivery
}

func (f *fan) request(i int, rv string) *Request {
	kv := []string{"watch", "1", "resourceVersion", rv, "timeoutSeconds", "900"}
	if f.selective {
		kv = append(kv, "fieldSelector", fmt.Sprintf("metadata.name=%s%0*d", eventName, digits, i))
	}
	req := &Request{Method: "GET", Path: query(configmaps, kv...), Accept: acceptJSON}
	if f.proto {
		req.Accept = acceptProto + ";stream=watch"
	}
	return req
}

// open starts all watches and returns when every one has its answer.
func (f *fan) open() error {
	f.want = f.k.ops()
	if f.selective {
		f.want = 3
	}
	f.watchers = make([]*watcher, f.n)
	var next atomic.Int64
	err := parallel(min(f.n, 32), func(_ int, failed *atomic.Bool) error {
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= f.n {
				return nil
			}
			w := &watcher{fan: f, c: f.r.target.conn(4 << 10), id: i, reached: make(chan struct{}), sent: &hist{}, ack: &hist{}}
			w.c.timeout = 5 * time.Minute
			f.watchers[i] = w
			if err := w.start(f.from); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.close()
		return err
	}
	for _, w := range f.watchers {
		f.exited.Go(w.follow)
	}
	return nil
}

func (w *watcher) start(rv string) error {
	if err := w.c.do(w.fan.request(w.id, rv)); err != nil {
		return err
	}
	if w.c.Status != 200 {
		b, _ := w.c.body()
		return fmt.Errorf("watch: status %d: %s", w.c.Status, clip(b))
	}
	return nil
}

func (w *watcher) follow() {
	defer w.c.shut()
	for {
		err := w.read()
		if w.closing.Load() {
			return
		}
		w.c.shut()
		var fatal *wrong
		if errors.As(err, &fatal) || w.reconnects == 50 {
			w.fail(err)
			return
		}
		w.reconnects++
		rv := w.fan.from
		if w.rv > 0 {
			rv = strconv.FormatUint(w.rv, 10)
		}
		if err := w.start(rv); err != nil {
			w.fail(fmt.Errorf("going on from resourceVersion %s: %w", rv, err))
			return
		}
		if w.closing.Load() {
			return
		}
	}
}

func (w *watcher) fail(err error) {
	if w.closing.Load() {
		return
	}
	w.err = fmt.Errorf("watcher %d after %d events: %w", w.id, w.count.Load(), err)
	if w.count.Load() < int64(w.fan.want) {
		close(w.reached)
	}
}

// wrong is an answer that no reconnect can mend.
type wrong struct{ error }

func wrongf(format string, a ...any) error { return &wrong{fmt.Errorf(format, a...)} }

// read takes events until the stream ends.
func (w *watcher) read() error {
	f := w.fan
	s := stream{c: w.c, proto: f.proto}
	for {
		e, err := s.next()
		if err != nil {
			if isEnd(err) {
				return err
			}
			return &wrong{err}
		}
		now := time.Since(f.k.base)
		op, err := f.k.op(e)
		if err != nil {
			return &wrong{err}
		}
		if e.rv <= w.rv {
			return wrongf("resourceVersion %d after %d: repeated or out of order", e.rv, w.rv)
		}
		w.rv = e.rv
		w.sent.add(now - time.Duration(f.k.sent[op].Load()))
		lag := time.Duration(0) // an event may come before the writer has its answer
		if ack := f.k.ack[op].Load(); ack > 0 {
			lag = now - time.Duration(ack)
		}
		w.ack.add(lag)
		w.digest = (w.digest ^ uint64(op)<<32 ^ e.rv) * 0x9e3779b97f4a7c15
		w.digest ^= w.digest >> 29
		if w.id == 0 || f.selective {
			w.record = append(w.record, seen{op, e.rv})
		}
		n := w.count.Add(1)
		if n == int64(f.want) {
			for {
				old := f.last.Load()
				if int64(now) <= old || f.last.CompareAndSwap(old, int64(now)) {
					break
				}
			}
			close(w.reached)
		}
		if n > int64(f.want) {
			return wrongf("event %d is one too many", n)
		}
	}
}

// isEnd tells an ended or broken stream from a malformed one.
func isEnd(err error) bool {
	var op interface{ Timeout() bool }
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op)
}

// op finds which operation an event tells of, and checks that it is whole.
func (k *churn) op(e event) (int, error) {
	num, ok := bytes.CutPrefix(e.name, []byte(eventName))
	i := -1
	if ok && len(num) == digits {
		i = number(num)
	}
	if i < 0 || i >= k.objects {
		return 0, fmt.Errorf("event for unknown object %q", e.name)
	}
	if len(e.raw) < k.size {
		return 0, fmt.Errorf("event of %d bytes for an object of %d", len(e.raw), k.size)
	}
	switch e.kind {
	case 'A':
		return 3 * i, nil
	case 'M':
		return 3*i + 1, nil
	case 'D':
		return 3*i + 2, nil
	}
	return 0, fmt.Errorf("unexpected event type %c", e.kind)
}

// wait returns when every watcher has all its events or has failed; it gives
// up after limit, and when nothing at all arrives for 15 seconds.
func (f *fan) wait(limit time.Duration) error {
	const still = 15 * time.Second
	end := time.Now().Add(limit)
	var total int64
	moved := time.Now()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for i := 0; i < len(f.watchers); {
		w := f.watchers[i]
		select {
		case <-w.reached:
			i++
		case <-tick.C:
			var sum int64
			for _, w := range f.watchers {
				sum += w.count.Load()
			}
			if sum != total {
				total, moved = sum, time.Now()
			}
			if time.Since(moved) > still || time.Now().After(end) {
				return fmt.Errorf("watcher %d has %d of %d events, and waits in vain: lost events", w.id, w.count.Load(), f.want)
			}
		}
	}
	return nil
}

// close ends all watches; failures found so far stay in the watchers.
func (f *fan) close() {
	for _, w := range f.watchers {
		if w != nil {
			w.closing.Store(true)
			w.c.abort()
		}
	}
	f.exited.Wait()
}

// verify proves that every watcher got every event once, in order.
func (f *fan) verify(res *Result) {
	for _, w := range f.watchers {
		if w.err != nil {
			res.fail(w.err)
			return
		}
		if n := w.count.Load(); n != int64(f.want) {
			res.fail(fmt.Errorf("watcher %d got %d events, want %d", w.id, n, f.want))
			return
		}
		if f.selective {
			if err := f.k.check(w.record, w.id, 1); err != nil {
				res.fail(fmt.Errorf("watcher %d: %w", w.id, err))
				return
			}
		} else if w.digest != f.watchers[0].digest {
			res.fail(fmt.Errorf("watcher %d saw another sequence than watcher 0", w.id))
			return
		}
	}
	if f.selective {
		res.prove("each of %d watchers got the 3 events of its own object and no other, in order, with the acknowledged resourceVersions", f.n)
		return
	}
	if err := f.k.check(f.watchers[0].record, 0, f.k.objects); err != nil {
		res.fail(fmt.Errorf("watcher 0: %w", err))
		return
	}
	res.prove("watcher 0 got each of %d acknowledged writes once, with its resourceVersion; resourceVersions rise strictly on all %d watchers, and all saw the same sequence", f.want, f.n)
}

// check compares a record with the writes of objects first .. first+n-1.
func (k *churn) check(record []seen, first, n int) error {
	if len(record) != 3*n {
		return fmt.Errorf("%d events, want %d", len(record), 3*n)
	}
	done := make([]int, n) // events seen so far of each object
	for _, s := range record {
		i := s.op/3 - first
		if i < 0 || i >= n {
			return fmt.Errorf("event of object %d, which is not watched", s.op/3)
		}
		if s.op%3 != done[i] {
			return fmt.Errorf("object %d: step %d where step %d was due", s.op/3, s.op%3, done[i])
		}
		done[i]++
		if rv := k.rv[s.op]; rv > 0 && rv != s.rv {
			return fmt.Errorf("object %d: event has resourceVersion %d, the writer was told %d", s.op/3, s.rv, rv)
		}
	}
	return nil
}
