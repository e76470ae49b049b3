package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pause is between two attempts, while nobody listens.
const pause = 200 * time.Millisecond

// lineReader reads the node list of Gatehouse with the HTTP client of x/oauth2.
type lineReader struct {
	told    told
	session *session
	// version is that of the last event. Empty: everything is asked for.
	version string
}

// nodeMeta is what is read of a node.
type nodeMeta struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	// Code is that of an error.
	Code int `json:"code"`
}

func (r *lineReader) get(ctx context.Context, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return oauth2.NewClient(ctx, r.session).Do(request)
}

func (r *lineReader) list(ctx context.Context) ([]string, error) {
	answer, err := r.get(ctx, r.told.Nodes)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the list was answered %s %s %v", answer.Status, body, err)
	}
	return namesOf(body)
}

func namesOf(body []byte) ([]string, error) {
	var list struct{ Items []nodeMeta }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var names []string
	for _, node := range list.Items {
		names = append(names, node.Metadata.Name)
	}
	return names, nil
}

// watch does what docs/watch.md says that a client does.
func (r *lineReader) watch(ctx context.Context) error {
	for {
		query := url.Values{"watch": {"true"}}
		if r.version != "" {
			query.Set("resourceVersion", r.version)
		}
		// While nobody listens there is no answer.
		if answer, err := r.get(ctx, r.told.Nodes+"?"+query.Encode()); err == nil {
			if err := r.follow(answer); err != nil {
				return err
			}
		}
		time.Sleep(pause)
	}
}

// follow returns nil when the watch is to be opened again.
func (r *lineReader) follow(answer *http.Response) error {
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusGone:
		r.startAgain()
		return nil
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return nil
	default:
		return fmt.Errorf("the watch was answered %s", answer.Status)
	}
	events := json.NewDecoder(answer.Body)
	for {
		var event struct {
			Type   string
			Object nodeMeta
		}
		// A stream may break off in the middle of a line.
		if events.Decode(&event) != nil {
			return nil
		}
		r.take(event.Type, event.Object)
	}
}

func (r *lineReader) take(kind string, object nodeMeta) {
	if kind == "ERROR" {
		if object.Code == http.StatusGone {
			r.startAgain()
		}
		return
	}
	r.version = object.Metadata.ResourceVersion
	if kind != "BOOKMARK" {
		tell(kind, object.Metadata.Name)
	}
}

func (r *lineReader) startAgain() {
	r.version = ""
	tell("RESET", "")
}
