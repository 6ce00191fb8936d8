// Addresses are made of names: /console/acme/shop/checkout is a group or a repo, and /console/acme/shop/~repos a page of
// the group. No name has a tilde in it, so that none can be taken for a page.

import { createElement, useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from 'react';

const base = '/console';

export interface Location {
  key: string; // of the entry in the history of the browser
  names: string[]; // on the way from the organisation
  path: string; // the names, with slashes between them
  view: string; // the page of a group, '' for the overview
  search: URLSearchParams;
  returned: boolean; // whether the reader came by back or forward
}


const listeners = new Set<() => void>();
const scrolled = new Map<string, number>(); // by key
let current = read(false);

function read(returned: boolean): Location {
  if (!history.state?.key) history.replaceState({ key: makeKey() }, '');
  const parts = location.pathname.slice(base.length).split('/').filter(Boolean).map(decode);
  const view = parts.at(-1)?.startsWith('~') ? parts.pop()!.slice(1) : '';
  return { key: history.state.key, names: parts, path: parts.join('/'), view, search: new URLSearchParams(location.search), returned };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed a lone percent sign
  }
}

function makeKey() { return Math.random().toString(36).slice(2); }

function publish(returned: boolean) {
  current = read(returned);
  for (const listener of listeners) listener();
}

history.scrollRestoration = 'manual';
addEventListener('popstate', () => {
  publish(true);
});
// The place in a list is noted while the reader scrolls, because the browser has left the page when popstate comes.
addEventListener('scroll', () => scrolled.set(current.key, scrollY), { passive: true });

/** The page of a group that the address names. */
export const currentView = (): string => current.view;

/** Where a page was scrolled to when it was left. */
export const scrolledTo = (key: string): number => scrolled.get(key) ?? 0;

/** The address of a group or a repo, or of a page of a group. */
export function address(names: string[], view = '', search?: Record<string, string | undefined>): string {
  const path = [base, ...names.flatMap((name) => name.split('/')).map((name) => encodeURIComponent(name)), ...(view ? ['~' + view] : [])].join('/');
  const given = Object.entries(search ?? {}).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}

export function navigate(to: string, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState']({ key: replace ? current.key : makeKey() }, '', to);
  publish(false);
}

/** Changes parts of the search in the address; undefined removes one. */
export function narrow(change: Record<string, string | undefined>, { replace = false } = {}) {
  const search = new URLSearchParams(current.search);
  for (const [name, value] of Object.entries(change)) if (value) search.set(name, value); else search.delete(name);
  navigate(location.pathname + (search.size > 0 ? '?' + search : ''), { replace });
}

export function useLocation(): Location {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => current);
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

/** A link within the console. The browser follows it itself where the reader wants another tab. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return createElement('a', { ...rest, href: to, onClick: follow });
}
