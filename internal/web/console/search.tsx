import { useDeferredValue, useEffect, useState, type KeyboardEvent } from 'react';
import { useQuery } from 'urql';
import { problemsOf } from './client';
import { Search as SearchDocument, type SearchQuery } from './generated/graphql';
import { groupAddress, repoAddress } from './places';
import { navigate, useLocation } from './router';
import { Dialog, Icon, namesOf, type IconName } from './ui';

interface Hit { key: string; to: string; icon: IconName; kind: string; title: string; detail: string }

/** The search finds resources of all kinds. Control or Command with K opens it, arrows choose a hit, and Enter goes there. */
export function Search({ open, onClose }: { open: boolean; onClose: () => void }) {
  return <Dialog open={open} onClose={onClose} label="Search" className="search"><Finder onClose={onClose} /></Dialog>;
}

function Finder({ onClose }: { onClose: () => void }) {
  const { names } = useLocation();
  const [text, setText] = useState(''), [settled, setSettled] = useState(''), [chosen, setChosen] = useState(0), [entered, setEntered] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text.trim()), 160);
    return () => clearTimeout(timer);
  }, [text]);
  const [{ data, error, fetching }] = useQuery({ query: SearchDocument, variables: { query: settled, kinds: ['GROUP', 'REPO', 'TAG', 'IDENTITY'] } as never, pause: settled === '' });
  const answer = useDeferredValue(settled === '' ? undefined : data as SearchQuery | undefined);
  const hits = (answer?.search?.edges ?? []).map(({ node }) => hitOf(node)).filter((hit) => hit !== undefined);
  const [problem] = problemsOf(error);
  // Until the answer arrives, urql has that for the previous words.
  const waiting = settled !== text.trim() || fetching || answer !== (settled === '' ? undefined : data);
  useEffect(() => setChosen(0), [answer]);
  useEffect(() => { document.getElementById('hit-' + chosen)?.scrollIntoView({ block: 'nearest' }); }, [chosen]);

  const go = (hit?: Hit) => {
    if (!hit) return;
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
        <input autoFocus type="text" placeholder="Search groups, repos, tags and identities" value={text} onChange={(event) => { setText(event.target.value); setEntered(false); }} onKeyDown={press} maxLength={512}
          role="combobox" aria-expanded={hits.length > 0} aria-controls="hits" aria-activedescendant={hits.length > 0 ? 'hit-' + chosen : undefined} aria-label="Search" aria-autocomplete="list" autoComplete="off" spellCheck={false} />
        <kbd>Esc</kbd></div>
      <ul id="hits" role="listbox" aria-label="Search results" aria-busy={waiting}>
        {hits.map((hit, i) => (
          <li key={hit.key} id={'hit-' + i} role="option" aria-selected={i === chosen} onPointerMove={() => setChosen(i)} onClick={() => go(hit)}>
            <Icon name={hit.icon} /><span><b>{hit.title}</b><small>{hit.detail}</small></span><em>{hit.kind}</em>
          </li>
        ))}
      </ul>
      <p className="search-note" role="status">
        {problem ? problem.message : settled === '' && text.trim() === '' ? `Words of three or more letters also match inside longer words.${names.length > 1 ? ` The search covers everything, not only ${names.at(-1)}.` : ''}`
          : waiting && hits.length === 0 ? 'Searching …' : hits.length === 0 ? `Nothing that you may see contains “${settled}”.` : 'Use the arrow keys to choose and Enter to open.'}
      </p>
    </>
  );
}

function hitOf(node: NonNullable<SearchQuery['search']>['edges'][number]['node']): Hit | undefined {
  switch (node.__typename) {
    case 'Group': {
      const names = [...(node.ancestors ?? []).map(({ name }) => name), node.name];
      return { key: node.uid, to: groupAddress(names, node.uid), icon: 'group', kind: 'Group', title: node.name, detail: names.slice(0, -1).join(' / ') || node.description || 'Organisation' };
    }
    case 'Repo': return { key: node.uid, to: repoAddress(namesOf(node.group), node), icon: 'repos', kind: 'Repo', title: node.name, detail: [namesOf(node.group).join(' / '), node.description].filter(Boolean).join(' · ') };
    case 'Tag': return node.repo ? { key: node.uid, to: repoAddress(namesOf(node.repo.group), node.repo, { tag: node.name }), icon: 'tag', kind: 'Tag', title: `${node.repo.name}:${node.name}`, detail: namesOf(node.repo.group).join(' / ') } : undefined;
    case 'Identity': return { key: node.uid, to: node.group ? groupAddress(namesOf(node.group), node.group.uid, 'access', { identity: node.uid }) : '/console', icon: 'person', kind: 'Identity', title: node.name, detail: [namesOf(node.group).join(' / '), node.email ?? node.description].filter(Boolean).join(' · ') };
    default: return undefined;
  }
}
