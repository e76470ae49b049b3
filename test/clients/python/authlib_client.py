import requests
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet

from steps import CLIENT_ID, CLIENT_SECRET, ISSUER, NODES, PASSWORD, USERNAME, names_of, take_steps

session = OAuth2Session(CLIENT_ID, CLIENT_SECRET, token_endpoint=ISSUER + "/token")
keys = KeySet.import_key_set(requests.get(ISSUER + "/keys").json())
expected = {"essential": True, "value": ISSUER}
claims_registry = jwt.JWTClaimsRegistry(iss=expected, aud=expected, exp={"essential": True})


def sign_in():
    session.fetch_token(username=USERNAME, password=PASSWORD)
    return {"token": session.token["access_token"]}


def verify(token):
    decoded = jwt.decode(token, keys, algorithms=["RS256"])
    claims_registry.validate(decoded.claims)
    return {"subject": decoded.claims["sub"]}


def list_nodes():
    answer = session.get(NODES)
    return {"nodes": names_of(answer), "token": session.token["access_token"]}


take_steps({"sign-in": sign_in, "verify": verify, "list": list_nodes, "refresh": list_nodes})
