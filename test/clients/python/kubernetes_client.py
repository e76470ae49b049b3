import time

import urllib3
from kubernetes import client, config, watch

from steps import KUBECONFIG, saw, take_steps

config.load_kube_config(KUBECONFIG)
api = client.CoreV1Api()


def list_nodes():
    names = [node.metadata.name for node in api.list_node().items]
    bearer = api.api_client.configuration.get_api_key_with_prefix("BearerToken")
    return {"nodes": names, "token": bearer.removeprefix("Bearer ")}


def watch_nodes():
    nodes = watch.Watch()
    while True:
        try:
            for event in nodes.stream(api.list_node, resource_version=nodes.resource_version):
                saw(event["type"], event["object"].metadata.name)
        except (urllib3.exceptions.HTTPError, client.ApiException):
            time.sleep(1)


take_steps({"sign-in": list_nodes, "list": list_nodes, "watch": watch_nodes, "refresh": list_nodes})
