// This file shows what findings have in common: their advisories, packages, repos or groups, each with exact numbers. Each leads to
// the list of its findings.

import { useData } from './client';
import { FindingGroups as FindingGroupsDocument, type FindingFilter, type FindingGroupsQuery, type SeverityRating } from './generated/graphql';
import { joinValues, useNarrow } from './list';
import { groupAddress, repoAddress } from './places';
import { narrow, useLocation } from './router';
import { Table, type Column } from './table';
import { namesOf, Severity } from './ui';
import { count, plural, shorten } from './words';

const groupings = { advisory: ['By advisory', 'advisory', 'advisories'], package: ['By package', 'package', 'packages'], repo: ['By repo', 'repo', 'repos'], team: ['By group', 'group', 'groups'] } as const;
type Grouping = keyof typeof groupings;
const most = 100; // The server counts no more of each.

/** Returns how the address groups the list, if it does. A repo has neither repos nor groups. */
export function useGrouping(inRepo: boolean): Grouping | undefined {
  const asked = useLocation().search.get('grouped') ?? '';
  return Object.hasOwn(groupings, asked) && !(inRepo && (asked === 'repo' || asked === 'team')) ? asked as Grouping : undefined;
}

/** This field chooses how the list is grouped. */
export const GroupingSelect = ({ value, inRepo }: { value?: Grouping; inRepo: boolean }) => (
  <select aria-label="Group the findings" value={value ?? ''} onChange={({ target }) => narrow({ grouped: target.value || undefined })}>
    <option value="">One by one</option>{Object.entries(groupings).slice(0, inRepo ? 2 : undefined).map(([key, [name]]) => <option key={key} value={key}>{name}</option>)}
  </select>
);

interface Head { key: string; name: string; detail?: string; rating?: SeverityRating; score?: number | null; exploited?: boolean; findings: number; fixable?: number; images?: number; repos?: number; to: string }

/** Requests what findings have in common. */
export function useGroups(by: Grouping | undefined, uid: string, where: FindingFilter) {
  return useData(FindingGroupsDocument, { uid, where, advisories: by === 'advisory', packages: by === 'package', repos: by === 'repo', groups: by === 'team' }, { pause: !by, keep: true });
}

interface GroupsProps { by: Grouping; data: FindingGroupsQuery; names: string[]; loading: boolean }

/** This table has a row for each advisory, package, repo or group. */
export function Groups({ by, data, names, loading }: GroupsProps) {
  const { search } = useLocation(), height = useNarrow() ? 86 : 58, heads = headsOf(data, names, search), [, one, many] = groupings[by];
  const total = data.topVulnerabilities?.totalCount ?? data.topPackages?.totalCount ?? heads.length, told = heads.some(({ rating }) => rating), children = data.group?.children;
  const own = children && children.totalCount <= most ? (data.findings?.totalCount ?? 0) - heads.reduce((sum, { findings }) => sum + findings, 0) : 0;
  return (
    <>
      {heads.length > 0 && <Table label={`Findings by ${one}`} kind="group-columns" columns={told ? columns : columns.filter(({ key }) => key === 'name' || key === 'findings')} rows={heads} total={total} keyOf={({ key }) => key} height={height} busy={loading} end={() => {}} to={({ to }) => to} />}
      {own > 0 && <p className="end">{plural(own, 'finding')} {heads.length > 0 && 'more '}{own === 1 ? 'is' : 'are'} in repos directly in {names.at(-1)}. <button type="button" className="link-button" onClick={() => narrow({ grouped: 'repo' })}>Group by repo</button></p>}
      {(total > heads.length || by !== 'team' && heads.length === most) && <p className="end">{total > heads.length ? `These are the worst ${count(heads.length)} of ${plural(total, one, many)}.` : `These are the ${count(most)} ${many} with the most findings.`} Narrow the list to see others.</p>}
      {children && children.totalCount > most && <p className="end">Only the first {count(most)} of {plural(children.totalCount, 'group')} are counted.</p>}
    </>
  );
}

const columns: Column<Head>[] = [
  { key: 'severity', label: 'Worst', width: '8rem', className: 'worst', cell: ({ rating, score }) => rating && <Severity rating={rating} score={score} /> },
  { key: 'name', label: 'What', names: true, width: 'minmax(0, 1fr)', className: 'main', cell: ({ name, detail, exploited }) => <span className="two"><b>{name}{exploited && <span className="chip bad">exploited</span>}</b><small>{detail || ' '}</small></span> },
  { key: 'findings', label: 'Findings', width: '5rem', className: 'number', cell: ({ findings }) => <>{count(findings)}<span className="unit"> {findings === 1 ? 'finding' : 'findings'}</span></> },
  { key: 'fixable', label: 'Fixable', width: '5rem', className: 'number extra', wide: true, cell: ({ fixable }) => count(fixable ?? 0) },
  { key: 'images', label: 'Images', width: '5rem', className: 'number extra', wide: true, cell: ({ images }) => count(images ?? 0) },
  { key: 'repos', label: 'Repos', width: '5rem', className: 'number extra', cell: ({ repos }) => count(repos ?? 0) },
];

/** Returns the rows of the table. Each leads to the list with the filters of now, and with its own. */
function headsOf({ topVulnerabilities, topPackages, findings, group }: FindingGroupsQuery, names: string[], search: URLSearchParams): Head[] {
  const kept = new URLSearchParams(search);
  for (const name of ['grouped', 'group', 'repo', 'kind']) kept.delete(name);
  const filters = Object.fromEntries(kept);
  const here = (more: Record<string, string | undefined>) => {
    const next = new URLSearchParams(search);
    next.delete('grouped');
    for (const [name, value] of Object.entries(more)) if (value) next.set(name, joinValues([value]));
    return `${location.pathname}?${next}`;
  };
  return [
    ...(topVulnerabilities?.nodes ?? []).map((one): Head => ({ ...one, ...one.severity, key: one.vulnerabilityId, name: one.vulnerabilityId, detail: one.vulnerability?.metadata?.summary ?? undefined, exploited: one.knownExploited, to: here({ vulnerability: one.vulnerabilityId }) })),
    ...(topPackages?.nodes ?? []).map((one): Head => ({ ...one, ...one.severity, key: `${one.ecosystem} ${one.package}`, name: shorten(one.package), detail: one.ecosystem ?? undefined, exploited: one.knownExploited, to: here({ package: one.package, ecosystem: one.ecosystem ?? undefined }) })),
    ...(findings?.facets?.repos ?? []).flatMap(({ value, count: found, repo }): Head[] => (repo && value ? [{ key: value, name: repo.name, detail: namesOf(repo.group).join(' / '), findings: found, to: repoAddress(namesOf(repo.group), repo, { ...filters, tab: 'findings' }) }] : [])),
    ...(group?.children?.nodes ?? []).flatMap(({ uid, name, findings: found }): Head[] => (found && found.totalCount > 0 ? [{ key: uid, name, findings: found.totalCount, to: groupAddress([...names, name], uid, 'findings', filters) }] : [])).sort((a, b) => b.findings - a.findings),
  ];
}
