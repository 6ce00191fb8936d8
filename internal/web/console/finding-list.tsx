// This file has the list of findings, which the pages of groups and repos share.

import { useEffect, useRef, useState } from 'react';
import { AssigneeFilter, assignedTo } from './assignee';
import { useData, useDaysAgo, usePages } from './client';
import { ExportLinks } from './export';
import { Decide, nameOfPackage, reasonOf, stateKinds, stateNames } from './finding-decision';
import { filterHelp, readFilters } from './finding-filters';
import { Groups, GroupingSelect, useGrouping, useGroups } from './finding-groups';
import type { Holding } from './form';
import { Findings as FindingsDocument, FixedIn as FixedInDocument, type FindingFilter, type FindingNumbersFragment, type FindingRowFragment, type FindingsQuery, type FindingsQueryVariables, type FindingState, type SeverityRating } from './generated/graphql';
import { Find, joinValues, ListProblems, Toggles, useNarrow, useOpened, valuesOf } from './list';
import { packageAddress } from './package-list';
import { groupAddress, imageAddress, repoAddress } from './places';
import { Link, narrow, useLocation } from './router';
import { SortSelect, useSorting } from './sorting';
import { ChooseColumns, ChosenBar, Table, useColumns, useMarking, type Column } from './table';
import { CopyButton, Dialog, Empty, Icon, keepFocus, Lines, namesOf, Problems, Severity, Time } from './ui';
import { Views } from './views';
import { count, dayOf, plural, ratings, shortDigest } from './words';

export { Decide, nameOfPackage, reasonOf, stateKinds, stateNames };

const open: FindingState[] = ['OPEN', 'IN_TRIAGE'];
type Numbers = FindingNumbersFragment;

// What a list can show. Each has its number from the summary, so that it is the number that all pages have.
const views: { value: string; name: string; filter: FindingFilter; of: (numbers: Numbers) => Numbers['open']; total?: (numbers: Numbers) => number; none: string }[] = [
  { value: '', name: 'Open', filter: { states: open }, of: (numbers) => numbers.open, none: 'No image with a tag that is not deprecated has an open finding.' },
  { value: 'fixable', name: 'Fixable', filter: { states: open, fixable: true }, of: (numbers) => numbers.open, total: ({ open: { fixable } }) => fixable, none: 'No open finding has a fix yet.' },
  { value: 'accepted', name: 'Accepted', filter: { states: ['ACCEPTED'] }, of: (numbers) => numbers.accepted, none: 'Nobody has accepted the risk of a finding.' },
  { value: 'not-affected', name: 'Not affected', filter: { states: ['NOT_AFFECTED'] }, of: (numbers) => numbers.notAffected, none: 'Nobody has marked a finding as not affected.' },
];
const sorts = { severity: { field: 'SEVERITY', direction: 'DESC' }, newest: { field: 'FIRST_SEEN', direction: 'DESC' }, likely: { field: 'EPSS', direction: 'DESC' }, due: { field: 'DUE', direction: 'ASC' }, package: { field: 'PACKAGE', direction: 'ASC' } } as const;

/** Returns the columns of findings. In a repo, they do not name it. */
const columnsOf = (inRepo: boolean): Column<FindingRowFragment, keyof typeof sorts>[] => [
  { key: 'severity', label: 'Severity', width: '8rem', by: 'severity', cell: ({ severity }) => <Severity rating={severity.rating} score={severity.score} /> },
  { key: 'advisory', label: 'Advisory', names: true, width: 'minmax(0, 1.6fr)', className: 'main',
    cell: (row) => <span className="two"><b>{row.vulnerabilityId}{row.knownExploited && <span className="chip bad">exploited</span>}</b><small>{(row.advisory?.vulnerabilities ?? []).map((one) => one.summary).find(Boolean) ?? (otherNames(row).join(', ') || 'No summary')}</small></span> },
  { key: 'package', label: inRepo ? 'Package' : 'Repo and package', width: 'minmax(0, 1fr)', className: 'package two', by: 'package', cell: (row) => (inRepo ? <b>{nameOfPackage(row)}</b> : <><b>{row.repo?.name ?? 'A repo'}</b><small>{nameOfPackage(row)}</small></>) },
  { key: 'versions', label: 'Installed and fixed', width: 'minmax(0, 1fr)', className: 'versions two', cell: ({ installedVersion, fixedVersions }) => <><b>{installedVersion ?? 'Unknown version'}</b><small>{fixedVersions.length > 0 ? `fixed in ${fixedVersions[0]}` : 'no fix yet'}</small></> },
  { key: 'likely', label: 'EPSS score', width: '8rem', className: 'dim extra', by: 'likely', hidden: true, cell: ({ epss }) => (epss === null ? '–' : `${(epss * 100).toFixed(1)}%`) },
  { key: 'due', label: 'Fix by', width: '8rem', className: 'dim extra', by: 'due', hidden: true, cell: ({ dueTime }) => (dueTime ? <Time at={dueTime} /> : '–') },
  { key: 'assignee', label: 'Assigned to', width: '9rem', className: 'dim extra cut', hidden: true, cell: ({ assignee }) => assignee?.name ?? '–' },
  { key: 'since', label: 'Since', width: '8rem', className: 'when dim', wide: true, by: 'newest', cell: ({ firstSeenTime }) => <Time at={firstSeenTime} /> },
];

interface FindingListProps { uid: string; name: string; names?: string[]; held?: Holding; inRepo?: boolean; image?: { digest: string; numbers?: Numbers | null } }

/** This list has the findings below a group, of a repo or of one image of it, one by one or by what they have in common. Its filters are in the address. */
export function FindingList({ uid, name, names = [name], held, inRepo = false, image }: FindingListProps) {
  const { search } = useLocation();
  const query = search.get('q') ?? '', typed = readFilters(query), view = views.find(({ value }) => value === (search.get('show') ?? '')) ?? views[0], packages = valuesOf(search, 'package'), vulnerabilities = valuesOf(search, 'vulnerability'), ecosystems = valuesOf(search, 'ecosystem');
  // What was typed wins over what was chosen, so the choice of a field that was typed is not offered.
  const isFree = (...fields: (keyof FindingFilter)[]) => !fields.some((field) => field in typed.filter);
  const rated = valuesOf(search, 'severity').filter((one): one is SeverityRating => ratings.includes(one as SeverityRating));
  const exploited = search.get('exploited') === 'yes', days = Number(search.get('since')) || 0, firstSeenSince = useDaysAgo(days), assignee = search.get('assignee') ?? undefined;
  const sorting = useSorting(sorts), by = useGrouping(inRepo);
  const where: FindingFilter = { ...view.filter, ...(typed.words && { query: typed.words }), ...(rated.length > 0 && { severities: rated }), ...(image && { digests: [image.digest] }), ...(packages.length > 0 && { packages }), ...(ecosystems.length > 0 && { ecosystems }), ...(vulnerabilities.length > 0 && { vulnerabilityIds: vulnerabilities }), ...(exploited && { knownExploited: true }), ...(days > 0 && { firstSeenSince }), ...assignedTo(assignee), ...typed.filter };
  const list = usePages<FindingsQuery, FindingRowFragment, FindingsQueryVariables>(FindingsDocument, { uid, first: 50, start: true, where, orderBy: sorting.orderBy }, (data) => data.findings, { start: false }, { pause: by !== undefined });
  const groups = useGroups(by, uid, where), rows = by ? noRows : list.rows, first = by ? groups.data : list.first, loading = by ? groups.loading || !groups.own : list.loading, started = by ? groups.data !== undefined : list.started;
  const total = first?.findings?.totalCount, numbers = image ? image.numbers : first?.findingSummary;
  const isUnknown = numbers?.knownImages === 0 && (image !== undefined || numbers.images > 0) && view.of(numbers).total === 0;
  const height = useNarrow() ? 86 : 62; // This is the height of a row before it is measured.
  const opening = useOpened('findings'), columns = columnsOf(inRepo), shown = useColumns('findings', columns);
  const { marking, chosen, clear } = useMarking(rows, (row) => row.uid, (row) => `${row.vulnerabilityId} in ${row.repo?.name ?? nameOfPackage(row)}`), fixed = chosen.find(({ viewerCapabilities }) => !viewerCapabilities.includes('FINDINGS_UPDATE'));
  const filtered = query !== '' || rated.length + packages.length + vulnerabilities.length + ecosystems.length > 0 || exploited || days > 0 || assignee !== undefined, counted = (rating: SeverityRating) => (numbers ? view.of(numbers)[rating.toLowerCase() as 'high'] : 0);
  // The numbers of the group count what other filters would hide, so then there are none.
  const narrowed = query !== '' || packages.length + vulnerabilities.length + ecosystems.length > 0 || days > 0 || assignee !== undefined;
  // The button that decides about all is gone if the list is empty then.
  const decided = useRef(false);
  useEffect(() => { if (decided.current) { decided.current = false; keepFocus(); } }, [rows]);
  const knownExploited = numbers ? view.of(numbers).knownExploited : 0;
  // Until the numbers are there, the ratings that most findings have keep the place of the filters.
  const shownRatings = numbers ? ratings.filter((rating) => rated.includes(rating) || counted(rating) > 0) : ratings.slice(0, 4);
  return (
    <>
      <div className="tabs-line"><div className="tabs" role="group" aria-label="Which findings">{views.map((one) => (
        <button key={one.value} type="button" aria-pressed={one === view && isFree(...Object.keys(view.filter) as (keyof FindingFilter)[])} onClick={() => narrow({ show: one.value || undefined })}>{one.name} {numbers ? !narrowed && !exploited && rated.length === 0 && !isUnknown && <small>{count(one.total?.(numbers) ?? one.of(numbers).total)}</small> : <small aria-hidden style={{ visibility: 'hidden' }}>00</small> /* It keeps the place of the count. */}</button>
      ))}</div><GroupingSelect value={by} inRepo={inRepo} /></div>
      <div className="filters">
        <Find value={query} label="Find words, or severity:high" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <FilterHelp />
        {!by && <SortSelect sorting={sorting} names={{ severity: 'Highest severity first', newest: 'Newest first', likely: 'Highest EPSS score first', due: 'Due soonest first', package: 'By package' }} />}
        {!by && <ChooseColumns page="findings" all={columns} />}
        <Views page="findings" />
        {held && total != null && total > 1 && !loading && <Decide held={held} label={`Decide about all ${count(total)}`} about={plural(total, 'finding')} fixed={{ within: uid, where, ...(total > mostDecided && { background: true as const }) }} total={total > mostDecided ? total : undefined} former={!by && rows.length === total ? rows : undefined} onDone={() => { decided.current = true; }} />}
        {!started && <button type="button" aria-hidden disabled style={{ visibility: 'hidden' }}><Icon name="edit" />Decide about all 00</button> /* It keeps the place of the button. */}
        <ExportLinks what="findings" within={uid} formats={['csv', 'json', 'sarif']} disabled={total === 0} filter={exportFilter(where)} />
        <span className="total" role="status">{total != null && !loading && !isUnknown ? plural(total, 'finding') : ' '}</span>
      </div>
      {typed.faults.map((fault) => <p key={fault} className="fault note" role="alert">{fault}</p>)}
      {(shownRatings.length > 1 || filtered || knownExploited > 0 || (total ?? 0) > 1) && <div className="filters tight">
        {isFree('severities') && <Toggles label="Severity" chosen={rated} onChange={(next) => narrow({ severity: joinValues(next) })}
          options={shownRatings.map((rating) => ({ value: rating, name: <Severity rating={rating} />, count: view.total || !numbers || narrowed || exploited ? undefined : count(counted(rating)) }))} />}
        {isFree('knownExploited') && (knownExploited > 0 || exploited) && <Toggles label="Exploitation" chosen={exploited ? ['yes'] : []} onChange={([one]) => narrow({ exploited: one })} options={[{ value: 'yes', name: 'Known to be exploited', count: view.total || narrowed || rated.length > 0 ? undefined : count(knownExploited) }]} />}
        {isFree('assigned', 'assignedToMe') && <AssigneeFilter chosen={assignee} root={uid.split('/')[0]} known={new Map(rows.flatMap((row) => (row.assignee ? [[row.assignee.uid, row.assignee.name] as const] : [])))} />}
        {isFree('firstSeenSince') && days > 0 && <Toggles label="First seen" chosen={['yes']} onChange={() => narrow({ since: undefined })} options={[{ value: 'yes', name: `New in the last ${plural(days, 'day')} ×` }]} />}
        {isFree('vulnerabilityIds') && vulnerabilities.length > 0 && <Toggles label="Vulnerability" chosen={vulnerabilities} onChange={(next) => narrow({ vulnerability: joinValues(next) })} options={vulnerabilities.map((value) => ({ value, name: value }))} />}
        {isFree('packages') && packages.length > 0 && <Toggles label="Package" chosen={packages} onChange={(next) => narrow({ package: joinValues(next) })} options={packages.map((value) => ({ value, name: `Package ${value}` }))} />}
        {isFree('ecosystems') && ecosystems.length > 0 && <Toggles label="Ecosystem" chosen={ecosystems} onChange={(next) => narrow({ ecosystem: joinValues(next) })} options={ecosystems.map((value) => ({ value, name: `Ecosystem ${value}` }))} />}
      </div>}
      {chosen.length > 0 && <ChosenBar what={`${plural(chosen.length, 'finding')} in ${plural(new Set(chosen.map(({ repo }) => repo?.uid)).size, 'repo')}`} onClear={clear}>
        <Decide held={{ capabilities: (fixed ?? chosen[0]).viewerCapabilities, on: (fixed ?? chosen[0]).repo?.name ?? 'its repo' }} label={`Decide about ${count(chosen.length)}`} about={plural(chosen.length, 'finding')} fixed={{ uids: chosen.map(({ uid: one }) => one) }} former={chosen} shortcut="e" onDone={clear} /></ChosenBar>}
      {(by ? groups : list).problems.length > 0 && rows.length === 0 ? <Problems loaded={by ? groups : list} />
        : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : (by ? total === 0 : rows.length === 0) && !loading ? <div className="table">{filtered ? <Empty title="No finding matches">No finding in {name} matches all filters. <button type="button" className="link-button" onClick={() => narrow({ q: undefined, severity: undefined, exploited: undefined, since: undefined, package: undefined, vulnerability: undefined, ecosystem: undefined, assignee: undefined })}>Show all of them</button></Empty>
          : isUnknown ? <Empty title="Findings are unknown">{image || numbers.images === 1 ? 'The image has no SBOM' : `None of ${plural(numbers.images, 'image')} has an SBOM`}: see <a href="/guide/importing">importing</a>.</Empty> : <Empty title={view.value === '' ? 'No open findings' : 'No findings'}>{view.none}{view.value === '' && <> The packages of an image come from its SBOM: see <a href="/guide/importing">importing</a>.</>}</Empty>}</div>
        : by ? <Groups by={by} data={groups.data!} names={names} loading={loading} />
        : <Table label="Findings" kind="finding-columns" columns={shown} rows={rows} total={total} keyOf={(row) => row.uid} height={height} measured busy={loading} end={list.readMore} sorting={sorting} opening={opening} marking={marking}
            story={(row) => <><Facts finding={row} /><Decision finding={row} /></>} />}
      <ListProblems list={list} />
      {started && rows.length > 0 && !list.stopped && <p className="end" aria-live="polite">{list.more ? 'Loading more …' : rows.length > 20 ? `End of the list: ${plural(rows.length, 'finding')}.` : ''}</p>}
    </>
  );
}

/** This button lists the filters that a reader can type. */
function FilterHelp() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="icon-button" aria-haspopup="dialog" aria-label="Filters to type" title="Filters to type" onClick={() => setOpen(true)}><Icon name="help" /></button>
      <Dialog open={open} onClose={() => setOpen(false)} label="Filters to type" className="form">
        <div><header><h2>Filters to type</h2><button type="button" className="icon-button" aria-label="Close" onClick={() => setOpen(false)}><Icon name="close" /></button></header>
          <p>Type filters beside words: <code>is:exploited epss:&gt;=0.5 openssl</code>. Commas mean any of the values: <code>severity:critical,high</code>.</p>
          <dl className="fields keys" tabIndex={0}>{filterHelp.map(([name, takes]) => <div key={name}><dt><code>{name}:</code></dt><dd>{takes}</dd></div>)}</dl></div>
      </Dialog>
    </>
  );
}

const enums: Record<string, string> = { states: 'FINDING_STATE_', severities: 'SEVERITY_RATING_', scopes: 'PACKAGE_SCOPE_' };

/** Returns a filter as the endpoint of exports takes it. */
const exportFilter = (where: FindingFilter) => Object.fromEntries(Object.entries(where).map(([name, value]) => [name, Array.isArray(value) ? value.map((one) => (enums[name] ?? '') + one) : String(value)]));

const noRows: FindingRowFragment[] = [];
const mostDecided = 10_000; // The server decides about more findings in the background.

/** Returns the other ids of the vulnerability of a finding. */
const otherNames = ({ vulnerabilityId, sources, advisory }: FindingRowFragment) => [...new Set([...sources, ...advisory?.aliases ?? []])].filter((name) => name !== vulnerabilityId).sort();

/** Returns the address of the page of an advisory, as the group of the repo sees it. */
const advisoryAddress = ({ repo, vulnerabilityId }: FindingRowFragment) => (repo?.group ? groupAddress(namesOf(repo.group), repo.group.uid, 'advisories', { id: vulnerabilityId }) : '/console');

function Facts({ finding }: { finding: FindingRowFragment }) {
  const { disputedBy, repo, tags, fixedVersions } = finding, names = [...namesOf(repo?.group)], others = otherNames(finding);
  const fixed = useData(FixedInDocument, { uid: finding.uid }).data?.finding?.fixedIn?.nodes;
  return (
    <dl>
      <div><dt>Advisory</dt><dd><Link to={advisoryAddress(finding)}>{finding.vulnerabilityId}</Link> <CopyButton text={finding.vulnerabilityId} label={`Copy ${finding.vulnerabilityId}`} />{others.length > 0 && <span className="dim"> {others.join(', ')}</span>}</dd></div>
      {disputedBy.length > 0 && <div><dt>Disputed by</dt><dd>{disputedBy.join(', ')} (this version is not affected)</dd></div>}
      <div><dt>Package</dt><dd>{repo?.group && finding.package !== finding.digest ? <Link to={packageAddress(names, repo.group.uid, { name: finding.package, ecosystem: finding.ecosystem })}>{finding.package}</Link> : nameOfPackage(finding)}{finding.ecosystem && ` (${finding.ecosystem})`}</dd></div>
      <div><dt>Installed</dt><dd>{finding.installedVersion ?? 'Unknown: only the name of the package matches. Import an SBOM of the image to compare versions.'}</dd></div>
      <div><dt>Fixed in</dt><dd>{fixedVersions.join(', ') || 'No version yet'}</dd></div>
      {repo && <div><dt>Image</dt><dd><Link to={imageAddress(names, repo, finding.digest)}>{shortDigest(finding.digest)}</Link></dd></div>}
      {repo && <div><dt>Tags</dt><dd>{tags?.nodes.map((tag, i) => <span key={tag.uid}>{i > 0 && ', '}<Link to={repoAddress(names, repo, { tag: tag.name })}>{repo.name}:{tag.name}</Link></span>)}{tags && tags.totalCount > tags.nodes.length && ` and ${count(tags.totalCount - tags.nodes.length)} more`}</dd></div>}
      {repo && fixed && fixed.length > 0 && <div><dt>Tags without it</dt><dd>{fixed.map((tag, i) => <span key={tag.uid}>{i > 0 && ', '}<Link to={repoAddress(names, repo, { tag: tag.name })}>{repo.name}:{tag.name}</Link></span>)}</dd></div>}
      {finding.epss !== null && <div><dt>EPSS score</dt><dd>{(finding.epss * 100).toFixed(1)}%: probability of exploitation within 30 days</dd></div>}
      <div><dt>First seen</dt><dd>{dayOf(finding.firstSeenTime)}</dd></div>
    </dl>
  );
}

/** This part says what was decided about a finding, and lets the reader decide. */
function Decision({ finding }: { finding: FindingRowFragment }) {
  const { state, expireTime, dueTime, note, justification, assignee, decidedBy, decider } = finding;
  return (
    <div>
      <dl>
        <div><dt>State</dt><dd><span className={'state ' + stateKinds[state]}>{stateNames[state]}</span></dd></div>
        {justification && <div><dt>Reason</dt><dd>{reasonOf(justification)}</dd></div>}
        {decidedBy && <div><dt>Decided by</dt><dd>{decider?.name ?? decidedBy}</dd></div>}
        {note && <div><dt>Note</dt><dd>{note}</dd></div>}
        {expireTime && <div><dt>Until</dt><dd>{dayOf(expireTime)}, then it is open again</dd></div>}
        {dueTime && <div><dt>Fix by</dt><dd>{dayOf(dueTime)}</dd></div>}
        {assignee && <div><dt>Assigned to</dt><dd>{assignee.name}</dd></div>}
      </dl>
      <div className="actions"><Decide held={{ capabilities: finding.viewerCapabilities, on: finding.repo?.name ?? 'its repo' }} label="Decide" about={`${finding.vulnerabilityId} in ${nameOfPackage(finding)}`} fixed={{ uids: [finding.uid] }} former={[finding]} /></div>
    </div>
  );
}
