// Reads a JSON array of pods and writes, for each, what the scheduler counts with the features that are on by default: the limits
// and requests of cpu and of memory, as k8s.io/component-helpers has them.
package main

import (
	"encoding/json"
	"log"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

func main() {
	var pods []v1.Pod
	if err := json.NewDecoder(os.Stdin).Decode(&pods); err != nil {
		log.Fatal(err)
	}
	options := resource.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}
	rows := make([][4]string, 0, len(pods))
	for at := range pods {
		limits := resource.PodLimits(&pods[at], options)
		requests := resource.PodRequests(&pods[at], options)
		rows = append(rows, [4]string{
			limits.Cpu().String(), requests.Cpu().String(),
			limits.Memory().String(), requests.Memory().String(),
		})
	}
	if err := json.NewEncoder(os.Stdout).Encode(rows); err != nil {
		log.Fatal(err)
	}
}
