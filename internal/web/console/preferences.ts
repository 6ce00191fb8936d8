// This file knows how the reader wants the console to look. The browser keeps it for all who use it: it tells nothing about anybody.

import { useSyncExternalStore } from 'react';

export interface Preferences {
  theme: '' | 'light' | 'dark'; // '' is the theme of the system.
  zone: '' | 'UTC'; // '' is the time zone of the system.
  density: '' | 'compact';
  side: '' | 'folded'; // On a phone, the side bar is a menu in any case.
  language: string; // It is the language of dates and numbers; '' is English, as all texts are.
}

const key = 'atrium.console.preferences';
const none: Preferences = { theme: '', zone: '', density: '', side: '', language: '' };
const listeners = new Set<() => void>();
let preferences = read();

function read(): Preferences {
  try {
    const kept = { ...none, ...JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Preferences> };
    Intl.getCanonicalLocales(kept.language || 'en');
    return kept;
  } catch {
    return none; // Somebody else has written there.
  }
}

function apply() {
  const { dataset } = document.documentElement;
  dataset.theme = preferences.theme;
  dataset.density = preferences.density;
  dataset.side = preferences.side;
  for (const listener of listeners) listener();
}

export const currentPreferences = (): Preferences => preferences;
export const usePreferences = () => useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => preferences);

export function prefer(change: Partial<Preferences>) {
  preferences = { ...preferences, ...change };
  localStorage.setItem(key, JSON.stringify(preferences));
  apply();
}

// Another tab has changed them.
addEventListener('storage', (event) => { if (event.key === key) { preferences = read(); apply(); } });
apply();
