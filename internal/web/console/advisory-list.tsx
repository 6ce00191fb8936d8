import type { AdvisoryHappeningFragment, AdvisoryRowFragment } from './generated/graphql';
import type { Column } from './table';
import { Severity, Time } from './ui';
import { count, dayOf, sentence } from './words';

type Event = AdvisoryHappeningFragment;

const states: Record<string, [string, string]> = {
  FIXED: ['fixed', 'Fixed'], PATCHED: ['fixed', 'Patched'], FALSE_POSITIVE_DETERMINATION: ['clear', 'Not affected'], FIX_NOT_PLANNED: ['open', 'No fix planned'],
  PENDING_UPSTREAM_FIX: ['open', 'Waiting for upstream'], TRUE_POSITIVE_DETERMINATION: ['open', 'Affected'], DETECTION: ['open', 'Detected'], ANALYSIS_NOT_PLANNED: ['open', 'No analysis planned'],
};

/** Returns the latest event, which decides the state. Of several events with the same time, the last one in the list counts. */
function latest(events: Event[]): Event | undefined {
  return events.reduce<Event | undefined>((found, event) => (!found || Date.parse(event.createTime ?? '') >= Date.parse(found.createTime ?? '') || !event.createTime && !found.createTime ? event : found), undefined);
}

const stateOf = ({ events }: { events: Event[] }) => states[latest(events)?.type ?? ''] ?? ['open', 'Open'];

export function State({ advisory }: { advisory: { events: Event[]; deleteTime: string | null } }) {
  if (advisory.deleteTime) return <span className="state">Withdrawn</span>;
  const [kind, words] = stateOf(advisory);
  return <span className={'state ' + kind}>{words}</span>;
}

export const advisorySorts = { severity: { field: 'SEVERITY', direction: 'DESC' }, newest: { field: 'CREATE_TIME', direction: 'DESC' }, changed: { field: 'UPDATE_TIME', direction: 'DESC' }, name: { field: 'ADVISORY_ID', direction: 'ASC' }, package: { field: 'ARTIFACT_NAME', direction: 'ASC' } } as const;

const summaryOf = ({ vulnerabilities }: AdvisoryRowFragment) => (vulnerabilities ?? []).map((one) => one.summary).find(Boolean);

export const advisoryColumns: Column<AdvisoryRowFragment, keyof typeof advisorySorts>[] = [
  { key: 'severity', label: 'Severity', width: '8rem', by: 'severity', text: ({ severity }) => sentence(severity.rating), cell: ({ severity }) => <Severity rating={severity.rating} score={severity.score} /> },
  { key: 'id', label: 'Advisory', names: true, width: 'minmax(0, 1.6fr)', className: 'main', by: 'name', text: ({ advisoryId }) => advisoryId,
    cell: (row) => <span className="two"><b>{row.advisoryId}</b><small>{summaryOf(row) ?? (row.aliases.join(', ') || 'No summary')}</small></span> },
  { key: 'affected', label: 'Affected', width: 'minmax(0, 1fr)', className: 'package cut', by: 'package', text: ({ artifactName, componentName }) => [artifactName, componentName].filter(Boolean).join(' '), cell: ({ artifactName, componentName }) => <>{artifactName}{componentName && <span className="dim"> · {componentName}</span>}</> },
  { key: 'state', label: 'State', width: '10.5rem', text: (row) => (row.deleteTime ? 'Withdrawn' : stateOf(row)[1]), cell: (row) => <State advisory={row} /> },
  { key: 'findings', label: 'Open findings', width: '7rem', className: 'held', text: ({ findings }) => findings?.totalCount,
    cell: ({ findings }) => (findings ? findings.totalCount === 0 ? <span className="dim">none</span> : <>{count(findings.totalCount)}<span className="unit"> open {findings.totalCount === 1 ? 'finding' : 'findings'}</span></> : '') },
  { key: 'published', label: 'Published', width: '7rem', className: 'when dim', wide: true, by: 'newest', text: ({ createTime }) => createTime, cell: ({ createTime }) => <Time at={createTime} /> },
];

// A file also has what a row shows in small.
export const advisoryFileColumns: Pick<Column<AdvisoryRowFragment>, 'label' | 'text'>[] = [
  { label: 'Score', text: ({ severity }) => severity.score }, { label: 'Aliases', text: ({ aliases }) => aliases.join(' ') }, { label: 'Summary', text: summaryOf }, { label: 'UID', text: ({ uid }) => uid },
];

function noteOf({ detail, author }: Event): string {
  return partsOf(detail, author).filter(Boolean).map((text) => String(text).replace(/\.$/, '')).join('. ');
}

function partsOf(detail: Event['detail'], author: string | null): (string | null | false)[] {
  switch (detail.__typename) {
    case 'AdvisoryDetection': {
      const { nvdapi, scanv1: scan } = detail;
      if (scan) return [['Found', scan.scanner && `by ${scan.scanner}`, scan.component && `in ${scan.component} ${scan.componentVersion ?? ''}`].filter(Boolean).join(' ')];
      return [nvdapi ? 'Found in the National Vulnerability Database' : author ? `Listed by ${author}, imported` : 'Imported from its feed'];
    }
    case 'AdvisoryFix': return [detail.fixedVersion && `In version ${detail.fixedVersion}`, detail.note];
    case 'AdvisoryPatch': return [detail.patchedVersions.length > 0 && `In ${detail.patchedVersions.join(', ')}`, detail.note];
    case 'AdvisoryFalsePositive': return [detail.reason && sentence(detail.reason), detail.note];
    default: return [detail.note];
  }
}

export function Timeline({ events, withdrawn }: { events: Event[]; withdrawn: string | null }) {
  return (
    <ol className="timeline" aria-label="Timeline">
      {events.map((event, i) => (
        <li key={i} className={event.type}><b>{states[event.type]?.[1] ?? sentence(event.type)}</b>{noteOf(event) && <p>{noteOf(event)}</p>}
          <small>{[event.createTime && dayOf(event.createTime), event.type !== 'DETECTION' && event.author].filter(Boolean).join(' · ')}</small></li>
      ))}
      {withdrawn && <li><b>Withdrawn</b><small>{dayOf(withdrawn)}</small></li>}
      {events.length === 0 && !withdrawn && <li><b>No events</b><small>Its source has none.</small></li>}
    </ol>
  );
}
