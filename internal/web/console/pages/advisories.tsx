import { Advisory } from '../advisory';
import { advisoryColumns, advisoryFileColumns, advisorySorts } from '../advisory-list';
import { usePages } from '../client';
import { Advisories as AdvisoriesDocument, type AdvisoriesQuery, type AdvisoriesQueryVariables, type AdvisoryEventType, type AdvisoryRowFragment, type SeverityRating } from '../generated/graphql';
import { Find, joinValues, ListProblems, Toggles, useNarrow, valuesOf } from '../list';
import { groupAddress, pageAddress } from '../places';
import { Link, narrow, useLocation } from '../router';
import { SortSelect, useSorting } from '../sorting';
import { ChooseColumns, SaveRows, Table, useColumns } from '../table';
import { Empty, Lines, Problems, Severity } from '../ui';
import { Views } from '../views';
import { count, plural, ratings } from '../words';

// Open advisories can be filtered by these types of events, of which the latest decides.
const stages = [
  { value: 'DETECTION', name: 'Detected' }, { value: 'TRUE_POSITIVE_DETERMINATION', name: 'Affected' }, { value: 'PENDING_UPSTREAM_FIX', name: 'Waiting for upstream' },
  { value: 'FIX_NOT_PLANNED', name: 'No fix planned' }, { value: 'ANALYSIS_NOT_PLANNED', name: 'No analysis planned' }, { value: 'PATCHED', name: 'Patched' },
] as { value: AdvisoryEventType; name: string }[];
// The summary has the numbers of these states.
const states = [{ value: '', name: 'All', of: undefined, filter: undefined }, { value: 'open', name: 'Open', of: 'open', filter: 'OPEN' }, { value: 'fixed', name: 'Fix available', of: 'fixed', filter: 'FIXED' }, { value: 'not-affected', name: 'Not affected', of: 'notAffected', filter: 'NOT_AFFECTED' }] as const;

/** This page shows all advisories below a group, or the one that the address names. */
export function Advisories(at: { uid: string; names: string[] }) {
  const id = useLocation().search.get('id');
  return id ? <Advisory key={id} id={id} {...at} /> : <AdvisoryList {...at} />;
}

/** This list shows the advisories of feeds. The filters are in the address. */
function AdvisoryList({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation();
  const query = search.get('q') ?? '', withdrawn = search.get('withdrawn') === 'yes';
  const rated = valuesOf(search, 'severity').filter((one): one is SeverityRating => ratings.includes(one as SeverityRating));
  const stage = stages.find(({ value }) => value === search.get('stage'))?.value, view = states.find(({ value }) => value === (search.get('show') ?? '')) ?? states[0], packages = valuesOf(search, 'package');
  const sorting = useSorting(advisorySorts), columns = useColumns('advisories', advisoryColumns);
  const variables: AdvisoriesQueryVariables = {
    uid, first: 50, start: true, orderBy: sorting.orderBy,
    where: { ...(query && { query }), ...(rated.length > 0 && { severities: rated }), ...(view.filter && { states: [view.filter] }), ...(view.filter === 'OPEN' && stage && { latestEventType: stage }), ...(packages.length > 0 && { artifactNames: packages }), ...(withdrawn && { withdrawn }) },
  };
  const list = usePages<AdvisoriesQuery, AdvisoryRowFragment, AdvisoriesQueryVariables>(AdvisoriesDocument, variables, (data) => data.group?.advisories, { start: false });
  const { rows, first, loading, started } = list, total = first?.group?.advisories?.totalCount, summary = first?.group?.advisorySummary, findings = first?.group?.findingSummary;
  const height = useNarrow() ? 92 : 60;
  const filtered = query !== '' || rated.length > 0 || stage !== undefined || withdrawn || packages.length > 0;
  const several = summary && (view.of ? [summary[view.of]] : [summary.open, summary.fixed, summary.notAffected]);
  const counted = (rating: SeverityRating, among = several) => (among ?? []).reduce((sum, one) => sum + one[rating.toLowerCase() as 'high'], 0);
  const all = { q: undefined, severity: undefined, stage: undefined, withdrawn: undefined, package: undefined };
  return (
    <div className="page">
      <div className="title"><h1>Advisories</h1></div>
      <p className="lead">{summary ? <>Advisories from feeds below {names.join(' / ')}, whether or not an image has the package: {count(summary.open.total)} open, {count(summary.fixed.total)} with a fix and {count(summary.notAffected.total)} that affect nothing.{findings && <> In images there {findings.open.total === 1 ? 'is' : 'are'} <Link to={groupAddress(names, uid, 'findings')}>{plural(findings.open.total, 'open finding')}</Link>.</>}</> : `All advisories below ${names.join(' / ')}`}</p>
      {!started && list.problems.length === 0 ? <div className="below-lead"><Lines rows={10} height={42} /></div> : <>
      <div className="tabs" role="group" aria-label="Which advisories">{states.map((one) => (
        <button key={one.value} type="button" aria-pressed={one === view} onClick={() => narrow({ show: one.value || undefined, stage: undefined })}>{one.name} {summary && <small>{count(one.of ? summary[one.of].total : summary.open.total + summary.fixed.total + summary.notAffected.total)}</small>}</button>
      ))}</div>
      <div className="filters">
        <Find value={query} label="Find by id, alias, artifact or component" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        {view.filter === 'OPEN' && <select aria-label="Stage" value={stage ?? ''} onChange={(event) => narrow({ stage: event.target.value })}><option value="">Any stage</option>{stages.map(({ value, name }) => <option key={value} value={value}>{name}</option>)}</select>}
        <SortSelect sorting={sorting} names={{ severity: 'Highest severity first', newest: 'Newest first', changed: 'Last changed first', name: 'By id', package: 'By affected package' }} />
        <ChooseColumns page="advisories" all={advisoryColumns} />
        <Views page="advisories" />
        <SaveRows name="advisories" columns={[...advisoryColumns, ...advisoryFileColumns]} readAll={list.readAll} disabled={total === 0} />
        <span className="total" role="status">{total != null && !loading ? plural(total, 'advisory', 'advisories') : ' '}</span>
      </div>
      <div className="filters tight">
        <Toggles label="Severity" chosen={rated} onChange={(next) => narrow({ severity: joinValues(next) })}
          options={ratings.filter((rating) => !['NONE', 'UNKNOWN'].includes(rating) || rated.includes(rating) || counted(rating, summary && [summary.open, summary.fixed, summary.notAffected]) > 0).map((rating) => ({ value: rating, name: <Severity rating={rating} />, count: several && !stage ? count(counted(rating)) : undefined }))} />
        <Toggles label="Withdrawn advisories" chosen={withdrawn ? ['yes'] : []} onChange={([one]) => narrow({ withdrawn: one })} options={[{ value: 'yes', name: 'Include withdrawn' }]} />
        {packages.length > 0 && <Toggles label="Affected packages" chosen={packages} onChange={(next) => narrow({ package: joinValues(next) })} options={packages.map((value) => ({ value, name: value }))} />}
      </div>
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : rows.length === 0 && !loading ? <div className="table">{filtered ? <Empty title="No advisory matches">No advisory below {names.at(-1)} matches all filters. <button type="button" className="link-button" onClick={() => narrow(all)}>Show all advisories</button></Empty>
          : summary && summary.open.total + summary.fixed.total + summary.notAffected.total > 0 ? <Empty title="No advisories">No advisory below {names.at(-1)} is in this state. <button type="button" className="link-button" onClick={() => narrow({ ...all, show: undefined })}>Show all advisories</button></Empty>
          : names.length > 1 ? <Empty title="No feeds here">Feeds usually belong to the organization, and apply to all images below it: see <Link to={pageAddress(names.slice(0, 1), 'advisories')}>the advisories of {names[0]}</Link>. Their findings here are under <Link to={groupAddress(names, uid, 'findings')}>Findings</Link>.</Empty>
          : <Empty title="No advisories yet">Advisories are imported from feeds: see <a href="/guide/importing">importing</a>.</Empty>}</div>
        : <Table label="Advisories" kind="advisory-columns" columns={columns} rows={rows} total={total} keyOf={(row) => row.uid} height={height} measured busy={loading} end={list.readMore} sorting={sorting}
            to={(row) => groupAddress(names, uid, 'advisories', { id: row.advisoryId })} classOf={({ deleteTime }) => (deleteTime ? 'withdrawn' : '')} />}
      <ListProblems list={list} />
      {started && rows.length > 0 && !list.stopped && <p className="end" aria-live="polite">{list.more ? 'Loading more …' : rows.length > 20 ? `End of the list: ${plural(rows.length, 'advisory', 'advisories')}.` : ''}</p>}
      </>}
    </div>
  );
}
