// This file has what surrounds every page: the current place, the navigation, the search, and the queries that made the page.

import { lazy, Suspense, useEffect, useLayoutEffect, useMemo, useRef, useState, type ComponentType } from 'react';
import { useData, type QueryState } from './client';
import { Shell as ShellDocument, type ShellQuery } from './generated/graphql';
import type { KnownPlace } from './known';
import { groupAddress, pageAddress, usePlace } from './places';
import { address, currentView, Link, navigate, scrolledTo, useLocation } from './router';
import { Search, type Hit } from './search';
import { invitation, signOutEverywhere } from './session';
import { prefer, usePreferences } from './preferences';
import { settings } from './settings';
import { SettingsDialog } from './settings-dialog';
import { ShowQuery } from './show-query';
import { Tree } from './tree';
import { Dialog, Empty, Icon, isTyping, Lines, Mark, Time, type IconName } from './ui';

/** Returns a page whose script is loaded when the page is first shown, or earlier by `load`. After a failure, it is loaded again when the reader comes back. */
function pageOf<P extends object>(load: () => Promise<ComponentType<P>>) {
  const Missing = () => {
    useEffect(() => () => { Loaded = newPage(); }, []); // The reader leaves.
    return <MissingPage />;
  };
  const newPage = () => lazy(() => load().then((page) => ({ default: page }), () => ({ default: Missing as ComponentType<P> })));
  let Loaded: ComponentType<P> = newPage();
  return { load, page: (properties: P) => <Loaded {...properties} /> };
}

/** This page replaces one whose script is gone: a server that was updated has other scripts than those that an open tab knows. */
const MissingPage = () => <Empty whole title="This page could not be loaded">The server was updated, or it does not respond. <button type="button" onClick={() => location.reload()}>Reload</button></Empty>;

const pages = [
  { view: '', letter: 'o', name: 'Overview', icon: 'overview', ...pageOf(() => import('./pages/overview').then(({ Overview }) => Overview)) },
  { view: 'repos', letter: 'r', name: 'Repos', icon: 'repos', ...pageOf(() => import('./pages/repos').then(({ Repos }) => Repos)) },
  { view: 'findings', letter: 'f', name: 'Findings', icon: 'findings', ...pageOf(() => import('./pages/findings').then(({ Findings }) => Findings)) },
  { view: 'packages', letter: 'p', name: 'Packages', icon: 'package', ...pageOf(() => import('./pages/packages').then(({ Packages }) => Packages)) },
  { view: 'advisories', letter: 'a', name: 'Advisories', icon: 'advisories', ...pageOf(() => import('./pages/advisories').then(({ Advisories }) => Advisories)) },
  { view: 'identities', letter: 'i', name: 'Identities', icon: 'person', ...pageOf(() => import('./pages/identities').then(({ Identities }) => Identities)) },
  { view: 'access', letter: 'c', name: 'Access', icon: 'key', ...pageOf(() => import('./pages/access').then(({ Access }) => Access)) },
  { view: 'roles', letter: 's', name: 'Roles', icon: 'role', ...pageOf(() => import('./pages/roles').then(({ Roles }) => Roles)) },
  { view: 'activity', letter: 'l', name: 'Activity', icon: 'activity', ...pageOf(() => import('./pages/activity').then(({ Activity }) => Activity)) },
  { view: 'webhooks', letter: 'w', name: 'Webhooks', icon: 'webhook', ...pageOf(() => import('./pages/webhooks').then(({ Webhooks }) => Webhooks)) },
  { view: 'sources', letter: 'u', name: 'Sources', icon: 'repeat', ...pageOf(() => import('./pages/sources').then(({ Sources }) => Sources)) },
] satisfies { view: string; letter: string; name: string; icon: IconName; page: ComponentType<{ uid: string; names: string[] }>; load: () => Promise<unknown> }[];
const repo = pageOf(() => import('./pages/repo').then(({ Repo }) => Repo));
const invited = pageOf(() => import('./invited').then(({ Invited }) => Invited));
const start = pageOf(() => import('./pages/start').then(({ Start }) => Start));

// The script of the page loads while the first query runs.
pages.find(({ view }) => view === currentView())?.load().catch(() => undefined);

export function Shell() {
  const route = useLocation();
  const org = route.names[0] ?? '';
  // One request gets what the console needs once for each organization, and what the first address there leads to.
  const first = useMemo(() => ({ org, inOrg: org !== '', path: route.path || 'none', below: route.names.length > 1 }), [org]);
  const shell = useData(ShellDocument, first, { fresh: false, keep: true });
  const { place, loading, problem, reload } = usePlace(route, shell, first.path);
  const [searching, setSearching] = useState(false), [menu, setMenu] = useState(false), [keys, setKeys] = useState(false), [setting, setSetting] = useState(false);
  const [byInvite] = useState(() => invitation() !== '');
  const { side } = usePreferences(); // Every page formats again when they change.
  const scope = place?.groupNames ?? (org ? [org] : []), scopeNow = useRef(scope);
  scopeNow.current = scope;

  const [root] = shell.data?.groups?.nodes ?? [];
  const onlyRoot = route.path === '' && shell.data?.groups?.nodes.length === 1 ? root : undefined;
  useEffect(() => { if (onlyRoot) navigate(groupAddress([onlyRoot.name], onlyRoot.uid), { replace: true }); }, [onlyRoot]);

  useEffect(() => {
    let going = 0; // This is when the reader pressed g, after which a letter names a page.
    const press = (event: KeyboardEvent) => {
      const typing = isTyping(event.target), plain = !typing && !event.metaKey && !event.ctrlKey && !event.altKey;
      // A hit would replace the page, with the dialog that the page shows: with what was typed, or a secret that is shown only once.
      const covered = document.querySelector('dialog[open]') !== null, page = plain && event.timeStamp - going < 1500 ? pages.find(({ letter }) => letter === event.key) : undefined;
      const search = ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') || (event.key === '/' && !typing);
      if (search || plain && !covered && (event.key === '?' || page)) event.preventDefault();
      if (covered) return;
      going = plain && event.key === 'g' ? event.timeStamp : 0;
      if (search) setSearching(true);
      else if (plain && event.key === '?') setKeys(true);
      else if (page && scopeNow.current.length > 0) navigate(pageAddress(scopeNow.current, page.view));
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  useEffect(() => setMenu(false), [route.key]);

  const title = place?.kind === 'repo' ? '' : pages.find(({ view }) => view === route.view)?.name ?? '';
  useEffect(() => { document.title = [route.names.at(-1), title, 'Atrium console'].filter(Boolean).join(' – '); }, [route.path, title]);
  useScroll(route.key, route.returned);
  useFocusOnMain(route.path + route.view);

  return (
    <div className={menu ? 'shell open' : 'shell'}>
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to content</a>
      <header className="top">
        <button type="button" className="icon-button menu" aria-label={menu ? 'Close the menu' : 'Open the menu'} aria-expanded={menu} onClick={() => setMenu(!menu)}><Icon name={menu ? 'close' : 'menu'} /></button>
        <button type="button" className="icon-button fold" aria-label={side ? 'Unfold the side bar' : 'Fold the side bar'} title={side ? 'Unfold the side bar' : 'Fold the side bar'} aria-expanded={!side} onClick={() => prefer({ side: side ? '' : 'folded' })}><Icon name="menu" /></button>
        <Link className="home" to="/console" aria-label="All organizations"><Mark /></Link>
        <Breadcrumbs names={route.names} />
        <button type="button" className="search-button" onClick={() => setSearching(true)} aria-keyshortcuts="Control+K Meta+K"><Icon name="search" /><span>Search</span><kbd>{/Mac|iPhone/.test(navigator.platform) ? '⌘' : 'Ctrl'} K</kbd></button>
        <ShowQuery />
      </header>
      <Side shell={shell} place={place} view={route.view} org={org} onSettings={() => setSetting(true)} />
      <div className="veil" onClick={() => setMenu(false)} />
      <main id="main" tabIndex={-1}>
        <Suspense fallback={<PageLines />}>{route.path === '' ? <StartPage shell={shell} redirected={Boolean(onlyRoot)} />
          : problem ? <Empty whole title="The server did not answer">{problem} <button type="button" onClick={reload}>Try again</button></Empty>
          : loading || shell.loading && !place ? <PageLines />
          : !place ? <Empty whole title="Page not found">There is no group or repo “{route.path}”, or you have no access to it. <Link to="/console">Go to your groups</Link></Empty>
          : <Page place={place} view={route.view} names={route.names} feeds={shell.data?.feeds?.nodes} />}</Suspense>
      </main>
      <Search open={searching} onClose={() => setSearching(false)} pages={scope.length > 0 ? pageHits(scope) : []} />
      {byInvite && <Suspense><invited.page /></Suspense>}
      <SettingsDialog open={setting} onClose={() => setSetting(false)} />
      <Keys open={keys} onClose={() => setKeys(false)} />
    </div>
  );
}

/** Returns the pages of a group, and what can be done there, as hits of the search. */
function pageHits(names: string[]): Hit[] {
  const detail = names.join(' / '), doings: [string, string, string][] = [
    ['findings', '?show=fixable', 'Fixable findings'], ['findings', '?exploited=yes', 'Findings known to be exploited'], ['findings', '?since=7&sort=newest', 'New findings this week'], ['repos', '?sort=worst', 'Repos with the worst findings'],
    ['activity', '?show=log', 'Audit log: who changed what'], ['identities', '?show=invites', 'Invite people'], ['access', '', 'Give somebody a role'], ['webhooks', '', 'Add a webhook'], ['repos', '', 'Create a repo'],
  ];
  const at = (view: string, search = '') => { const to = pageAddress(names, view); return search && to.includes('?') ? `${to}&${search.slice(1)}` : to + search; };
  return [
    ...pages.map(({ view, name, icon }): Hit => ({ key: view || 'overview', to: at(view), icon, kind: 'Page', title: name, detail })),
    ...doings.map(([view, search, title]): Hit => ({ key: view + search + title, to: at(view, search), icon: pages.find((one) => one.view === view)!.icon, kind: 'Page', title, detail })),
  ];
}

/** This dialog lists the keyboard shortcuts. */
function Keys({ open, onClose }: { open: boolean; onClose: () => void }) {
  const rows: [string[], string][] = [[['Ctrl', 'K'], 'Search'], [['/'], 'Search'], [['?'], 'Keyboard shortcuts'], [['Esc'], 'Close a dialog'], [['j'], 'Next row'], [['k'], 'Previous row'], [['x'], 'Choose the row'], [['Shift', 'x'], 'Choose all rows up to this one'], [['e'], 'Decide about the chosen rows, or this row'], [['z'], 'Undo the last change'], ...pages.map(({ letter, name }): [string[], string] => [['g', letter], name])];
  return (
    <Dialog open={open} onClose={onClose} label="Keyboard shortcuts" className="form">
      <div><header><h2>Keyboard shortcuts</h2><button type="button" className="icon-button" aria-label="Close" onClick={onClose}><Icon name="close" /></button></header>
        <dl className="fields keys" tabIndex={0}>{rows.map(([keys, does]) => <div key={keys.join()}><dt>{keys.map((key, i) => <span key={key}>{i > 0 && (keys[0] === 'g' ? ' then ' : ' ')}<kbd>{key}</kbd></span>)}</dt><dd>{does}</dd></div>)}</dl></div>
    </Dialog>
  );
}

function StartPage({ shell, redirected }: { shell: QueryState<ShellQuery>; redirected: boolean }) {
  return shell.loading || redirected ? <PageLines /> : <start.page roots={shell.data?.groups?.nodes ?? []} />;
}

const PageLines = () => <div className="page"><Lines rows={1} height={30} /><Lines rows={6} height={22} /></div>;

type Feed = NonNullable<ShellQuery['feeds']>['nodes'][number];

function Page({ place, view, names, feeds }: { place: KnownPlace; view: string; names: string[]; feeds?: Feed[] }) {
  if (place.kind === 'repo') return view ? <Empty whole title="Page not found">A repo has only one page. <Link to={address(names)}>Open it</Link></Empty> : <><repo.page key={place.uid} uid={place.uid} names={names} groupNames={place.groupNames} /><FeedAges feeds={feeds} names={place.groupNames} /></>;
  const found = pages.find((one) => one.view === view);
  if (!found) return <Empty whole title="Page not found">A group has no page “{view}”. <Link to={address(names)}>Go to its overview</Link></Empty>;
  return (
    <>
      {!view && place.twin && <p className="twin">This is the group {names.at(-1)}. There is also <Link to={address(names, '', { kind: 'repo' })}>a repo with this name</Link>.</p>}
      <found.page key={place.uid + view} uid={place.uid} names={names} />
      {viewsOfFeeds.includes(view) && <FeedAges feeds={feeds} names={names} />}
    </>
  );
}

const viewsOfFeeds = ['', 'repos', 'findings', 'packages', 'advisories'];

/** This line says how old the feeds are from which the page knows what it shows. */
function FeedAges({ feeds, names }: { feeds?: Feed[]; names: string[] }) {
  if (!feeds) return null;
  const ages = feeds.map(({ uid, name, lastSuccessTime, failingSince }, i) => <span key={uid} className={failingSince ? 'fault' : undefined}>{i > 0 && ', '}{name} {lastSuccessTime ? <Time at={lastSuccessTime} /> : 'never'}{failingSince && <> (failing since <Time at={failingSince} />)</>}</span>);
  return <p className="feed-ages"><Link to={pageAddress(names, 'sources')}>Feeds</Link>{feeds.length > 0 ? <>, last read: {ages}</> : ': the server reads none, so this data is as old as the last import'}</p>;
}

function Breadcrumbs({ names }: { names: string[] }) {
  return (
    <nav className="breadcrumbs" aria-label="Where you are"><ol>
      {names.length === 0 && <li><strong>Console</strong></li>}
      {names.map((name, i) => <li key={i}><Link to={pageAddress(names.slice(0, i + 1))} aria-current={i === names.length - 1 ? 'location' : undefined}>{name}</Link></li>)}
    </ol></nav>
  );
}

interface SideProps { shell: QueryState<ShellQuery>; place?: KnownPlace; view: string; org: string; onSettings: () => void }

function Side({ shell, place, view, org, onSettings }: SideProps) {
  const scope = place?.groupNames ?? (org ? [org] : []);
  const [viewer] = shell.data?.viewer?.identities ?? [];
  const roots = shell.data?.groups?.nodes ?? [];
  return (
    <div className="side">
      {roots.length > 1 && (
        <label className="switch"><span className="sr">Organization</span>
          <select value={org} onChange={(event) => navigate(event.target.value ? address([event.target.value]) : '/console')}>
            <option value="">All organizations</option>{roots.map(({ uid, name }) => <option key={uid} value={name}>{name}</option>)}
          </select>
        </label>
      )}
      {scope.length > 0 && (
        <nav aria-label="Pages">
          <p className="side-title" title={scope.join('/')}>{scope.at(-1)}</p>
          <ul className="pages">{pages.map((one) => (
            <li key={one.view}><Link to={pageAddress(scope, one.view)} aria-current={place?.kind === 'group' ? (view === one.view ? 'page' : undefined) : one.view === 'repos' ? 'true' : undefined}><Icon name={one.icon} />{one.name}</Link></li>
          ))}</ul>
        </nav>
      )}
      {shell.own && shell.data?.org && <Tree key={shell.data.org.uid} org={shell.data.org} names={scope} view={view} />}
      <footer>
        {shell.data && <p className="viewer"><Icon name="person" /><span title={viewer?.email ?? undefined}>{viewer?.name ?? 'No identity'}</span>
          <button type="button" className="icon-button" onClick={onSettings} title="Settings" aria-label="Settings"><Icon name="settings" /></button>
          <button type="button" className="icon-button" onClick={() => void signOutEverywhere().catch(() => undefined)} title="Sign out" aria-label="Sign out"><Icon name="out" /></button></p>}
        <p className="elsewhere">{settings.playground && <a href="/playground">Playground</a>}<a href="/guide">Guide</a><a href="/docs">REST reference</a></p>
      </footer>
    </div>
  );
}

/** Scrolls a page to the position where the reader left it, as soon as the page is high enough. A new page starts at the top. */
function useScroll(key: string, returned: boolean) {
  const [path] = useState({ last: location.pathname });
  useLayoutEffect(() => {
    const same = path.last === location.pathname;
    path.last = location.pathname;
    if (!returned) {
      if (!same) scrollTo(0, 0);
      return;
    }
    const to = scrolledTo(key), end = performance.now() + 1500;
    let frame = 0;
    const settle = () => {
      scrollTo(0, to);
      if (Math.abs(scrollY - to) > 1 && performance.now() < end) frame = requestAnimationFrame(settle);
    };
    settle();
    return () => cancelAnimationFrame(frame);
  }, [key]);
}

/** Moves the focus to a page that was opened, so that the keyboard and screen readers continue there. */
function useFocusOnMain(page: string) {
  const last = useRef(page);
  useEffect(() => {
    if (last.current === page) return;
    last.current = page;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [page]);
}
