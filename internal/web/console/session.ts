// This file knows who is signed in. The token is only in memory: after a reload, the console asks the provider again, which still
// knows the reader. The session storage has only what a sign-in in progress needs, and whether this tab was signed in.

import { useSyncExternalStore } from 'react';
import { navigate } from './router';
import type { Tokens, Visit } from './oauth';
import { settings, type SignInProvider } from './settings';

/** Loads what speaks with providers, which a reader who brings a token does not need. */
const loadProtocol = () => import('./oauth');

const redirectPath = '/console/~signed-in/';
/**
 * Returns where a provider sends readers back: its issuer without the scheme and the last slash is part of the address. With one address for
 * all, a provider could have a code of another come as its own, and would get it with the verifier (RFC 9700, section 4.4).
 */
const redirectURI = ({ issuer }: SignInProvider) => new URL(redirectPath + issuer.replace(/^https?:\/\//, '').replace(/\/$/, ''), location.origin).href;
/** This is where the browser keeps what the reader has opened from the search. It is gone when they sign out. */
export const recentHits = 'atrium.console.recent';
const actingAs = 'atrium.console.role';
const underWay = 'atrium.console.sign-in', signedIn = 'atrium.console.signed-in';

export interface Session {
  state: 'starting' | 'in' | 'out';
  token: string;
  person: number; // It changes when somebody signs in or out, but not when a token is renewed.
  message: string; // It says why the reader is not signed in.
  expired: boolean; // It says whether the session has expired while a form is open, so that the reader must sign in again.
}

interface SignInUnderWay extends Visit { issuer: string; back: string }

let session: Session = { state: 'starting', token: '', person: 0, message: '', expired: false };
let provider: SignInProvider | undefined; // The reader has signed in here, or is about to.
let refreshToken = '', idToken = '', expires = Infinity, failures = 0, renewal: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const channel = new BroadcastChannel('atrium.console');
/** This is what a tab tells the others: whose session has ended, or the token of somebody who has signed in again. */
interface News { ended?: string; renewed?: string; expires?: number }

/** Follows what happens in other tabs, if it concerns the person who is signed in here. */
channel.onmessage = ({ data }: MessageEvent<News>) => {
  if (session.state !== 'in') return;
  if (data.ended === subjectOf(session.token)) leave('You signed out in another tab, or your session ended there.');
  if (data.renewed && session.expired && subjectOf(data.renewed) === subjectOf(session.token)) {
    expires = data.expires ?? Infinity;
    become({ ...session, token: data.renewed, expired: false });
  }
};

function become(next: Session) {
  session = next;
  for (const listener of listeners) listener();
}

export function useSession(): Session {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => session);
}

/** Returns the current token of a person, or nothing if this person is no longer signed in. */
export const tokenOf = (person: number) => (session.person === person ? session.token : '');

/** Returns whom the session is about. */
export const subject = () => subjectOf(session.token);

/** Returns the claims of the token with which the reader is signed in. */
export const claims = () => claimsOf(session.token);

/** Returns a token without what surrounds it in a header. */
export const bareToken = (text: string) => text.trim().replace(/^Bearer\s+/i, '');
export const looksLikeToken = (text: string) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(bareToken(text));

/** Signs in with a token that the reader entered, or that the server or the provider gave. */
export function enter(token: string) {
  become({ state: 'in', token: token.trim(), person: session.person + 1, message: '', expired: false });
}

/** Returns the role of the demonstration in which the reader acts. */
export const chosenRole = (): string => sessionStorage.getItem(actingAs) ?? 'owner';

/** Acts in another role of the demonstration, also after a reload of this tab. */
export function enterAs(role: string) {
  sessionStorage.setItem(actingAs, role);
  enter(settings.roles![role]);
}

function leave(message: string) {
  clearTimeout(renewal);
  provider = undefined;
  refreshToken = idToken = '';
  expires = Infinity;
  failures = 0;
  sessionStorage.removeItem(signedIn);
  sessionStorage.removeItem(actingAs);
  localStorage.removeItem(recentHits);
  stayOut(message);
}

/** Shows the page for signing in. If this tab was signed in, a reload asks the provider again. */
function stayOut(message: string) {
  become({ state: 'out', token: '', person: session.person + 1, message, expired: false });
}

/** Signs the reader out in this tab and in all other tabs in which the same person is signed in. */
export function signOut(message = '') {
  if (session.state === 'out') return;
  const ended = subjectOf(session.token);
  leave(message);
  channel.postMessage({ ended } satisfies News);
}

/**
 * Signs the reader out as they asked for, also at the provider if it has a page for that. Otherwise the next person at this machine
 * could sign in again without a password.
 */
export async function signOutEverywhere() {
  const at = provider, hint = idToken;
  forgetInvite(); // It may be for somebody else than the next person here.
  signOut();
  if (!at || !hint) return; // The reader brought a token.
  const to = await (await loadProtocol()).signOutAddress(at, hint, location.origin + '/console');
  if (to) location.assign(to);
}

/**
 * Handles a token that the server no longer accepts. An expired token is renewed: with a refresh token, or with a visit to the
 * provider that asks the reader nothing. If the provider does not answer, a later request tries this again. A form that is open would
 * be lost with such a visit, and with the page for signing in, so these wait until the form closes or the reader has signed in again.
 * For any other reason, the reader is signed out in all tabs.
 */
export async function refuseToken(token: string) {
  if (token !== session.token) return; // In this case the answer belongs to an older token.
  const expired = Date.now() >= expires || (lifeOf(token) ?? 1) <= 0;
  if (expired && refreshToken) await renew();
  else if (expired && isFormOpen()) become({ ...session, expired: true });
  else if (expired && provider) await signIn(provider, true).catch(() => undefined);
  else signOut(ended);
}

const ended = 'Your session has ended, or the server does not accept your token. Sign in again.';

/** Replaces an expired token, while a form is open. A token of somebody else begins a session of theirs, and the form is lost. */
export function replaceToken(token: string) {
  if (subjectOf(token) !== subjectOf(session.token)) { signOut(); enter(token); return; }
  expires = Infinity;
  become({ ...session, token: token.trim(), expired: false });
  channel.postMessage({ renewed: session.token } satisfies News);
}

const isFormOpen = () => document.querySelector('dialog[open] form') !== null;
const leaveIfNoForm = () => {
  if (!session.expired || isFormOpen()) return;
  if (provider) void signIn(provider, true).catch(() => undefined); else signOut(ended);
};
// The event does not bubble, so it is captured. A form with changes opens its dialog again, so the visit waits for that.
document.addEventListener('close', () => setTimeout(leaveIfNoForm), true);

const invited = 'atrium.console.invite';
/** Returns the code of the invite by whose link the reader came, or ''. It outlives the visit to the provider. */
export const invitation = (): string => sessionStorage.getItem(invited) ?? '';
export const forgetInvite = () => sessionStorage.removeItem(invited);
/** Returns the link of an invite. Browsers send no server what follows the #, so no log has the code. */
export const linkOfInvite = (code: string) => `${location.origin}/console#invite=${encodeURIComponent(code)}`;

function keepInvite() {
  const code = new URLSearchParams(location.hash.slice(1)).get('invite');
  if (!code) return;
  sessionStorage.setItem(invited, code);
  history.replaceState(history.state, '', location.pathname + location.search);
}
// In a page that is open already, only the part after the # changes.
addEventListener('hashchange', () => { if (/^#(invite|demonstration)=/.test(location.hash)) location.reload(); });

/**
 * Follows the link that a demonstration prints when it starts, and says whether that was its end. The server takes the code once, and
 * gives the browser a cookie with which its pages contain tokens. A browser on the machine of the server has them anyway.
 */
async function followLink(): Promise<boolean> {
  const code = new URLSearchParams(location.hash.slice(1)).get('demonstration');
  if (!code) return false;
  history.replaceState(history.state, '', location.pathname + location.search);
  if (settings.token) return false;
  const response = await fetch('/console/~demonstration', { method: 'POST', body: code }).catch(() => undefined);
  if (response?.ok) location.reload();
  else stayOut('This link was already used, or the server has restarted since. The server prints a new link each time it starts.');
  return true;
}

/** Finds out who is signed in. It runs when the page opens. */
export async function start() {
  keepInvite();
  if (await followLink()) return;
  if (location.pathname.startsWith(redirectPath)) {
    const kept = JSON.parse(sessionStorage.getItem(underWay) ?? 'null') as SignInUnderWay | null;
    sessionStorage.removeItem(underWay);
    try {
      await finishSignIn(kept);
    } catch (problem) {
      navigate(kept?.back ?? '/console', { replace: true }); // The next sign-in leads there.
      leave(`Sign-in failed: ${(problem as Error).message}`);
    }
    return;
  }
  if (settings.token) enter(settings.roles?.[chosenRole()] ?? settings.token);
  else if (select(sessionStorage.getItem(signedIn))) await signIn(provider!, true).catch((problem: Error) => stayOut(problem.message));
  else leave('');
}

/** Makes the provider with this issuer the one of the reader, if the operator still has it. */
const select = (issuer: string | null | undefined) => (provider = settings.providers.find((one) => one.issuer === issuer));

/** Goes to a provider. With silently, the provider asks nothing, and comes back at once if it does not know the reader. */
export async function signIn(at: SignInProvider, silently = false) {
  if (!isSecureContext) throw new Error('You can sign in only over https. Open this page with an https address.');
  const { to, visit } = await (await loadProtocol()).begin(at, redirectURI(at), silently);
  sessionStorage.setItem(underWay, JSON.stringify({ ...visit, issuer: at.issuer, back: location.pathname + location.search } satisfies SignInUnderWay));
  // If the reader did not ask for it, the visit gets no entry in the history: back would lead to it again and again.
  if (silently) location.replace(to); else location.assign(to);
}

async function finishSignIn(kept: SignInUnderWay | null) {
  const answer = new URLSearchParams(location.search || location.hash.slice(1)), protocol = await loadProtocol();
  if (!kept || !select(kept.issuer) || answer.get('state') !== kept.state) throw new Error('it was not started in this tab; sign in again');
  if (location.origin + location.pathname !== redirectURI(provider!)) throw new Error(protocol.otherAnswered);
  const tokens = await protocol.finish(provider!, redirectURI(provider!), kept, answer);
  if (tokens) {
    checkAudience(tokens.access_token);
    enter(keepTokens(tokens));
    sessionStorage.setItem(signedIn, kept.issuer);
    channel.postMessage({ renewed: session.token, expires } satisfies News); // Another tab of this person may wait for it.
  } else leave('');
  navigate(kept.back, { replace: true });
}

/** Keeps what the next renewal needs, and returns the access token. An answer without a refresh token leaves the old one valid. */
function keepTokens({ access_token, refresh_token, id_token, expires_in = lifeOf(access_token) }: Tokens): string {
  refreshToken = refresh_token ?? refreshToken;
  idToken = id_token ?? idToken;
  expires = expires_in ? Date.now() + expires_in * 1000 : Infinity;
  failures = 0;
  // The token is renewed a minute before it expires.
  if (refreshToken && expires_in) renewLater(Math.max(expires_in - 60, 5) * 1000);
  return access_token;
}

/** Fails if the provider gave a token that is not for this server, since the server could only say that it does not accept it. */
function checkAudience(token: string) {
  const { clientId } = provider!, accepted = settings.audience ?? [], { iss, aud } = claimsOf(token);
  const advice = `the operator must name this server in the request (--console-parameter audience=${accepted[0]} or resource=${accepted[0]}, or a scope of it in --console-scope); the guide says which for each provider`;
  if (iss === undefined) throw new Error(`the provider gave a token that only the provider can read; ${advice}`);
  const given = [aud].flat().map(String);
  // An organization can accept tokens for the client (its identity provider names it), so the server decides about these.
  if (!given.some((one) => one === clientId || accepted.includes(one))) throw new Error(`the provider gave a token for ${given.join(', ')}, but this server accepts only tokens for ${accepted.join(', ')}; ${advice}`);
}

/** Returns the claims of a token, or none if it is not a JWT. */
function claimsOf(token: string): { iss?: unknown; sub?: unknown; exp?: unknown; aud?: unknown } {
  try {
    return JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}

/** Returns how many seconds a token is still valid, because providers need not say it in their answer. */
function lifeOf(token: string): number | undefined {
  const { exp } = claimsOf(token);
  return typeof exp === 'number' ? exp - Date.now() / 1000 : undefined;
}

/** Returns whom a token is about. A token that does not say it is only about itself. */
function subjectOf(token: string): string {
  const { iss, sub } = claimsOf(token);
  return sub === undefined ? token : JSON.stringify([iss, sub]);
}

function renewLater(wait: number) {
  clearTimeout(renewal);
  renewal = setTimeout(() => void renew(), wait);
}

let renewing: Promise<void> | undefined;
const renew = () => (renewing ??= tryRenewal().finally(() => { renewing = undefined; }));

/** Asks the provider for a new token. Only if the provider refuses, the reader is signed out. After any other failure, it asks again. */
async function tryRenewal() {
  const { person } = session;
  try {
    const tokens = await (await loadProtocol()).refresh(provider!, refreshToken);
    if (session.person !== person) return; // The reader has signed out in the meantime.
    if (tokens) become({ ...session, token: keepTokens(tokens) });
    else signOut('Your session has ended. Sign in again.');
  } catch {
    if (session.person === person) renewLater(Math.min(1000 * 2 ** failures++, 30_000));
  }
}
