// Enforces the NetworkPolicies of a cluster on the node where it runs, by iptables and ipset: kube-router's network policy controller
// without its router, its proxy and its BGP. On SIGTERM it removes its rules.
//
//	network-policy-controller KUBECONFIG NODE SERVICE_NETWORK
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: network-policy-controller KUBECONFIG NODE SERVICE_NETWORK")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config := options.NewKubeRouterConfig()
	config.EnableIPv4 = true
	config.HostnameOverride = os.Args[2]
	config.ClusterIPCIDRs = []string{os.Args[3]}
	if err := enforce(ctx, os.Args[1], config); err != nil {
		log.Fatal(err)
	}
}

func enforce(ctx context.Context, kubeconfig string, config *options.KubeRouterConfig) error {
	access, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	tables, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return err
	}
	controller, err := netpol.NewNetworkPolicyController(
		client, config, pods, policies, namespaces, &sync.Mutex{}, tables, sets)
	if err != nil {
		return err
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods:       controller.PodEventHandler,
		namespaces: controller.NamespaceEventHandler,
		policies:   controller.NetworkPolicyEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	run(ctx, controller)
	controller.Cleanup()
	return nil
}

// Returns when the context is done. Nobody asks for the controller's heartbeats, but it would wait until they are read.
func run(ctx context.Context, controller *netpol.NetworkPolicyController) {
	heartbeats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range heartbeats {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	controller.Run(heartbeats, ctx.Done(), &running)
	running.Wait()
	close(heartbeats)
}
