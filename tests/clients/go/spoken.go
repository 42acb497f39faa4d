package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// spoken remembers answers in another encoding than protobuf, for requests of objects.
type spoken struct {
	mu      sync.Mutex
	answers int
	others  []string
}

func (s *spoken) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err != nil {
			return answer, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers++
		given := answer.Header.Get("Content-Type")
		if !strings.HasPrefix(given, protobuf) {
			s.others = append(s.others, fmt.Sprintf("%s %s: %d %q", r.Method, r.URL, answer.StatusCode, given))
		}
		return answer, nil
	})
}

func (s *spoken) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == 0 || len(s.others) != 0 {
		return fmt.Errorf("%d answers, not protobuf: %v", s.answers, s.others)
	}
	return nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
