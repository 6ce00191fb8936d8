import { useDeferredValue, useEffect, useState, type KeyboardEvent } from 'react';
import { useQuery } from 'urql';
import { problemsOf } from './client';
import { Search as SearchDocument, type SearchQuery } from './generated/graphql';
import { groupAddress, repoAddress } from './places';
import { navigate, useLocation } from './router';
import { Dialog, Icon, namesOf, SeverityBar, type IconName, type Standing } from './ui';
import { recentHits } from './session';
import { fold, sentence } from './words';

export interface Hit { key: string; to: string; icon: IconName; kind: string; title: string; detail: string; open?: Standing }

/** The search finds resources of all kinds, and pages. Control or Command with K opens it, arrows choose a hit, and Enter goes there. */
export function Search({ open, onClose, pages }: { open: boolean; onClose: () => void; pages: Hit[] }) {
  return <Dialog open={open} onClose={onClose} label="Search" className="search"><Finder onClose={onClose} pages={pages} /></Dialog>;
}

const mostRecent = 6, mostPages = 6;

/** Returns what the reader has opened from the search before, in this browser. */
function readRecent(): Hit[] {
  try {
    return JSON.parse(localStorage.getItem(recentHits) ?? '[]') as Hit[];
  } catch {
    return []; // Somebody else has written there.
  }
}

function keepRecent({ open: _, ...hit }: Hit) {
  localStorage.setItem(recentHits, JSON.stringify([hit, ...readRecent().filter(({ to }) => to !== hit.to)].slice(0, mostRecent)));
}

function Finder({ onClose, pages }: { onClose: () => void; pages: Hit[] }) {
  const { names } = useLocation();
  const [text, setText] = useState(''), [settled, setSettled] = useState(''), [chosen, setChosen] = useState(0), [entered, setEntered] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text.trim()), 160);
    return () => clearTimeout(timer);
  }, [text]);
  const [{ data, error, fetching }] = useQuery({ query: SearchDocument, variables: { query: settled, kinds: ['GROUP', 'REPO', 'TAG', 'IDENTITY', 'ROLE'] } as never, pause: settled === '' });
  const answer = useDeferredValue(settled === '' ? undefined : data as SearchQuery | undefined);
  const words = fold(text).split(/\s+/).filter(Boolean), [recent] = useState(readRecent);
  const found = answer ? [...(answer.search?.edges ?? []).map(({ node }) => hitOf(node, pages)).filter((hit) => hit !== undefined), ...findingHits(answer.findings?.nodes ?? []), ...advisoryHits(answer.advisories?.nodes ?? []), ...packageHits(answer.packages?.nodes ?? [])] : [];
  const fitting = words.length === 0 ? [] : pages.filter(({ title, detail }) => words.every((word) => fold(`${title} ${detail}`).includes(word))).slice(0, mostPages);
  // The hits of a kind are together, and the kind with the best hit comes first.
  const groups = [...Map.groupBy(words.length === 0 ? [...recent.map((hit) => ({ ...hit, group: 'Recently opened' })), ...pages.slice(0, mostPages).map((hit) => ({ ...hit, group: 'Pages' }))] : [...found, ...fitting].map((hit) => ({ ...hit, group: titles[hit.kind] ?? hit.kind })), ({ group }) => group)];
  const hits = groups.flatMap(([, same]) => same);
  // Who may not see findings, packages or advisories finds everything else.
  const problem = problemsOf(error).find(({ path }) => !['findings', 'packages', 'advisories'].includes(path.split('.')[0]) && !path.includes('findingSummary'));
  // Until the answer arrives, urql has that for the previous words.
  const waiting = settled !== text.trim() || fetching || answer !== (settled === '' ? undefined : data);
  useEffect(() => setChosen(0), [answer]);
  useEffect(() => { document.getElementById('hit-' + chosen)?.scrollIntoView({ block: 'nearest' }); }, [chosen]);

  const go = (hit?: Hit) => {
    if (!hit) return;
    keepRecent(hit);
    onClose();
    navigate(hit.to);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChosen((old) => (hits.length ? (old + step + hits.length) % hits.length : 0));
    else if (event.key === 'Enter' && !waiting) go(hits[chosen]);
    else if (event.key === 'Enter') { setEntered(true); setChosen(0); }
    else return;
    event.preventDefault();
  };
  // Enter waits for the answer, so that it never leads to a hit for the previous words.
  useEffect(() => {
    if (!entered || waiting) return;
    setEntered(false);
    go(hits[chosen]);
  }, [entered, waiting]);
  return (
    <>
      <div className="search-line"><Icon name="search" />
        <input autoFocus type="text" placeholder="Search repos, tags, packages, advisories, identities, pages" value={text} onChange={(event) => { setText(event.target.value); setEntered(false); }} onKeyDown={press} maxLength={512}
          role="combobox" aria-expanded={hits.length > 0} aria-controls="hits" aria-activedescendant={hits.length > 0 ? 'hit-' + chosen : undefined} aria-label="Search" aria-autocomplete="list" autoComplete="off" spellCheck={false} />
        <kbd>Esc</kbd></div>
      <div id="hits" role="listbox" aria-label="Search results" aria-busy={waiting}>{groups.map(([group, same]) => (
        <ul key={group} role="group" aria-label={group}>
          <li role="presentation" className="group-title" aria-hidden="true">{group}</li>
          {same.map((hit) => {
            const i = hits.indexOf(hit);
            return (
              <li key={hit.key} id={'hit-' + i} role="option" aria-selected={i === chosen} onPointerMove={() => setChosen(i)} onClick={() => go(hit)}>
                <Icon name={hit.icon} /><span><b>{hit.title}</b><small>{hit.detail}</small></span>{hit.open && hit.open.open.total > 0 && <SeverityBar of={hit.open} size="small" />}{group === 'Recently opened' && <em>{hit.kind}</em>}
              </li>
            );
          })}
        </ul>
      ))}</div>
      <p className="search-note" role="status">
        {problem ? problem.message : settled === '' && text.trim() === '' ? `Words of three or more letters also match inside longer words. Press ? for keyboard shortcuts.${names.length > 1 ? ` The search covers everything, not only ${names.at(-1)}.` : ''}`
          : waiting && hits.length === 0 ? 'Searching …' : hits.length === 0 ? `Nothing that you may see contains “${settled}”.` : 'Use the arrow keys to choose and Enter to open.'}
      </p>
    </>
  );
}

const titles: Record<string, string> = { Group: 'Groups', Repo: 'Repos', Tag: 'Tags', Identity: 'Identities', Role: 'Roles', Finding: 'Findings', Advisory: 'Advisories', Package: 'Packages', Page: 'Pages' };

function hitOf(node: NonNullable<SearchQuery['search']>['edges'][number]['node'], pages: Hit[]): Hit | undefined {
  switch (node.__typename) {
    case 'Group': {
      const names = [...(node.ancestors ?? []).map(({ name }) => name), node.name];
      return { key: node.uid, to: groupAddress(names, node.uid), icon: 'group', kind: 'Group', title: node.name, detail: names.slice(0, -1).join(' / ') || node.description || 'Organization', open: node.findingSummary ?? undefined };
    }
    case 'Repo': return { key: node.uid, to: repoAddress(namesOf(node.group), node), icon: 'repos', kind: 'Repo', title: node.name, detail: [namesOf(node.group).join(' / '), node.description].filter(Boolean).join(' · '), open: node.findingSummary ?? undefined };
    case 'Tag': return node.repo ? { key: node.uid, to: repoAddress(namesOf(node.repo.group), node.repo, { tag: node.name }), icon: 'tag', kind: 'Tag', title: `${node.repo.name}:${node.name}`, detail: namesOf(node.repo.group).join(' / '), open: node.findingSummary ?? undefined } : undefined;
    case 'Identity': return { key: node.uid, to: node.group ? groupAddress(namesOf(node.group), node.group.uid, 'access', { identity: node.uid }) : '/console', icon: 'person', kind: 'Identity', title: node.name, detail: [namesOf(node.group).join(' / '), node.email ?? node.description].filter(Boolean).join(' · ') };
    case 'Role': {
      // The roles that are built in belong to no group: each group shows them.
      const to = node.group ? groupAddress(namesOf(node.group), node.group.uid, 'roles', { role: node.uid }) : pages.find(({ key }) => key === 'roles')?.to;
      return to ? { key: node.uid, to: node.group ? to : `${to}${to.includes('?') ? '&' : '?'}role=${node.uid}`, icon: 'key', kind: 'Role', title: node.name, detail: [node.group ? namesOf(node.group).join(' / ') : 'built in', node.description].filter(Boolean).join(' · ') } : undefined;
    }
    default: return undefined;
  }
}

/** Returns a hit for each vulnerability: it has an advisory for each package of each ecosystem. */
function advisoryHits(found: NonNullable<SearchQuery['advisories']>['nodes']): Hit[] {
  const same = [...Map.groupBy(found.filter(({ group }) => group), ({ advisoryId }) => advisoryId).values()];
  return same.map(([one, ...more]) => ({
    key: one.uid, icon: 'advisories', kind: 'Advisory', title: one.advisoryId, detail: `${sentence(one.severity.rating)} · ${one.artifactName}${more.length > 0 ? ' and others' : ''}`,
    to: groupAddress(namesOf(one.group), one.group!.uid, 'advisories', { id: one.advisoryId }),
  }));
}

const packageHits = (found: NonNullable<SearchQuery['packages']>['nodes']): Hit[] => found.flatMap((one) => (one.group ? [{
  key: one.uid, icon: 'package' as const, kind: 'Package', title: one.name, detail: one.ecosystem ?? 'Unknown ecosystem', to: groupAddress([one.group.name], one.group.uid, 'packages', { name: one.name, ecosystem: one.ecosystem ?? undefined }),
}] : []));

/** Returns a hit for each advisory and package, which leads to all findings of them in the organization. */
function findingHits(found: NonNullable<SearchQuery['findings']>['nodes']): Hit[] {
  const hits = new Map<string, Hit & { repos: string[] }>();
  for (const { vulnerabilityId, package: name, severity, repo } of found) {
    if (!repo?.group) continue;
    const key = [namesOf(repo.group)[0], vulnerabilityId, name].join(' '), hit = hits.get(key);
    const repos = [...new Set([...hit?.repos ?? [], repo.name])];
    const [org] = [...(repo.group.ancestors ?? []), repo.group];
    hits.set(key, { key, repos, icon: 'findings', kind: 'Finding', title: `${vulnerabilityId} in ${name}`, detail: `${sentence(severity.rating)} · ${repos.join(', ')}`, to: groupAddress([org.name], org.uid, 'findings', { q: `${vulnerabilityId} ${name}` }) });
  }
  return [...hits.values()];
}
