import jwt
from oauthlib.oauth2 import LegacyApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

from steps import CLIENT_ID, CLIENT_SECRET, ISSUER, NODES, PASSWORD, USERNAME, names_of, take_steps

session = OAuth2Session(
    client=LegacyApplicationClient(client_id=CLIENT_ID),
    auto_refresh_url=ISSUER + "/token",
    auto_refresh_kwargs={"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET},
    token_updater=lambda token: None,
)
keys = jwt.PyJWKClient(ISSUER + "/keys")


def sign_in():
    session.fetch_token(ISSUER + "/token", username=USERNAME, password=PASSWORD, auth=HTTPBasicAuth(CLIENT_ID, CLIENT_SECRET))
    return {"token": session.token["access_token"]}


def verify(token):
    key = keys.get_signing_key_from_jwt(token)
    claims = jwt.decode(token, key, algorithms=["RS256"], issuer=ISSUER, audience=ISSUER)
    return {"subject": claims["sub"]}


def list_nodes():
    answer = session.get(NODES)
    return {"nodes": names_of(answer), "token": session.token["access_token"]}


take_steps({"sign-in": sign_in, "verify": verify, "list": list_nodes, "refresh": list_nodes})
