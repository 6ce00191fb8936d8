import type { AdvisoryHappeningFragment, AdvisoryRowFragment } from './generated/graphql';
import { Link } from './router';
import { Severity, Time } from './ui';
import { count, dayOf, sentence } from './words';

type Event = AdvisoryHappeningFragment;

const states: Record<string, [string, string]> = {
  FIXED: ['fixed', 'Fixed'], PATCHED: ['fixed', 'Patched'], FALSE_POSITIVE_DETERMINATION: ['clear', 'Not affected'], FIX_NOT_PLANNED: ['open', 'No fix planned'],
  PENDING_UPSTREAM_FIX: ['open', 'Waits for upstream'], TRUE_POSITIVE_DETERMINATION: ['open', 'Affected'], DETECTION: ['open', 'Detected'], ANALYSIS_NOT_PLANNED: ['open', 'Not examined'],
};

/** Returns the latest event, which decides the state. Of several events with the same time, the last one in the list counts. */
function latest(events: Event[]): Event | undefined {
  return events.reduce<Event | undefined>((found, event) => (!found || Date.parse(event.createTime ?? '') >= Date.parse(found.createTime ?? '') || !event.createTime && !found.createTime ? event : found), undefined);
}

export function State({ advisory }: { advisory: { events: Event[]; deleteTime: string | null } }) {
  if (advisory.deleteTime) return <span className="state">Withdrawn</span>;
  const [kind, words] = states[latest(advisory.events)?.type ?? ''] ?? ['open', 'Open'];
  return <span className={'state ' + kind}>{words}</span>;
}

/** This row shows an advisory in one line, and leads to its page. */
export function AdvisoryRow({ advisory, to }: { advisory: AdvisoryRowFragment; to: string }) {
  const [summary] = (advisory.vulnerabilities ?? []).map((one) => one.summary).filter(Boolean);
  return (
    <Link className={advisory.deleteTime ? 'cells advisory-columns withdrawn' : 'cells advisory-columns'} to={to}>
      <Severity rating={advisory.severity.rating} score={advisory.severity.score} />
      <span className="two"><b>{advisory.advisoryId}</b><small>{summary ?? (advisory.aliases.join(', ') || 'No summary')}</small></span>
      <span className="package cut">{advisory.artifactName}{advisory.componentName && <span className="dim"> · {advisory.componentName}</span>}</span>
      <State advisory={advisory} />
      <span className="held">{advisory.findings ? advisory.findings.totalCount === 0 ? <span className="dim">none</span> : <>{count(advisory.findings.totalCount)}<span className="unit"> open {advisory.findings.totalCount === 1 ? 'finding' : 'findings'}</span></> : ''}</span>
      <span className="when dim"><Time at={advisory.createTime} /></span>
    </Link>
  );
}

function noteOf(event: Event): string {
  const fix = event.fixed, patch = event.patched, scan = event.detection?.scanv1, judged = event.falsePositiveDetermination;
  return [
    fix?.fixedVersion && `In version ${fix.fixedVersion}`, fix?.note, patch && patch.patchedVersions.length > 0 && `In ${patch.patchedVersions.join(', ')}`, patch?.note,
    scan && ['Found', scan.scanner && `by ${scan.scanner}`, scan.component && `in ${scan.component} ${scan.componentVersion ?? ''}`].filter(Boolean).join(' '),
    event.detection?.nvdapi && 'Found in the National Vulnerability Database', event.type === 'DETECTION' && !scan && !event.detection?.nvdapi && (event.author ? `Listed by ${event.author}, imported` : 'Imported from its feed'), judged?.type && sentence(judged.type), judged?.note,
    event.truePositiveDetermination?.note, event.analysisNotPlanned?.note, event.fixNotPlanned?.note, event.pendingUpstreamFix?.note,
  ].filter(Boolean).map((text) => String(text).replace(/\.$/, '')).join('. ');
}

export function Timeline({ events, withdrawn }: { events: Event[]; withdrawn: string | null }) {
  return (
    <ol className="timeline" aria-label="Timeline">
      {events.map((event, i) => (
        <li key={i} className={event.type}><b>{states[event.type]?.[1] ?? sentence(event.type)}</b>{noteOf(event) && <p>{noteOf(event)}</p>}
          <small>{[event.createTime && dayOf(event.createTime), event.type !== 'DETECTION' && event.author].filter(Boolean).join(' · ')}</small></li>
      ))}
      {withdrawn && <li><b>Withdrawn</b><small>{dayOf(withdrawn)}</small></li>}
      {events.length === 0 && !withdrawn && <li><b>No events</b><small>Its source lists none.</small></li>}
    </ol>
  );
}
