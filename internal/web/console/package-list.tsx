// This file has the list of packages, which the pages of groups and repos share.

import { usePages } from './client';
import { ExportLinks } from './export';
import { Packages as PackagesDocument, type PackagesQuery, type PackagesQueryVariables } from './generated/graphql';
import { Find, List, ListProblems, useNarrow } from './list';
import { groupAddress } from './places';
import { Link, narrow, useLocation } from './router';
import { Empty, Icon, Lines, Problems } from './ui';
import { count, plural } from './words';

type Row = NonNullable<PackagesQuery['packages']>['nodes'][number];

/** Returns the address of the page of a package, as a group sees it. */
export const packageAddress = (names: string[], uid: string, one: { name: string; ecosystem: string | null }) =>
  groupAddress(names, uid, 'packages', { name: one.name, ecosystem: one.ecosystem ?? undefined });

/** This list has the packages that the images below a group, or of a repo, hold. */
export function PackageList({ uid, name, names, inRepo = false }: { uid: string; name: string; names: string[]; inRepo?: boolean }) {
  const { search } = useLocation(), query = search.get('q') ?? '', descending = search.get('dir') === 'desc';
  const where = query ? { query } : {}, group = inRepo ? uid.slice(0, uid.lastIndexOf('/')) : uid;
  const variables = { uid, first: 50, start: true, where, orderBy: { field: 'NAME', direction: descending ? 'DESC' : 'ASC' } } as PackagesQueryVariables;
  const list = usePages<PackagesQuery, Row, PackagesQueryVariables>(PackagesDocument, variables, (data) => data.packages, { start: false });
  const { rows, first, loading, started } = list, total = first?.packages?.totalCount, height = useNarrow() ? 84 : 58;
  return (
    <>
      <div className="filters">
        <Find value={query} label="Find a package" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <ExportLinks what="packages" within={uid} filter={{ query }} formats={['csv', 'json']} disabled={total === 0} />
        <span className="total" role="status">{total != null && !loading ? plural(total, 'package') : ' '}</span>
      </div>
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table">{query ? <Empty title="No package matches">No image of {name} holds a package with “{query}” in its name. <button type="button" className="link-button" onClick={() => narrow({ q: undefined })}>Show all</button></Empty>
          : <Empty title="No packages known">What an image holds comes from its SBOM, or from its registry: see <a href="/guide/importing">importing</a>.</Empty>}</div>
        : <List label="Packages" rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore}
            head={<div className="head package-columns"><span><button type="button" aria-pressed onClick={() => narrow({ dir: descending ? undefined : 'desc' })}>Package <Icon name={descending ? 'down' : 'up'} /></button></span><span>Ecosystem</span><span>Versions, the newest first</span><span>Advisories</span></div>}
            render={(row) => {
              const { nodes = [], totalCount = 0 } = row.versions ?? {}, advisories = nodes.reduce((sum, one) => sum + (one.advisories?.totalCount ?? 0), 0);
              return (
                <Link className="cells package-columns" to={packageAddress(names, group, row)}>
                  <span className="cut"><b>{row.name}</b></span><span className="dim cut">{row.ecosystem ?? '–'}</span>
                  <span className="cut">{nodes.map(({ version }) => version ?? 'not known').join(', ') || '–'}{totalCount > nodes.length && <span className="dim"> and {count(totalCount - nodes.length)} more</span>}</span>
                  <span className="dim">{advisories > 0 ? <span className="state open">{plural(advisories, 'advisory', 'advisories')}</span> : totalCount > nodes.length ? 'see the versions' : 'none'}</span>
                </Link>
              );
            }} />}
      <ListProblems list={list} />
      {started && rows.length > 0 && !list.stopped && <p className="end" aria-live="polite">{list.more ? 'Loading more …' : rows.length > 20 ? `End of the list: ${plural(rows.length, 'package')}.` : ''}</p>}
    </>
  );
}
