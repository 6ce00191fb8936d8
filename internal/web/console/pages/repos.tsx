import { usePages } from '../client';
import { Repos as ReposDocument, type CatalogTier, type ReposQuery, type ReposQueryVariables } from '../generated/graphql';
import { Find, joinValues, ListProblems, Toggles, useNarrow, valuesOf } from '../list';
import { repoAddress } from '../places';
import { NewRepo } from '../repo-forms';
import { narrow, useLocation } from '../router';
import { SortSelect, useSorting } from '../sorting';
import { ChooseColumns, SaveRows, Table, useColumns, type Column } from '../table';
import { Empty, Lines, namesOf, Problems, SeverityBar, Time } from '../ui';
import { Views } from '../views';
import { count, plural, ratings, sentence, tierName } from '../words';

type Connection = NonNullable<NonNullable<ReposQuery['group']>['repos']>;
type Row = Connection['nodes'][number];
const tiers = ['APPLICATION', 'BASE', 'FIPS', 'AI', 'DEVTOOLS', 'COMMERCIAL'];
const sorts = { name: { field: 'NAME', direction: 'ASC' }, updated: { field: 'UPDATE_TIME', direction: 'DESC' }, created: { field: 'CREATE_TIME', direction: 'DESC' }, worst: { field: 'OPEN_SEVERITY', direction: 'DESC' } } as const;

/** Returns the columns of repos. The bars of findings have the scale of the worst repo. */
function columnsOf(names: string[], most: number): Column<Row, keyof typeof sorts>[] {
  return [
    { key: 'name', label: 'Name', names: true, width: 'minmax(0, 1fr)', className: 'main', by: 'name', text: ({ name }) => name,
      cell: (repo) => <span className="two"><b>{repo.name}</b><small>{[namesOf(repo.group).slice(names.length).join(' / '), repo.description].filter(Boolean).join(' · ') || ' '}</small></span> },
    { key: 'tier', label: 'Tier', width: '8rem', className: 'tier', wide: true, text: ({ catalogTier }) => catalogTier, cell: ({ catalogTier }) => catalogTier && <span className="chip">{tierName(catalogTier)}</span> },
    { key: 'bundles', label: 'Bundles', width: '9rem', className: 'cut extra', hidden: true, text: ({ bundles }) => bundles.join(' '), cell: ({ bundles }) => bundles.join(', ') },
    { key: 'tags', label: 'Tags', width: '4rem', className: 'number', text: ({ tags }) => tags?.totalCount, cell: ({ tags }) => (tags ? <>{count(tags.totalCount)}<span className="unit"> {tags.totalCount === 1 ? 'tag' : 'tags'}</span></> : '–') },
    { key: 'created', label: 'Created', width: '8rem', className: 'dim extra', by: 'created', hidden: true, text: ({ createTime }) => createTime, cell: ({ createTime }) => <Time at={createTime} /> },
    { key: 'changed', label: 'Last changed', width: '8.5rem', className: 'when dim', by: 'updated', text: ({ updateTime }) => updateTime, cell: ({ updateTime }) => <Time at={updateTime} /> },
    { key: 'findings', label: 'Open findings', width: '10rem', by: 'worst', text: ({ findingSummary }) => findingSummary?.open.total, cell: ({ findingSummary }) => <SeverityBar of={findingSummary} most={most} /> },
  ];
}

// A file also has where a repo is, and its findings by severity.
const columnsOfFile: Pick<Column<Row>, 'label' | 'text'>[] = [
  { label: 'Group', text: ({ group }) => namesOf(group).join('/') }, { label: 'Description', text: ({ description }) => description },
  { label: 'Images', text: ({ findingSummary }) => findingSummary?.images }, { label: 'Images with an SBOM', text: ({ findingSummary }) => findingSummary?.knownImages },
  ...ratings.map((rating): Pick<Column<Row>, 'label' | 'text'> => ({ label: sentence(rating), text: ({ findingSummary }) => findingSummary?.open[rating.toLowerCase() as 'high'] })), { label: 'UID', text: ({ uid }) => uid },
];

/** This page shows all repos below a group, with one request for each page of the list. */
export function Repos({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation();
  const query = search.get('q') ?? '', chosen = valuesOf(search, 'tier').filter((tier): tier is CatalogTier => tiers.includes(tier)), bundles = valuesOf(search, 'bundle');
  const sorting = useSorting(sorts);
  const variables: ReposQueryVariables = {
    uid, first: 50, start: true, orderBy: sorting.orderBy,
    where: { ...(query && { query }), ...(chosen.length > 0 && { tiers: chosen }), ...(bundles.length > 0 && { bundles }) },
  };
  const list = usePages<ReposQuery, Row, ReposQueryVariables>(ReposDocument, variables, (data) => data.group?.repos, { start: false });
  const { rows, first, loading, started } = list, repos = first?.group?.repos, total = repos?.totalCount;
  const most = Math.max(...rows.map(({ findingSummary }) => findingSummary?.open.total ?? 0), 1);
  const filtered = query !== '' || chosen.length + bundles.length > 0, height = useNarrow() ? 84 : 58;
  const shownTiers = (repos?.facets?.tiers ?? []).filter(({ value }) => value !== null), shownBundles = (repos?.facets?.bundles ?? []).slice(0, 8);
  const columns = columnsOf(names, most), tiered = rows.some(({ catalogTier }) => catalogTier !== null), shown = useColumns('repos', columns).filter(({ key }) => key !== 'tier' || tiered);
  return (
    <div className="page">
      <div className="title"><h1>Repos</h1><div className="actions">{first?.group && <NewRepo uid={uid} names={names} held={{ capabilities: first.group.viewerCapabilities, on: names.at(-1)! }} />}</div></div>
      <p className="lead">All repos below {names.join(' / ')}</p>
      <div className="filters">
        <Find value={query} label="Find by name, description or alias" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <SortSelect sorting={sorting} names={{ name: 'By name', updated: 'Last changed first', created: 'Newest first', worst: 'Worst findings first' }} />
        <ChooseColumns page="repos" all={columns} />
        <Views page="repos" />
        <SaveRows name="repos" columns={[...columns, ...columnsOfFile]} readAll={list.readAll} disabled={total === 0} />
        <span className="total" role="status">{total != null && !loading ? plural(total, 'repo') : ' '}</span>
      </div>
      {(shownTiers.length > 1 || chosen.length > 0 || shownBundles.length > 0 || bundles.length > 0) && <div className="filters tight">
        <Toggles label="Tiers" chosen={chosen} onChange={(next) => narrow({ tier: joinValues(next) })} options={withChosen(shownTiers.map(({ value, count: n }) => ({ value: value!, name: tierName(value), count: count(n) })), chosen, tierName)} />
        <Toggles label="Bundles" chosen={bundles} onChange={(next) => narrow({ bundle: joinValues(next) })} options={withChosen(shownBundles.map(({ value, count: n }) => ({ value: value!, name: value!, count: count(n) })), bundles, (name) => name)} />
      </div>}
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="table"><div className="pad"><Lines rows={10} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table">{filtered ? <Empty title="No repo matches">No repo below {names.at(-1)} matches all filters. <button type="button" className="link-button" onClick={() => narrow({ q: undefined, tier: undefined, bundle: undefined })}>Show all repos</button></Empty>
          : <Empty title="No repos yet">A repo contains the tags of an image. Create one above, or import your repos: see <a href="/guide/importing">importing</a>.</Empty>}</div>
        : <Table label="Repos" kind="repo-columns" columns={shown} rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore} sorting={sorting} to={(repo) => repoAddress(namesOf(repo.group), repo)} />}
      <ListProblems list={list} />
      {started && rows.length > 0 && !list.stopped && <p className="end" aria-live="polite">{list.more ? 'Loading more …' : rows.length > 20 ? `End of the list: ${plural(rows.length, 'repo')}.` : ''}</p>}
    </div>
  );
}

/** Returns the options of a facet, and the chosen options that nothing has any more. */
function withChosen(options: { value: string; name: string; count: string }[], chosen: string[], nameOf: (value: string) => string) {
  return [...options, ...chosen.filter((value) => !options.some((one) => one.value === value)).map((value) => ({ value, name: nameOf(value), count: '0' }))];
}
