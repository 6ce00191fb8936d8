// This file has the list of packages, which the pages of groups and repos share.

import { usePages } from './client';
import { ExportLinks } from './export';
import { Packages as PackagesDocument, type PackagesQuery, type PackagesQueryVariables } from './generated/graphql';
import { Find, ListProblems, useNarrow } from './list';
import { groupAddress } from './places';
import { narrow, useLocation } from './router';
import { useSorting } from './sorting';
import { ChooseColumns, Table, useColumns, type Column } from './table';
import { Empty, Lines, Problems } from './ui';
import { Views } from './views';
import { count, plural } from './words';

type Row = NonNullable<PackagesQuery['packages']>['nodes'][number];

const sorts = { name: { field: 'NAME', direction: 'ASC' } } as const;
const affectedOf = ({ versions }: Row) => (versions?.nodes ?? []).filter((one) => one.advisories?.totalCount).length;
const isPart = ({ versions }: Row) => (versions?.totalCount ?? 0) > (versions?.nodes.length ?? 0);
const columns: Column<Row, 'name'>[] = [
  { key: 'name', label: 'Package', names: true, width: 'minmax(0, 1.4fr)', by: 'name', cell: ({ name }) => <b className="cut">{name}</b> },
  { key: 'ecosystem', label: 'Ecosystem', width: 'minmax(0, .7fr)', className: 'dim cut', cell: ({ ecosystem }) => ecosystem ?? '–' },
  { key: 'versions', label: 'Versions, newest first', width: 'minmax(0, 1.4fr)', className: 'cut versions',
    cell: (row) => <>{row.versions?.nodes.map(({ version }) => version ?? 'unknown').join(', ') || '–'}{isPart(row) && <span className="dim"> and {count(row.versions!.totalCount - row.versions!.nodes.length)} more</span>}</> },
  { key: 'affected', label: 'Affected versions', width: '11rem', className: 'dim', cell: (row) => {
    const affected = affectedOf(row), of = isPart(row) ? ` of the newest ${row.versions!.nodes.length}` : '';
    return affected > 0 ? <span className="state open">{count(affected)}{of || ` of ${row.versions!.nodes.length}`}</span> : `none${of}`;
  } },
];

/** Returns the address of the page of a package, as a group sees it. */
export const packageAddress = (names: string[], uid: string, one: { name: string; ecosystem: string | null }) =>
  groupAddress(names, uid, 'packages', { name: one.name, ecosystem: one.ecosystem ?? undefined });

/** This list has the packages that the images below a group, or of a repo, hold. */
export function PackageList({ uid, name, names, inRepo = false }: { uid: string; name: string; names: string[]; inRepo?: boolean }) {
  const { search } = useLocation(), query = search.get('q') ?? '', sorting = useSorting(sorts), shown = useColumns('packages', columns);
  const where = query ? { query } : {}, group = inRepo ? uid.slice(0, uid.lastIndexOf('/')) : uid;
  const variables = { uid, first: 50, start: true, where, orderBy: sorting.orderBy } as PackagesQueryVariables;
  const list = usePages<PackagesQuery, Row, PackagesQueryVariables>(PackagesDocument, variables, (data) => data.packages, { start: false });
  const { rows, first, loading, started } = list, total = first?.packages?.totalCount, height = useNarrow() ? 84 : 58;
  return (
    <>
      <div className="filters">
        <Find value={query} label="Find a package" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <ChooseColumns page="packages" all={columns} />
        <Views page="packages" />
        <ExportLinks what="packages" within={uid} filter={{ query }} formats={['csv', 'json']} disabled={total === 0} />
        <span className="total" role="status">{total != null && !loading ? plural(total, 'package') : ' '}</span>
      </div>
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table">{query ? <Empty title="No package matches">No image of {name} contains a package with “{query}” in its name. <button type="button" className="link-button" onClick={() => narrow({ q: undefined })}>Show all</button></Empty>
          : <Empty title="No packages yet">The packages of an image come from its SBOM, or from its registry: see <a href="/guide/importing">importing</a>.</Empty>}</div>
        : <Table label="Packages" kind="package-columns" columns={shown} rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore} sorting={sorting} to={(row) => packageAddress(names, group, row)} />}
      <ListProblems list={list} />
      {started && rows.length > 0 && !list.stopped && <p className="end" aria-live="polite">{list.more ? 'Loading more …' : rows.length > 20 ? `End of the list: ${plural(rows.length, 'package')}.` : ''}</p>}
    </>
  );
}
