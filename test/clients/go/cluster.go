package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/transport"
)

// configOf has a Timeout, which client-go also sends as the parameter `timeout` of each request.
func configOf(told told, source *session) *rest.Config {
	return &rest.Config{
		Host:          told.URL,
		WrapTransport: transport.TokenSourceWrapTransport(source),
		Timeout:       30 * time.Second,
	}
}

// clusterNodes reads the nodes of the cluster through the gateway, with a typed client.
type clusterNodes struct {
	typed.NodeInterface
}

func newClusterNodes(told told, session *session) (clusterNodes, error) {
	client, err := typed.NewForConfig(configOf(told, session))
	if err != nil {
		return clusterNodes{}, err
	}
	return clusterNodes{client.Nodes()}, nil
}

func (n clusterNodes) list(ctx context.Context) ([]string, error) {
	list, err := n.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, node := range list.Items {
		names = append(names, node.Name)
	}
	return names, nil
}

// watch lists, then follows with the watcher of client-go that goes on by itself from the last version.
func (n clusterNodes) watch(ctx context.Context) error {
	list, err := n.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range list.Items {
		tell("ADDED", node.Name)
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, n.listWatch())
	if err != nil {
		return err
	}
	for event := range watcher.ResultChan() {
		if node, ok := event.Object.(*corev1.Node); ok {
			tell(string(event.Type), node.Name)
		}
	}
	return errors.New("the watcher has ended")
}

func (n clusterNodes) listWatch() *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return n.List(ctx, options)
		},
		WatchFuncWithContext: n.Watch,
	}
}

// informing is a watch by an informer.
func informing(source cache.ListerWatcher) func(context.Context) error {
	return func(ctx context.Context) error {
		informer := cache.NewSharedIndexInformer(source, &corev1.Node{}, 0, cache.Indexers{})
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(object any) { tell("ADDED", object.(*corev1.Node).Name) },
		})
		if err != nil {
			return err
		}
		informer.RunWithContext(ctx)
		return errors.New("the informer has ended")
	}
}

// liveList is client-go on the node list that Gatehouse has in memory.
type liveList struct {
	client rest.Interface
	path   string
}

func newLiveList(told told, session *session) (*liveList, error) {
	address, err := url.Parse(told.Nodes)
	if err != nil {
		return nil, err
	}
	config := configOf(told, session)
	config.APIPath = "/"
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &liveList{client: client, path: address.Path}, nil
}

func (l *liveList) names(ctx context.Context) ([]string, error) {
	body, err := l.client.Get().AbsPath(l.path).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	return namesOf(body)
}

// listWatch is that of docs/watch.md, "client-go".
func (l *liveList) listWatch() *cache.ListWatch {
	return &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.Watch = true
			return l.client.Get().AbsPath(l.path).VersionedParams(&options, scheme.ParameterCodec).Watch(ctx)
		},
	}
}
