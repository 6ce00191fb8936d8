import { useEffect, useState } from 'react';
import { useChange, useData, type Problem } from '../client';
import { Action, ConfirmButton, FormButton, reasonAgainst, Refusal, type Field, type Holding } from '../form';
import {
  CancelSource, CreateSource, DeleteSource, RunSource, SourceRuns, Sources as SourcesDocument, UpdateSource, type ReadSourceFragment, type SourceState, type SourcesQuery,
} from '../generated/graphql';
import { groupAddress } from '../places';
import { Link, useLocation } from '../router';
import { Card, Empty, Lines, namesOf, Problems, Time } from '../ui';
import { count, formatTime, plural } from '../words';

type Row = NonNullable<SourcesQuery['sources']>['nodes'][number];

const types = [
  { value: 'OSV', name: 'Advisories', about: 'OSV records: an archive, a document, or a folder as osv.dev has it' }, { value: 'OCI', name: 'Registry', about: 'repos, tags, images and SBOMs' },
  { value: 'VEX', name: 'VEX', about: 'decisions about findings: a document, an archive or an index' }, { value: 'SBOM', name: 'SBOM', about: 'what images hold: a document, an archive or an index' },
];
const isOf = (type: string) => (values: Record<string, unknown>) => values.type === type;
const changeable: Field[] = [
  { name: 'name', label: 'Name', placeholder: 'our advisories' },
  { name: 'url', label: 'URL', code: true, placeholder: 'https://git.example.com/advisories/archive/main.tar.gz' },
  { name: 'interval', label: 'Interval' },
  { name: 'credentials.username', label: 'User name', hint: 'Without a user name, the password is sent as a token.' },
  { name: 'credentials.password', label: 'Password or token', code: true, hint: 'It is stored encrypted and never shown. It is sent only to the host of the URL.' },
];
const created: Field[] = [
  changeable[0], { name: 'type', label: 'Type', choices: types }, changeable[1],
  { name: 'ecosystems', label: 'Ecosystems', hint: 'Such as Go, npm or Debian:12, if the URL is a folder that contains ecosystems.', shown: isOf('OSV') },
  { name: 'patterns', label: 'Repos', hint: 'Patterns such as shop/*. Without one, all repos are read.', shown: isOf('OCI') },
  { name: 'prune', label: 'Remove tags that the registry no longer has', shown: isOf('OCI') },
  ...changeable.slice(2),
];

/** This page shows what the server reads by itself: the sources below a group, and the feeds of the operator. */
export function Sources({ uid, names }: { uid: string; names: string[] }) {
  const chosen = useLocation().search.get('source'), loaded = useData(SourcesDocument, { uid }), { data, loading } = loaded, name = names.at(-1)!;
  const rows = data?.sources?.nodes, feeds = data?.feeds?.nodes ?? [];
  const moves = [...(rows ?? []), ...feeds].some(({ state, nextRunTime }) => state === 'RUNNING' || (nextRunTime && Date.parse(nextRunTime) <= Date.now()));
  useEffect(() => {
    if (!moves) return;
    const timer = setTimeout(loaded.reload, 3000);
    return () => clearTimeout(timer);
  }, [moves, data]);
  const shown = [...(rows ?? []), ...feeds].find((one) => one.uid === chosen);
  if (chosen) return <Source uid={chosen} source={shown} page={groupAddress(names, uid, 'sources')} loading={loading} />;
  return (
    <div className="page">
      <div className="title"><h1>Sources</h1><div className="actions">{data?.group && (
        <FormButton label="New source" icon="plus" held={{ capabilities: data.group.viewerCapabilities, on: name }} document={CreateSource} title={`New source in ${name}`} submit="Create the source" lead={`The server reads the source at intervals, and imports its contents into ${name}.`}
          fields={created} fixed={{ parent: uid }} start={{ type: 'OSV' }} unique="name" affects={['Source', 'Group']} onDone={() => loaded.reload()} />)}</div></div>
      <p className="lead">Sources that the server reads at intervals into {names.join(' / ')} and below. The guide explains <a href="/guide/feeds">feeds and sources</a>.</p>
      {!rows ? loading ? <div className="card below-lead"><Lines rows={4} height={34} /></div> : <Problems loaded={loaded} />
        : <div className="grid"><Card title={plural(rows.length, 'source')} className="wide-12">{rows.length === 0 ? <Empty title="No sources yet">A source is a place with advisories, VEX or SBOM documents, or a registry, that the server reads at intervals.</Empty> : <Table rows={rows} names={names} uid={uid} label="Sources" />}</Card>
          <Card title="Feeds for all organizations" className="wide-12">{feeds.length === 0 ? <Empty title="No feeds">The operator has configured no feeds, so advisories are as old as the last import.</Empty> : <Table rows={feeds} names={names} uid={uid} label="Feeds" />}</Card></div>}
    </div>
  );
}

function Table({ rows, names, uid, label }: { rows: ReadSourceFragment[]; names: string[]; uid: string; label: string }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}><table className="plain-table stacks sources">
      <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">State</th><th scope="col">Last read</th><th scope="col">Next</th><th scope="col">Last report</th></tr></thead>
      <tbody>{rows.map((one) => (
        <tr key={one.uid}>
          <th scope="row"><Link to={groupAddress(names, uid, 'sources', { source: one.uid })}>{one.name}</Link>{one.group && one.group.uid !== uid && <small className="dim">in {namesOf(one.group).join(' / ')}</small>}</th>
          <td data-label="Type">{one.type}</td>
          <td data-label="State"><State of={one} /></td>
          <td data-label="Last read">{one.lastSuccessTime ? <Time at={one.lastSuccessTime} /> : 'never'}</td>
          <td data-label="Next" className="dim"><Next of={one} /></td>
          <td data-label="Last report" className="dim report">{one.lastRun ? one.lastRun.error ?? reportOf(one.lastRun) : '–'}</td>
        </tr>
      ))}</tbody>
    </table></div>
  );
}

const states: Record<SourceState, { name: string; className?: string }> = { WAITING: { name: 'Not read yet' }, RUNNING: { name: 'Running', className: 'open' }, SUCCEEDED: { name: 'Working', className: 'fixed' }, FAILED: { name: 'Failing', className: 'bad' }, CANCELLED: { name: 'Canceled' } };

const endings: Partial<Record<SourceState, string>> = { SUCCEEDED: 'Done', FAILED: 'Failed' };

/** Shows when a source is read next. One that is due waits for a server that is free. */
function Next({ of: { state, nextRunTime } }: { of: ReadSourceFragment }) {
  if (state === 'RUNNING') return <>now</>;
  if (!nextRunTime) return <>–</>;
  return Date.parse(nextRunTime) <= Date.now() ? <>soon</> : <Time at={nextRunTime} />;
}

/** Reports whether a source was not read for three of its intervals. */
const isOld = ({ paused, lastSuccessTime, createTime, interval }: ReadSourceFragment) => !paused && Date.now() - Date.parse(lastSuccessTime ?? createTime) > 3000 * parseFloat(interval);

function State({ of: one }: { of: ReadSourceFragment }) {
  const { name, className = '' } = one.state !== 'RUNNING' && one.paused ? { name: 'Paused' } : states[one.state];
  return <><span className={`state ${className}`.trim()} title={one.failingSince ? `Failing since ${formatTime(one.failingSince)}` : undefined}>{name}</span>{isOld(one) && <span className="state bad">Out of date</span>}</>;
}

interface Report { isUnchanged: boolean; records: { kind: string; added: number; updated: number; unchanged: number; failed: number; removed: number }[]; problemCount: number }

/** Says what came of a run. */
function reportOf({ isUnchanged, records, problemCount }: Report): string {
  if (isUnchanged) return 'nothing new';
  const parts = records.flatMap(({ kind, ...counts }) => {
    const told = Object.entries(counts).filter(([verb, n]) => typeof n === 'number' && n > 0 && verb !== 'unchanged').map(([verb, n]) => `${count(n as number)} ${verb === 'failed' ? 'refused' : verb}`);
    return told.length > 0 ? [`${kind}: ${told.join(', ')}`] : [];
  });
  if (problemCount > 0) parts.push(plural(problemCount, 'problem'));
  return parts.join('; ') || 'nothing changed';
}

function Source({ uid, source, page, loading }: { uid: string; source?: Row | ReadSourceFragment; page: string; loading: boolean }) {
  const runs = useData(SourceRuns, { uid }), [problems, setProblems] = useState<Problem[]>([]);
  const run = useChange(RunSource, ['Source']), cancel = useChange(CancelSource, ['Source']);
  useEffect(() => { runs.reload(); }, [source?.lastRun?.number]);
  if (!source) return <div className="page"><p className="back"><Link to={page}>Sources</Link></p><div className="title"><h1>Source</h1></div>{loading ? <Lines rows={6} height={30} /> : <Empty title="Source not found">It may have been deleted.</Empty>}</div>;
  const held: Holding = { capabilities: 'viewerCapabilities' in source ? source.viewerCapabilities : [], on: source.name }, act = async (made: Promise<{ problems: Problem[] }>) => setProblems((await made).problems);
  const all = runs.data?.source?.runs;
  return (
    <div className="page">
      <p className="back"><Link to={page}>Sources</Link></p>
      <div className="title"><h1>{source.name}</h1>
        <div className="actions">
          {source.state === 'RUNNING' ? <Action icon="pause" reason={reasonAgainst(CancelSource, held)} busy={cancel.busy} onClick={() => void act(cancel.run({ uid }))}>Cancel the run</Action>
            : <Action icon="play" reason={reasonAgainst(RunSource, held)} busy={run.busy} onClick={() => void act(run.run({ uid }))}>Run now</Action>}
          {source.group && <>
            <FormButton label="Edit" icon="edit" held={held} document={UpdateSource} title={`Edit the source ${source.name}`} submit="Save" fields={[...changeable, { name: 'paused', label: 'Paused: read it only with “Run now”' }]} fixed={{ uid }} resource={source} unique="name" affects={['Source']} onDone={() => {}} />
            <ConfirmButton label="Delete" icon="bin" held={held} document={DeleteSource} input={{ uid }} title={`Delete the source ${source.name}?`} submit="Delete the source" affects={['Source', 'Group']} onDone={() => {}}>
              <p>The server no longer reads this source. Data that was imported from it stays.</p>
            </ConfirmButton>
          </>}
        </div>
      </div>
      <Refusal problems={problems} />
      <dl className="facts">
        <div><dt>State</dt><dd><State of={source} /></dd></div>
        <div><dt>Type</dt><dd>{source.type}{source.ecosystems.length > 0 && `: ${source.ecosystems.join(', ')}`}{source.patterns.length > 0 && `: ${source.patterns.join(', ')}`}</dd></div>
        <div><dt>URL</dt><dd><code>{source.url}</code></dd></div>
        <div><dt>Into</dt><dd>{source.group ? <Link to={groupAddress(namesOf(source.group), source.group.uid)}>{namesOf(source.group).join(' / ')}</Link> : 'all organizations'}</dd></div>
        <div><dt>Last read</dt><dd>{source.lastSuccessTime ? formatTime(source.lastSuccessTime) : 'never'}</dd></div>
        {source.failingSince && <div><dt>Failing since</dt><dd>{formatTime(source.failingSince)}</dd></div>}
        {source.nextRunTime && source.state !== 'RUNNING' && <div><dt>Next</dt><dd><Next of={source} /></dd></div>}
      </dl>
      <div className="grid"><Card title="Runs" className="wide-12">{!all ? runs.loading ? <Lines rows={5} height={30} /> : <Problems loaded={runs} /> : all.length === 0 ? <Empty title="No runs yet">{source.state === 'RUNNING' ? 'The first run is in progress.' : source.nextRunTime ? 'The first run starts as soon as a server is free.' : 'The source is paused. Choose “Run now” to read it.'}</Empty> : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Runs"><table className="plain-table stacks sources">
          <thead><tr><th scope="col">Run</th><th scope="col">State</th><th scope="col">Started</th><th scope="col">Report</th></tr></thead>
          <tbody>{all.map((one) => (
            <tr key={one.number}><th scope="row">{one.number}</th><td data-label="State"><span className={`state ${states[one.state].className ?? ''}`.trim()}>{endings[one.state] ?? states[one.state].name}</span></td><td data-label="Started"><Time at={one.startTime} /></td>
              <td data-label="Report" className="report">{one.error ?? reportOf(one)}{one.problems.length > 0 && <ul className="stacked">{one.problems.map((problem, i) => <li key={i} className="dim">{problem}</li>)}</ul>}</td></tr>
          ))}</tbody>
        </table></div>)}</Card></div>
    </div>
  );
}
