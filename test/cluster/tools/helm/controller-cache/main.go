// controller-cache follows a list of Gatehouse with the cache of controller-runtime as it is, which controllers read from. What its informer
// tells is written to the standard output, one JSON object a line; at the end of the standard input it tells what it holds and ends.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// said is one line of what happened.
type said struct {
	Who     string `json:"who"`
	What    string `json:"what"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// Step is a label that a test counts up.
	Step string `json:"step,omitempty"`
	// Whole says that a watch asks for the whole list.
	Whole bool `json:"whole,omitempty"`
}

var (
	output  = json.NewEncoder(os.Stdout)
	writing sync.Mutex
)

func say(line said) {
	line.Who = "cache"
	writing.Lock()
	defer writing.Unlock()
	if err := output.Encode(line); err != nil {
		log.Fatal(err)
	}
}

func sayObject(what string, object any) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	one := object.(metav1.Object)
	name := one.GetNamespace() + "/" + one.GetName()
	say(said{What: what, Name: name, Version: one.GetResourceVersion(), Step: one.GetLabels()["step"]})
}

// listPath sends every request to the list, at the replicas in turn, as behind a Service. The cache itself knows the paths of an API server only.
type listPath struct {
	replicas []*url.URL
	path     string
	next     atomic.Uint64
	sent     http.RoundTripper
}

func (l *listPath) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	what := "list"
	if query.Get("watch") != "" {
		what = "watch"
	}
	say(said{What: what, Version: query.Get("resourceVersion"), Whole: query.Get("sendInitialEvents") == "true"})
	replica := l.replicas[l.next.Add(1)%uint64(len(l.replicas))]
	moved := request.Clone(request.Context())
	moved.URL.Scheme, moved.URL.Host, moved.URL.Path = replica.Scheme, replica.Host, l.path
	moved.Host = replica.Host
	answer, err := l.sent.RoundTrip(moved)
	if err != nil {
		say(said{What: "refused", Name: err.Error()})
	} else if answer.StatusCode != http.StatusOK {
		say(said{What: "refused", Name: answer.Status})
	}
	return answer, err
}

func main() {
	urls := flag.String("urls", "", "of the replicas, with commas between them")
	path := flag.String("path", "", "of the list")
	kind := flag.String("kind", "", "Kind.version.group of a custom resource; default: pods")
	flag.Parse()
	ctrllog.SetLogger(logr.Discard())

	gvk := corev1.SchemeGroupVersion.WithKind("Pod")
	var object client.Object = &corev1.Pod{}
	var list client.ObjectList = &corev1.PodList{}
	if *kind != "" {
		parsed, _ := schema.ParseKindArg(*kind)
		gvk = *parsed
		one, many := &unstructured.Unstructured{}, &unstructured.UnstructuredList{}
		one.SetGroupVersionKind(gvk)
		many.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		object, list = one, many
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(gvk, meta.RESTScopeNamespace)

	to := &listPath{path: *path}
	for _, one := range strings.Split(*urls, ",") {
		replica, err := url.Parse(one)
		if err != nil {
			log.Fatal(err)
		}
		to.replicas = append(to.replicas, replica)
	}
	config := &rest.Config{Host: to.replicas[0].String(), BearerToken: os.Getenv("TOKEN")}
	config.Wrap(func(sent http.RoundTripper) http.RoundTripper {
		to.sent = sent
		return to
	})
	follow(config, mapper, object, list)
}

// follow ends when the standard input ends.
func follow(config *rest.Config, mapper meta.RESTMapper, object client.Object, list client.ObjectList) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	held, err := cache.New(config, cache.Options{Scheme: scheme.Scheme, Mapper: mapper})
	if err != nil {
		log.Fatal(err)
	}
	informer, err := held.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		log.Fatal(err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { sayObject("add", object) },
		UpdateFunc: func(_, object any) { sayObject("update", object) },
		DeleteFunc: func(object any) { sayObject("delete", object) },
	})
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		if err := held.Start(ctx); err != nil {
			log.Fatal(err)
		}
	}()
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		log.Fatal(err)
	}
	if err := held.List(ctx, list); err != nil {
		log.Fatal(err)
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		log.Fatal(err)
	}
	for _, object := range objects {
		sayObject("held", object)
	}
	say(said{What: "end"})
}
