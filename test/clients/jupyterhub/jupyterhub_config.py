"""A hub alone: nobody starts a notebook, so there is no proxy to lead to one. The test says the rest in the variable HUB."""

import json
import os

from jupyterhub.proxy import Proxy

told = json.loads(os.environ["HUB"])


class NoProxy(Proxy):
    """Forgets every route."""

    should_start = False

    async def add_route(self, routespec, target, data):
        pass

    async def delete_route(self, routespec):
        pass

    async def get_all_routes(self):
        return {}


c = get_config()  # noqa: F821
c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.hub_bind_url = told["url"]
c.JupyterHub.bind_url = told["url"]
c.JupyterHub.redirect_to_server = False
c.JupyterHub.db_url = "sqlite:///:memory:"
c.JupyterHub.cookie_secret_file = os.path.join(told["folder"], "cookie-secret")
c.JupyterHub.cleanup_servers = False
# A test does not wait for five minutes until the hub asks whether the session goes on.
c.Authenticator.auth_refresh_age = 1

# What the test asks the hub about its users.
c.JupyterHub.services = [{"name": "test", "api_token": told["apiToken"]}]
c.JupyterHub.load_roles = [
    {"name": "test", "services": ["test"], "scopes": ["admin:users", "admin:auth_state", "read:groups"]}
]

exec(told["settings"])  # the block of docs/browser-sign-in.md
