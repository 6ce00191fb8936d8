// Addresses consist of names: /console/acme/shop/checkout is a group or a repo, and /console/acme/shop/~repos is a page of the
// group. Names contain no tilde, so that no name can be taken for a page.

import { createElement, useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from 'react';

const base = '/console';

export interface Location {
  key: string; // This is the key of the entry in the history of the browser.
  names: string[]; // These are the names on the way from the organization.
  path: string; // The path has the names with slashes between them.
  view: string; // This is the page of a group, or '' for the overview.
  search: URLSearchParams;
  returned: boolean; // It says whether the reader came with the back or forward button.
}


const listeners = new Set<() => void>();
const scrolled = new Map<string, number>(); // The map has the scroll position by the key of the entry in the history.
let step = 0; // This is the place of the page in the history of the tab.
let current = read(false), moved = false;

function read(returned: boolean): Location {
  if (!history.state?.key) history.replaceState({ key: makeKey(), step }, '');
  step = history.state.step ?? step;
  const parts = location.pathname.slice(base.length).split('/').filter(Boolean).map(decode);
  const view = parts.at(-1)?.startsWith('~') ? parts.pop()!.slice(1) : '';
  return { key: history.state.key, names: parts, path: parts.join('/'), view, search: new URLSearchParams(location.search), returned };
}

// Browsers take the parts . and .. for steps, so these names have an equals sign, which no name contains.
const encode = (name: string) => encodeURIComponent(name).replace(/^\.{1,2}$/, '=$&');

function decode(part: string): string {
  try {
    return decodeURIComponent(part).replace(/^=(?=\.{1,2}$)/, '');
  } catch {
    return part; // In this case somebody typed a percent sign without a code.
  }
}

function makeKey() { return Math.random().toString(36).slice(2); }

function publish(returned: boolean) {
  moved = true;
  current = read(returned);
  for (const listener of listeners) listener();
}

history.scrollRestoration = 'manual';
let asks: ((go: () => void) => boolean) | undefined, returning = false;

/** Before the reader leaves with the back or forward button, a function says whether they may. Otherwise they stay, and it can let them go later. Returns what ends that. */
export function askBefore(mayLeave: (go: () => void) => boolean): () => void {
  asks = mayLeave;
  return () => { if (asks === mayLeave) asks = undefined; };
}

addEventListener('popstate', () => {
  if (returning) { returning = false; return; } // The reader is where they were.
  const steps = (history.state?.step ?? step) - step;
  if (steps === 0 || !asks || asks(() => history.go(steps))) { publish(true); return; }
  returning = true;
  history.go(-steps);
});
// The scroll position is stored while the reader scrolls, because the browser has already left the page when popstate arrives.
addEventListener('scroll', () => scrolled.set(current.key, scrollY), { passive: true });

/** Says whether the reader has gone somewhere since the browser loaded the page. */
export const hasMoved = (): boolean => moved;

/** Returns the page of a group that the address names. */
export const currentView = (): string => current.view;

/** Returns the scroll position of a page when the reader left it. */
export const scrolledTo = (key: string): number => scrolled.get(key) ?? 0;

/** Returns the address of a group or a repo, or of a page of a group. */
export function address(names: string[], view = '', search?: Record<string, string | undefined>): string {
  const path = [base, ...names.flatMap((name) => name.split('/')).map(encode), ...(view ? ['~' + view] : [])].join('/');
  const given = Object.entries(search ?? {}).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}

export function navigate(to: string, { replace = false } = {}) {
  history[replace ? 'replaceState' : 'pushState']({ key: replace ? current.key : makeKey(), step: replace ? step : step + 1 }, '', to);
  publish(false);
}

/** Changes parameters of the search in the address. The value undefined removes a parameter. */
export function narrow(change: Record<string, string | undefined>, { replace = false } = {}) {
  const search = new URLSearchParams(current.search);
  for (const [name, value] of Object.entries(change)) if (value) search.set(name, value); else search.delete(name);
  navigate(location.pathname + (search.size > 0 ? '?' + search : ''), { replace });
}

export function useLocation(): Location {
  return useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => current);
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string };

/** This link leads to a page of the console. The browser follows it itself if the reader wants another tab or window. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return createElement('a', { ...rest, href: to, onClick: follow });
}
