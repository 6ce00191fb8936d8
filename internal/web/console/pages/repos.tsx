import { usePages } from '../client';
import { Repos as ReposDocument, type CatalogTier, type ReposQuery, type ReposQueryVariables } from '../generated/graphql';
import { Find, joinValues, List, ListProblems, Toggles, useNarrow, valuesOf } from '../list';
import { repoAddress } from '../places';
import { NewRepo } from '../repo-forms';
import { Link, narrow, useLocation } from '../router';
import { SortBy, SortSelect, useSorting } from '../sorting';
import { Empty, Lines, namesOf, Problems, SeverityBar, Time } from '../ui';
import { Views } from '../views';
import { count, plural, tierName } from '../words';

type Connection = NonNullable<NonNullable<ReposQuery['group']>['repos']>;
const tiers = ['APPLICATION', 'BASE', 'FIPS', 'AI', 'DEVTOOLS', 'COMMERCIAL'];
const sorts = { name: { field: 'NAME', direction: 'ASC' }, updated: { field: 'UPDATE_TIME', direction: 'DESC' }, created: { field: 'CREATE_TIME', direction: 'DESC' }, worst: { field: 'OPEN_SEVERITY', direction: 'DESC' } } as const;

/** This page shows all repos below a group, with one request for each page of the list. */
export function Repos({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation();
  const query = search.get('q') ?? '', chosen = valuesOf(search, 'tier').filter((tier): tier is CatalogTier => tiers.includes(tier)), bundles = valuesOf(search, 'bundle');
  const sorting = useSorting(sorts);
  const variables: ReposQueryVariables = {
    uid, first: 50, start: true, orderBy: sorting.orderBy,
    where: { ...(query && { query }), ...(chosen.length > 0 && { tiers: chosen }), ...(bundles.length > 0 && { bundles }) },
  };
  const list = usePages<ReposQuery, Connection['nodes'][number], ReposQueryVariables>(ReposDocument, variables, (data) => data.group?.repos, { start: false });
  const { rows, first, loading, started } = list, repos = first?.group?.repos, total = repos?.totalCount;
  const most = Math.max(...rows.map(({ findingSummary }) => findingSummary?.open.total ?? 0), 1);
  const filtered = query !== '' || chosen.length + bundles.length > 0, height = useNarrow() ? 84 : 58;
  const shownTiers = (repos?.facets?.tier ?? []).filter(({ value }) => value !== null), shownBundles = (repos?.facets?.bundle ?? []).slice(0, 8);
  const tiered = rows.some(({ catalogTier }) => catalogTier !== null), columns = tiered ? 'repo-columns' : 'repo-columns no-tier';
  return (
    <div className="page">
      <div className="title"><h1>Repos</h1><div className="actions">{first?.group && <NewRepo uid={uid} names={names} held={{ capabilities: first.group.viewerCapabilities, on: names.at(-1)! }} />}</div></div>
      <p className="lead">Everything below {names.join(' / ')}</p>
      <div className="filters">
        <Find value={query} label="Find by name, description or alias" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <SortSelect sorting={sorting} names={{ name: 'By name', updated: 'Last changed first', created: 'Newest first', worst: 'Worst findings first' }} />
        <Views page="repos" />
        <span className="total" role="status">{total != null && !loading ? plural(total, 'repo') : ' '}</span>
      </div>
      {(shownTiers.length > 1 || chosen.length > 0 || shownBundles.length > 0 || bundles.length > 0) && <div className="filters tight">
        <Toggles label="Tiers" chosen={chosen} onChange={(next) => narrow({ tier: joinValues(next) })} options={withChosen(shownTiers.map(({ value, count: n }) => ({ value: value!, name: tierName(value), count: count(n) })), chosen, tierName)} />
        <Toggles label="Bundles" chosen={bundles} onChange={(next) => narrow({ bundle: joinValues(next) })} options={withChosen(shownBundles.map(({ value, count: n }) => ({ value, name: value, count: count(n) })), bundles, (name) => name)} />
      </div>}
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="table"><div className="pad"><Lines rows={10} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table">{filtered ? <Empty title="No repo matches">No repo below {names.at(-1)} matches all filters. <button type="button" className="link-button" onClick={() => narrow({ q: undefined, tier: undefined, bundle: undefined })}>Show all repos</button></Empty>
          : <Empty title="No repos yet">A repo contains the tags of an image. Create one above, or import your repos: see <a href="/guide/importing">importing</a>.</Empty>}</div>
        : <List label="Repos" rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore}
            head={<div className={`head ${columns}`}><span><SortBy by="name" label="Name" sorting={sorting} /></span>{tiered && <span className="tier">Tier</span>}<span className="number">Tags</span><span className="when"><SortBy by="updated" label="Last changed" sorting={sorting} /></span><span><SortBy by="worst" label="Open findings" sorting={sorting} /></span></div>}
            render={(repo) => (
              <Link className={`cells ${columns}`} to={repoAddress(namesOf(repo.group), repo)}>
                <span className="two"><b>{repo.name}</b><small>{[namesOf(repo.group).slice(names.length).join(' / '), repo.description].filter(Boolean).join(' · ') || ' '}</small></span>
                {tiered && <span className="tier">{repo.catalogTier ? <span className="chip">{tierName(repo.catalogTier)}</span> : ''}</span>}
                <span className="number">{repo.tags ? <>{count(repo.tags.totalCount)}<span className="unit"> {repo.tags.totalCount === 1 ? 'tag' : 'tags'}</span></> : '–'}</span>
                <span className="when dim"><Time at={repo.updateTime} /></span>
                <span><SeverityBar counts={repo.findingSummary?.open} most={most} /></span>
              </Link>
            )} />}
      <ListProblems list={list} />
      {started && rows.length > 0 && !list.stopped && <p className="end" aria-live="polite">{list.more ? 'Loading more …' : rows.length > 20 ? `End of the list: ${plural(rows.length, 'repo')}.` : ''}</p>}
    </div>
  );
}

/** Returns the options of a facet, and the chosen options that nothing has any more. */
function withChosen(options: { value: string; name: string; count: string }[], chosen: string[], nameOf: (value: string) => string) {
  return [...options, ...chosen.filter((value) => !options.some((one) => one.value === value)).map((value) => ({ value, name: nameOf(value), count: '0' }))];
}
