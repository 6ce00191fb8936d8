// This file has the parts that pages consist of.

import { useEffect, useId, useRef, useState, type ReactNode, type RefObject } from 'react';
import type { QueryState } from './client';
import type { CountsFragment, SeverityRating, StandingFragment } from './generated/graphql';
import { address, hasMoved, Link } from './router';
import { count, formatRelativeTime, formatTime, plural, ratings, sentence } from './words';

const paths = {
  findings: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0zM10 6.500v4M10 13.300v.1', overview: 'M3 10.5 10 4l7 6.5M5 9v7.5h10V9', repos: 'M3.5 6.5 10 3l6.5 3.5v7L10 17l-6.5-3.5zM3.5 6.5 10 10l6.5-3.5M10 10v7',
  advisories: 'M10 2.8 16 5v5c0 4-2.7 6.2-6 7.3C6.7 16.2 4 14 4 10V5zM10 7v3.5M10 13.2v.1', activity: 'M2.5 10.5h3.2L8 5l4 10 2.2-4.5h3.3',
  search: 'M13.2 13.2 17 17M14.5 9a5.5 5.5 0 1 1-11 0 5.5 5.5 0 0 1 11 0z', copy: 'M7 7V3.8h9.2V13H13M3.8 7H13v9.2H3.8z', done: 'm4 10.5 4 4 8-9',
  close: 'm5 5 10 10M15 5 5 15', menu: 'M3 5.5h14M3 10h14M3 14.5h14', help: 'M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15ZM7.8 7.8c.2-1.4 1.1-2 2.3-2s2.2.8 2.2 2c0 1.7-2.2 1.8-2.3 3.5M10 13.8v.2', query: 'M7 4c-2 0-2 1-2 3s-1 3-2 3c1 0 2 1 2 3s0 3 2 3M13 4c2 0 2 1 2 3s1 3 2 3c-1 0-2 1-2 3s0 3-2 3',
  right: 'm8 5 5 5-5 5', group: 'M2.5 5.5h5l1.5 2h8.5v8h-15z', tag: 'M3 3.5h6.5L17 11l-6 6-7.5-7.5zM6.6 6.6v.1', person: 'M13 7a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM4 16.5c.7-3 3-4.5 6-4.5s5.3 1.5 6 4.5',
  people: 'M9.5 7a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM2.5 15.5c.4-2.6 2.2-4 4.5-4s4.1 1.4 4.5 4M12.5 4.7a2.5 2.5 0 0 1 0 4.6M14 11.8c1.8.5 3.1 1.8 3.5 3.7',
  out: 'M8 3.5H3.5v13H8M12 6.5 15.5 10 12 13.5M15 10H7.5', pause: 'M7 4.5v11M13 4.5v11', play: 'm6 4 10 6-10 6z', key: 'M11.500 7.500a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM10.500 10.500l6.500 6.500M14.500 14.500l2-2', warning: 'M10 3.5 17.500 16.500h-15zM10 8v4M10 14.300v.1',
  columns: 'M3.500 4h13v12h-13zM8 4v12M12.200 4v12',
  sort: 'M6 4v12M6 16l-2.500-2.500M6 16l2.500-2.500M14 16V4M14 4l-2.500 2.500M14 4l2.500 2.500', external: 'M8 4H4v12h12v-4M11 4h5v5M16 4l-7 7',
  role: 'M10 3l6 2.200v4.300c0 3.500-2.500 5.800-6 7-3.500-1.200-6-3.500-6-7V5.200zM7.300 10l2 2 3.500-4', package: 'M3.500 7h13v9.500h-13zM3.500 7l2-3.500h9l2 3.500M10 3.500V7M8 10h4', bookmark: 'M5.500 3.500h9v13L10 13l-4.500 3.500z', save: 'M10 3.500v9M6.500 9.500 10 13l3.500-3.500M4 16.500h12', up: 'M10 16V4M5 9l5-5 5 5', down: 'M10 4v12M5 11l5 5 5-5',
  plus: 'M10 4v12M4 10h12', edit: 'm4 16 .8-3.600L13 4.200l2.800 2.800L7.600 15.200zM11.200 6l2.800 2.800', bin: 'M4 6h12M8 6V4h4v2M5.500 6l.8 10.500h7.400L14.500 6M8.500 9v5M11.500 9v5', webhook: 'M10 7.500 7 13M10 7.500a2.500 2.500 0 1 1 2-.8M10 7.500l3.200 5.200M7 13H4.500M7 13a2.500 2.500 0 1 1-2.500-2M9 14h5a2.500 2.500 0 1 0-.8-1.300',
  settings: 'M3 6h7M14 6h3M3 14h3M10 14h7M14 6a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM10 14a2 2 0 1 1-4 0 2 2 0 0 1 4 0z',
  repeat: 'M15.500 8A6 6 0 0 0 4.300 8.500M4.500 12a6 6 0 0 0 11.200-.5M15.700 4.500V8h-3.500M4.300 15.500V12h3.500',
};
export type IconName = keyof typeof paths;

export const Icon = ({ name }: { name: IconName }) => (
  <svg className="icon" viewBox="0 0 20 20" aria-hidden="true"><path d={paths[name]} /></svg>
);

export const Mark = () => (
  <svg className="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" /><path d="M8 24V14a8 8 0 0 1 16 0v10M13 24v-9a3 3 0 0 1 6 0v9" /></svg>
);

export const Time = ({ at }: { at: string }) => <time dateTime={at} title={formatTime(at)}>{formatRelativeTime(at)}</time>;

/** A card is a section with a title. */
export function Card({ title, aside, children, className = '' }: { title: ReactNode; aside?: ReactNode; children: ReactNode; className?: string }) {
  const id = useId();
  return (
    <section className={'card ' + className} aria-labelledby={id}>
      <header><h2 id={id}>{title}</h2>{aside}</header>
      {children}
    </section>
  );
}

/** These gray lines are shown while something is loading, and are as high as that will be. */
export const Lines = ({ rows = 3, height = 20 }: { rows?: number; height?: number }) => (
  <div className="lines" role="status" aria-label="Loading">{Array.from({ length: rows }, (_, i) => <i key={i} style={{ height, width: `${92 - (i * 17) % 40}%` }} />)}</div>
);

/** This text says that there is nothing. If it is all that a page has, its title is the heading of the page. */
export const Empty = ({ title, whole, children }: { title: string; whole?: boolean; children?: ReactNode }) => (
  <div className="empty">{whole ? <h1>{title}</h1> : <strong>{title}</strong>}{children && <p>{children}</p>}</div>
);

const advice: Record<string, string> = {
  PERMISSION_DENIED: 'Your role does not allow this. An owner of the group can give you a role that does.',
  NOT_FOUND: 'It may have been renamed or deleted, or you have no access to it.',
  RESOURCE_EXHAUSTED: 'You reached a rate limit, or the server is busy. Wait a moment, then try again.',
  DEADLINE_EXCEEDED: 'The server took too long. Try again, or narrow what you ask for.',
};

export const adviceFor = (code: string): string | undefined => advice[code];

/** This part says what went wrong and what to do. It has a button for a request that may succeed the second time. */
export function Problems({ loaded: { problems, reload } }: { loaded: Pick<QueryState<unknown>, 'problems' | 'reload'> }) {
  if (problems.length === 0) return null;
  const [given] = problems, unreadable = given.code === 'INVALID_ARGUMENT' && given.violations.some(({ path }) => path.at(-1) === 'uid') || /^uid: must be a UID/.test(given.message);
  // The address names something by what can be no uid, so there is nothing.
  const first = unreadable ? { ...given, code: 'NOT_FOUND', message: 'There is nothing at this address.' } : given;
  return (
    <div className="problem" role="alert">
      <Icon name="warning" />
      <div><strong>{sentence(first.code || 'Something went wrong')}</strong><p>{first.message}</p>{advice[first.code] && <p>{advice[first.code]}</p>}
        {!['PERMISSION_DENIED', 'NOT_FOUND'].includes(first.code) && <button type="button" onClick={reload}>Try again</button>}</div>
    </div>
  );
}

/** Reports whether somebody types, so that a key is no command. */
export const isTyping = (target: EventTarget | null) => target instanceof HTMLElement && target.matches('input:not([type=checkbox], [type=radio]), textarea, select');

/** Moves the focus to the heading of the page if what had it is gone: otherwise the keyboard and screen readers would start from the top. */
export function keepFocus(heading?: HTMLElement | null) {
  queueMicrotask(() => {
    if (document.activeElement && document.activeElement !== document.body) return;
    const to = heading ?? document.querySelector<HTMLElement>('#main h1');
    to?.setAttribute('tabindex', '-1');
    to?.focus({ preventScroll: true });
  });
}

/** Moves the focus to a heading when its part opens in place of what had the focus. */
export const useKeptFocus = (heading?: RefObject<HTMLElement | null>) => useEffect(() => { if (hasMoved()) keepFocus(heading?.current); }, []);

/** This text replaces a part that the reader may not see. */
export const NotShown = ({ what }: { what: string }) => <p className="dim note">Your role does not let you see {what}.</p>;

/** Copies a text. Browsers have the clipboard of navigator only where the page came by https, so there is an older way. */
async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = Object.assign(document.createElement('textarea'), { value: text, className: 'sr' });
    button.after(area); // In an open dialog, nothing outside it can be selected.
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    button.focus();
    return done;
  }
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button type="button" className="icon-button" title={copied ? 'Copied' : label} aria-label={copied ? 'Copied' : label} onClick={({ currentTarget }) => void copyText(text, currentTarget).then(setCopied)}>
      <Icon name={copied ? 'done' : 'copy'} />
    </button>
  );
}

type Key = Exclude<keyof CountsFragment, '__typename' | 'total' | 'fixable' | 'knownExploited' | ' $fragmentName'>;
const keys = ratings.map((rating) => rating.toLowerCase()) as Key[];
const inWords = (counts: CountsFragment) => keys.filter((key) => counts[key] > 0).map((key) => `${count(counts[key])} ${key}`).join(', ') || 'none';

/** Open findings, and how many of the images that count have an SBOM. */
export type Standing = Pick<StandingFragment, 'open' | 'images' | 'knownImages'>;

/** Says how many images have an SBOM, unless all have one. */
export const knownOf = ({ images, knownImages }: Standing): string => (knownImages < images ? `${count(knownImages)} of ${plural(images, 'image')} with an SBOM` : '');

/** This bar shows open findings by severity, in proportion. In a table, the bars of all rows have the same scale. What is not known is never shown as clean. */
export function SeverityBar({ of, most, size = '' }: { of: Standing | null | undefined; most?: number; size?: string }) {
  if (!of) return <span className="dim">–</span>;
  const { open: counts, images, knownImages } = of, known = knownOf(of);
  if (counts.total === 0 && images === 0) return <span className="dim">no images</span>;
  if (counts.total === 0 && knownImages === 0) return <span className="dim" title="Findings are unknown, because no image has an SBOM.">no SBOM</span>;
  if (counts.total === 0) return <span className={known ? 'severity-bar' : 'severity-bar clean'} title={known ? `No open findings (${known})` : 'No open findings'}>{known ? <small>{count(knownImages)} of {count(images)} with SBOM</small> : <span className="track" />}<b>0</b></span>;
  const words = inWords(counts) + (known && `; ${known}`);
  return (
    <span className={'severity-bar ' + size} title={`Open: ${words}`} role="img" aria-label={`${plural(counts.total, 'open finding')}: ${words}`}>
      <span className="track"><span className="fill" style={{ width: `${most ? (counts.total / most) * 100 : 100}%` }}>{keys.map((key) => counts[key] > 0 && <i key={key} className={key} style={{ flexGrow: counts[key] }} />)}</span></span>
      <b>{count(counts.total)}</b>
    </span>
  );
}

export const Severity = ({ rating, score }: { rating: SeverityRating; score?: number | null }) => (
  <span className={'severity ' + rating.toLowerCase()}><i />{sentence(rating)}{score != null && <b>{score.toFixed(1)}</b>}</span>
);

/** The way shows the names of the groups that lead to a resource. Each name is a link. */
export const Way = ({ names }: { names: string[] }) => (
  <span className="way">{names.map((name, i) => <span key={i}>{i > 0 && <span className="slash">/</span>}<Link to={address(names.slice(0, i + 1))}>{name}</Link></span>)}</span>
);

/**
 * The browser makes this dialog modal: it keeps the focus, and Escape closes it. onLeave is called first. If it returns false, the
 * dialog stays open.
 */
export function Dialog({ open, onClose, onLeave = () => true, label, className = '', children }: { open: boolean; onClose: () => void; onLeave?: () => boolean; label: string; className?: string; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal(); else dialog.current?.close();
  }, [open]);
  // Browsers close a dialog at the second Escape in a row, whatever the page says. Such a dialog opens again.
  const closed = () => { if (open && !onLeave()) dialog.current?.showModal(); else onClose(); };
  return (
    <dialog ref={dialog} className={className} aria-label={label} onClose={closed} onCancel={(event) => { if (!onLeave()) event.preventDefault(); }} onClick={(event) => { if (event.target === dialog.current && onLeave()) onClose(); }}>
      {open && children}
    </dialog>
  );
}

interface NamedGroup { name: string; ancestors: { name: string }[] | null }
/** Returns the names on the way to a group, including its own. */
export const namesOf = (group: NamedGroup | null | undefined): string[] => (group ? [...(group.ancestors ?? []).map(({ name }) => name), group.name] : []);
