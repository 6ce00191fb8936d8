// This file speaks with identity providers. It is loaded when somebody signs in at one.

import * as oauth from 'oauth4webapi';
import type { SignInProvider } from './settings';

/** A sign-in that has begun. The browser keeps it while the reader is at the provider. */
export interface Visit { verifier: string; state: string }
/** What a provider gave. The lifetime of the access token is in seconds. */
export type Tokens = Pick<oauth.TokenEndpointResponse, 'access_token' | 'id_token' | 'refresh_token' | 'expires_in'>;

/** The clock of a reader may be wrong, so it decides about no time: the server that gets the token does. These are ten years, in seconds. */
const clockTolerance = 10 * 365 * 86_400;
const clientOf = ({ clientId }: SignInProvider): oauth.Client => ({ client_id: clientId, [oauth.clockTolerance]: clockTolerance });
/** Returns the options of requests. Only an operator who names an issuer with http:// gets requests without TLS. */
const optionsOf = ({ issuer }: SignInProvider) => ({ [oauth.allowInsecureRequests]: issuer.startsWith('http://') });

const discovered = new Map<string, Promise<oauth.AuthorizationServer>>();
function discover(at: SignInProvider): Promise<oauth.AuthorizationServer> {
  const { issuer } = at;
  const known = discovered.get(issuer) ?? (async () => {
    let says: unknown = issuer;
    try {
      const found = await oauth.processDiscoveryResponse(new URL(issuer), await oauth.discoveryRequest(new URL(issuer), optionsOf(at)));
      if (found.issuer === issuer) return found; // The library takes one that differs in the last slash.
      says = found.issuer;
    } catch (problem) {
      const { body } = ((problem as Error).cause ?? {}) as { body?: { issuer?: unknown } };
      if (body) says = body.issuer;
    }
    discovered.delete(issuer);
    throw new Error(says === issuer ? `${issuer} does not answer: it must serve /.well-known/openid-configuration to this page`
      : `${issuer} identifies itself as ${says}: the operator must configure exactly this issuer`);
  })();
  discovered.set(issuer, known);
  return known;
}

/** Reports whether the provider sends an ID token in the address of the page, in place of a code. */
const givesIDToken = ({ parameters }: SignInProvider) => parameters?.response_type === 'id_token';

/** Begins a sign-in, and returns the address at the provider. With silently, the provider asks nothing, and comes back at once if it does not know the reader. */
export async function begin(at: SignInProvider, redirectURI: string, silently: boolean): Promise<{ to: URL; visit: Visit }> {
  const { authorization_endpoint } = await discover(at);
  const visit = { verifier: oauth.generateRandomCodeVerifier(), state: oauth.generateRandomState() };
  const to = new URL(authorization_endpoint!); // It may have parameters of its own.
  for (const [name, value] of Object.entries({
    response_type: 'code', ...at.parameters, client_id: at.clientId, redirect_uri: redirectURI, scope: at.scope, state: visit.state,
    ...(givesIDToken(at) ? { nonce: visit.verifier } : { code_challenge: await oauth.calculatePKCECodeChallenge(visit.verifier), code_challenge_method: 'S256' }),
    ...(silently && { prompt: 'none' }),
  })) to.searchParams.set(name, value);
  return { to, visit };
}

export const otherAnswered = 'another provider has answered, not the one that you chose; sign in again';

/** Ends a sign-in with the answer of the provider. Returns nothing if the provider must ask the reader something, but was told not to. */
export async function finish(at: SignInProvider, redirectURI: string, visit: Visit, answer: URLSearchParams): Promise<Tokens | undefined> {
  const from = await discover(at), idToken = answer.get('id_token') ?? '';
  answer.delete('id_token'); // The library refuses such an answer. The nonce proves that the token belongs to this sign-in.
  let checked: URLSearchParams;
  try {
    // Google, which alone gives ID tokens, says that it names itself, and does so in the token.
    checked = oauth.validateAuthResponse(givesIDToken(at) ? { ...from, authorization_response_iss_parameter_supported: false } : from, clientOf(at), answer, visit.state);
  } catch (problem) {
    if (!(problem instanceof oauth.AuthorizationResponseError)) throw new Error(otherAnswered);
    if (problem.error.endsWith('_required')) return undefined;
    throw new Error(problem.error_description ?? problem.error);
  }
  if (givesIDToken(at)) {
    const given = Response.json({ access_token: idToken, id_token: idToken, token_type: 'id_token' });
    return oauth.processAuthorizationCodeResponse(from, clientOf(at), given, { expectedNonce: visit.verifier, requireIdToken: true, recognizedTokenTypes: { id_token: () => {} } })
      .catch(() => { throw new Error('the ID token does not belong to this sign-in; sign in again'); });
  }
  const response = await oauth.authorizationCodeGrantRequest(from, clientOf(at), oauth.None(), checked, redirectURI, visit.verifier, grantOptions(at));
  return oauth.processAuthorizationCodeResponse(from, clientOf(at), response).catch(explain);
}

/** Asks for new tokens. Returns nothing if the provider refuses, so that it would refuse again. */
export async function refresh(at: SignInProvider, refreshToken: string): Promise<Tokens | undefined> {
  const from = await discover(at);
  const response = await oauth.refreshTokenGrantRequest(from, clientOf(at), oauth.None(), refreshToken, grantOptions(at));
  return oauth.processRefreshTokenResponse(from, clientOf(at), response).catch((problem: Error) => {
    if (problem instanceof oauth.WWWAuthenticateChallengeError || (problem instanceof oauth.ResponseBodyError && [400, 401].includes(problem.status))) return undefined;
    throw problem;
  });
}

/** Names the API for which the token is, because a token of a provider with several APIs is otherwise for none (RFC 8707). */
function grantOptions(at: SignInProvider) {
  const { resource } = at.parameters ?? {};
  return { ...optionsOf(at), ...(resource && { additionalParameters: { resource } }) };
}

/** Fails with the words of the provider where it gave some. */
function explain(problem: Error): never {
  throw problem instanceof oauth.ResponseBodyError ? new Error(problem.error_description ?? problem.error) : problem;
}

/** Returns the page at which a reader signs out of the provider, or nothing if it has none. */
export async function signOutAddress(at: SignInProvider, idToken: string, back: string): Promise<URL | undefined> {
  const { end_session_endpoint } = await discover(at);
  if (!end_session_endpoint) return undefined;
  const to = new URL(end_session_endpoint);
  for (const [name, value] of Object.entries({ client_id: at.clientId, id_token_hint: idToken, post_logout_redirect_uri: back })) to.searchParams.set(name, value);
  return to;
}
