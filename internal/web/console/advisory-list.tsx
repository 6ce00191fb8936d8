import { useId } from 'react';
import type { AdvisoryRowFragment } from './generated/graphql';
import { Link } from './router';
import { CopyButton, Severity, Time } from './ui';
import { count, dayOf, plural, sentence } from './words';

type Event = AdvisoryRowFragment['events'][number];

const states: Record<string, [string, string]> = {
  FIXED: ['fixed', 'Fixed'], PATCHED: ['fixed', 'Patched'], FALSE_POSITIVE_DETERMINATION: ['clear', 'Not affected'], FIX_NOT_PLANNED: ['open', 'No fix planned'],
  PENDING_UPSTREAM_FIX: ['open', 'Waits for upstream'], TRUE_POSITIVE_DETERMINATION: ['open', 'Affected'], DETECTION: ['open', 'Detected'], ANALYSIS_NOT_PLANNED: ['open', 'Not examined'],
};

/** Returns the latest event, which decides the state. Of several events with the same time, the last one in the list counts. */
function latest(events: Event[]): Event | undefined {
  return events.reduce<Event | undefined>((found, event) => (!found || Date.parse(event.createTime ?? '') >= Date.parse(found.createTime ?? '') || !event.createTime && !found.createTime ? event : found), undefined);
}

export function State({ advisory }: { advisory: AdvisoryRowFragment }) {
  if (advisory.deleteTime) return <span className="state">Withdrawn</span>;
  const [kind, words] = states[latest(advisory.events)?.type ?? ''] ?? ['open', 'Open'];
  return <span className={'state ' + kind}>{words}</span>;
}

/** This row shows an advisory in one line. Its story opens below the line. */
export function AdvisoryRow({ advisory, open, onToggle, onPackage, findings }: { advisory: AdvisoryRowFragment; findings: string; open: boolean; onToggle: () => void; onPackage?: (name: string) => void }) {
  const story = useId(), [summary] = (advisory.vulnerabilities ?? []).map((one) => one.summary).filter(Boolean);
  return (
    <div className={advisory.deleteTime ? 'advisory withdrawn' : 'advisory'}>
      <button type="button" className="advisory-columns" aria-expanded={open} aria-controls={story} onClick={onToggle}>
        <Severity rating={advisory.severity.rating} score={advisory.severity.score} />
        <span className="two"><b>{advisory.advisoryId}</b><small>{summary ?? (advisory.aliases.join(', ') || 'No summary')}</small></span>
        <span className="package cut">{advisory.artifactName}{advisory.componentName && <span className="dim"> · {advisory.componentName}</span>}</span>
        <State advisory={advisory} />
        <span className="held">{advisory.findings ? advisory.findings.totalCount === 0 ? <span className="dim">none</span> : <>{count(advisory.findings.totalCount)}<span className="unit"> open {advisory.findings.totalCount === 1 ? 'finding' : 'findings'}</span></> : ''}</span>
        <span className="when dim"><Time at={advisory.createTime} /></span>
      </button>
      {open && <div id={story} className="story"><Facts advisory={advisory} onPackage={onPackage} findings={findings} /><Timeline events={advisory.events} withdrawn={advisory.deleteTime} /></div>}
    </div>
  );
}

function Facts({ advisory, onPackage, findings }: { advisory: AdvisoryRowFragment; findings: string; onPackage?: (name: string) => void }) {
  const { severity } = advisory;
  return (
    <dl>
      <div><dt>Advisory</dt><dd>{advisory.advisoryId} <CopyButton text={advisory.advisoryId} label={`Copy ${advisory.advisoryId}`} /></dd></div>
      {advisory.aliases.length > 0 && <div><dt>Also known as</dt><dd>{advisory.aliases.join(', ')}</dd></div>}
      <div><dt>Artifact</dt><dd>{advisory.artifactName}{advisory.artifactType && ` (${advisory.artifactType})`}{onPackage && <button type="button" className="link-button" onClick={() => onPackage(advisory.artifactName)}>Only this artifact</button>}</dd></div>
      {advisory.componentName && <div><dt>Component</dt><dd>{advisory.componentName}</dd></div>}
      {severity.vector && <div><dt>CVSS {severity.version}</dt><dd><code>{severity.vector}</code></dd></div>}
      {(advisory.vulnerabilities ?? []).filter(({ summary }) => summary).map(({ vulnerabilityId, summary }) => <div key={vulnerabilityId}><dt>Summary</dt><dd>{summary}</dd></div>)}
      {advisory.findings && <div><dt>In images</dt><dd>{advisory.findings.totalCount === 0 ? 'No open finding' : <Link to={findings}>{plural(advisory.findings.totalCount, 'open finding')}</Link>}</dd></div>}
      <div><dt>Published</dt><dd>{dayOf(advisory.createTime)}</dd></div>
      <div><dt>Last changed</dt><dd>{dayOf(advisory.updateTime)}</dd></div>
    </dl>
  );
}

function noteOf(event: Event): string {
  const fix = event.fixed, patch = event.patched, scan = event.detection?.scanv1, judged = event.falsePositiveDetermination;
  return [
    fix?.fixedVersion && `In version ${fix.fixedVersion}`, fix?.note, patch && patch.patchedVersions.length > 0 && `In ${patch.patchedVersions.join(', ')}`, patch?.note,
    scan && ['Found', scan.scanner && `by ${scan.scanner}`, scan.component && `in ${scan.component} ${scan.componentVersion ?? ''}`].filter(Boolean).join(' '),
    event.type === 'DETECTION' && !scan && 'Found by a person', judged?.type && sentence(judged.type), judged?.note,
    event.truePositiveDetermination?.note, event.analysisNotPlanned?.note, event.fixNotPlanned?.note, event.pendingUpstreamFix?.note,
  ].filter(Boolean).map((text) => String(text).replace(/\.$/, '')).join('. ');
}

function Timeline({ events, withdrawn }: { events: Event[]; withdrawn: string | null }) {
  return (
    <ol className="timeline" aria-label="Timeline">
      {events.map((event, i) => (
        <li key={i} className={event.type}><b>{states[event.type]?.[1] ?? sentence(event.type)}</b>{noteOf(event) && <p>{noteOf(event)}</p>}
          <small>{[event.createTime && dayOf(event.createTime), event.author].filter(Boolean).join(' · ')}</small></li>
      ))}
      {withdrawn && <li><b>Withdrawn</b><small>{dayOf(withdrawn)}</small></li>}
      {events.length === 0 && !withdrawn && <li><b>No events</b><small>Its source lists none.</small></li>}
    </ol>
  );
}
