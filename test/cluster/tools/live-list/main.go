// live-list follows a list of Gatehouse with client-go as it is: a reflector and an informer, each with a list-watch of
// its own. What they do is written to the standard output, one JSON object a line; at the end of the standard input they tell
// what they hold and end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// said is one line of what happened.
type said struct {
	Who  string `json:"who"`
	What string `json:"what"`
	Name string `json:"name,omitempty"`
	// Version is the resourceVersion of the node, or what a watch asks to go on from.
	Version string `json:"version,omitempty"`
	// Step and CPU tell two states of a node apart: a label that a test counts up, and the sum of the requests of its pods.
	Step string `json:"step,omitempty"`
	CPU  string `json:"cpu,omitempty"`
	// Was is the version that the informer had before.
	Was string `json:"was,omitempty"`
	// Whole says that a watch asks for the whole list.
	Whole bool `json:"whole,omitempty"`
}

var (
	output  = json.NewEncoder(os.Stdout)
	writing sync.Mutex
)

func say(line said) {
	writing.Lock()
	defer writing.Unlock()
	if err := output.Encode(line); err != nil {
		log.Fatal(err)
	}
}

func stateOf(who, what string, object any) said {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	one := object.(metav1.Object)
	name := one.GetName()
	if namespace := one.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return said{
		Who: who, What: what, Name: name, Version: one.GetResourceVersion(),
		Step: one.GetLabels()["step"], CPU: one.GetAnnotations()["node.gatehouse.io/cpu-requests"],
	}
}

// replicas are asked in turn, as behind a Service.
type replicas struct {
	clients []rest.Interface
	path    string
	list    func() runtime.Object
	next    atomic.Uint64
}

func newReplicas(urls []string, path, token string, isTyped bool) (*replicas, error) {
	all := &replicas{path: path}
	for _, url := range urls {
		config := &rest.Config{Host: url, BearerToken: token}
		if isTyped {
			config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
		} else {
			config = dynamic.ConfigFor(config)
		}
		config.APIPath = "/"
		config.GroupVersion = &corev1.SchemeGroupVersion
		client, err := rest.RESTClientFor(config)
		if err != nil {
			return nil, err
		}
		all.clients = append(all.clients, client)
	}
	return all, nil
}

func (r *replicas) client() rest.Interface {
	return r.clients[r.next.Add(1)%uint64(len(r.clients))]
}

// listWatch has no list unless the kind has one here: a watch that sends initial events needs none.
func (r *replicas) listWatch(who string) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			say(said{Who: who, What: "list"})
			if r.list == nil {
				return nil, errors.New("there is no list")
			}
			list := r.list()
			err := r.client().Get().AbsPath(r.path).VersionedParams(&options, scheme.ParameterCodec).Do(ctx).Into(list)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			whole := options.SendInitialEvents != nil && *options.SendInitialEvents
			say(said{Who: who, What: "watch", Version: options.ResourceVersion, Whole: whole})
			options.Watch = true
			stream, err := r.client().Get().AbsPath(r.path).VersionedParams(&options, scheme.ParameterCodec).Watch(ctx)
			if err != nil {
				say(said{Who: who, What: "refused", Name: err.Error()})
			}
			return stream, err
		},
	}
}

// toldStore tells what a reflector does to its store.
type toldStore struct {
	cache.Store
	who string
}

func (s *toldStore) Add(object any) error {
	say(stateOf(s.who, "add", object))
	return s.Store.Add(object)
}

func (s *toldStore) Update(object any) error {
	say(stateOf(s.who, "update", object))
	return s.Store.Update(object)
}

func (s *toldStore) Delete(object any) error {
	say(stateOf(s.who, "delete", object))
	return s.Store.Delete(object)
}

func (s *toldStore) Replace(objects []any, version string) error {
	say(said{Who: s.who, What: "replace", Version: version})
	for _, object := range objects {
		say(stateOf(s.who, "add", object))
	}
	return s.Store.Replace(objects, version)
}

func tellHeld(who string, store cache.Store) {
	for _, object := range store.List() {
		say(stateOf(who, "held", object))
	}
	say(said{Who: who, What: "end"})
}

func main() {
	urls := flag.String("urls", "", "of the replicas, with commas between them")
	path := flag.String("path", "", "of the list")
	kind := flag.String("kind", "nodes", "nodes, pods, or custom: objects of any kind, without a list")
	lists := flag.Bool("lists", false, "whether to list, page by page, before a watch")
	flag.Parse()
	all, err := newReplicas(strings.Split(*urls, ","), *path, os.Getenv("TOKEN"), *kind != "custom")
	if err != nil {
		log.Fatal(err)
	}
	var expected runtime.Object = &corev1.Node{}
	switch *kind {
	case "pods":
		expected = &corev1.Pod{}
	case "custom":
		expected = &unstructured.Unstructured{}
	}
	if *lists {
		all.list = func() runtime.Object {
			if *kind == "pods" {
				return &corev1.PodList{}
			}
			return &corev1.NodeList{}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	store := &toldStore{Store: cache.NewStore(cache.MetaNamespaceKeyFunc), who: "reflector"}
	reflector := cache.NewReflector(all.listWatch("reflector"), expected, store, 0)
	go reflector.RunWithContext(ctx)

	informer := cache.NewSharedIndexInformer(all.listWatch("informer"), expected, 0, cache.Indexers{})
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { say(stateOf("informer", "add", object)) },
		UpdateFunc: func(before, object any) {
			line := stateOf("informer", "update", object)
			line.Was = before.(metav1.Object).GetResourceVersion()
			say(line)
		},
		DeleteFunc: func(object any) { say(stateOf("informer", "delete", object)) },
	})
	if err != nil {
		log.Fatal(err)
	}
	go informer.RunWithContext(ctx)

	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
	tellHeld("reflector", store)
	tellHeld("informer", informer.GetStore())
}
