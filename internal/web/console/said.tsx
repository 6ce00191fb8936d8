// This file has the one message of the console, which says what a change has done. It has the way back, if there is one.

import { useEffect, useState, useSyncExternalStore } from 'react';
import { useLocation } from './router';
import { Icon, isTyping } from './ui';

export interface Message {
  text: string;
  refused?: boolean; // It says whether something went wrong.
  undo?: () => Promise<Message>; // It takes the change back, and returns what that has done.
  stop?: () => void; // It stops what the message says is at work.
}

let message: Message | undefined;
const listeners = new Set<() => void>();

/** Shows a message in place of the last one. Without one, the last one goes away. */
export function say(next: Message | undefined) {
  message = next;
  for (const listener of listeners) listener();
}

/** Returns the message that is shown. */
export const said = () => message;

/** This region is always in the page, so that screen readers tell what appears in it. The message stays until the next one, or until the reader leaves the page. */
export function Said() {
  const now = useSyncExternalStore((listener) => { listeners.add(listener); return () => listeners.delete(listener); }, () => message);
  const { path, view } = useLocation(), [busy, setBusy] = useState(false);
  useEffect(() => () => say(undefined), [path, view]);
  const undo = async () => {
    if (!now?.undo || busy) return;
    setBusy(true);
    const next = await now.undo();
    setBusy(false);
    say(next);
    document.getElementById('said-close')?.focus();
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'z' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target) && !document.querySelector('dialog[open]')) void undo();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
  const close = () => { say(undefined); document.getElementById('main')?.focus({ preventScroll: true }); };
  return (
    <div role="status" aria-label="What was saved">
      {now && <div className={now.refused ? 'said bad' : 'said'}>
        <Icon name={now.refused ? 'warning' : 'done'} /><span>{now.text}</span>
        {now.undo && <button type="button" aria-keyshortcuts="z" aria-disabled={busy} onClick={() => void undo()}>{busy ? 'Working …' : 'Undo'}</button>}
        {now.stop && <button type="button" onClick={now.stop}>Stop</button>}
        <button type="button" id="said-close" className="icon-button" aria-label="Close the message" onClick={close}><Icon name="close" /></button>
      </div>}
    </div>
  );
}
