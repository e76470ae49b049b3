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

# docs/browser-sign-in.md, "JupyterHub"
c.JupyterHub.authenticator_class = "generic-oauth"
c.Authenticator.auto_login = True
c.GenericOAuthenticator.client_id = told["clientId"]
c.GenericOAuthenticator.client_secret = told["clientSecret"]
c.GenericOAuthenticator.oauth_callback_url = told["url"] + "/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = told["issuer"] + "/authorize"
c.GenericOAuthenticator.token_url = told["issuer"] + "/token"
c.GenericOAuthenticator.userdata_url = told["issuer"] + "/userinfo"
c.GenericOAuthenticator.scope = ["openid", "profile", "email", "groups"]
c.GenericOAuthenticator.username_claim = "sub"
c.GenericOAuthenticator.enable_auth_state = True
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.allowed_groups = {"team-a"}
c.GenericOAuthenticator.admin_groups = {"admins"}
