// This file has the page of a vulnerability: what is known of it, and what it affects.

import type { ReactNode } from 'react';
import { State, Timeline } from './advisory-list';
import { useData } from './client';
import { Decide, nameOfPackage, reasonOf, stateKinds, stateNames } from './finding-list';
import { Vulnerability as VulnerabilityDocument, type AdvisoryStoryFragment, type VulnerabilityQuery } from './generated/graphql';
import { Markdown } from './markdown';
import { packageAddress } from './package-list';
import { groupAddress, imageAddress, repoAddress } from './places';
import { Link } from './router';
import { Card, CopyButton, Empty, Icon, Lines, namesOf, NotShown, Problems, Severity, Time } from './ui';
import { compareTags } from './versions';
import { actorOf, count, dayOf, plural } from './words';

type Exposure = NonNullable<VulnerabilityQuery['vulnerability']>;
type Found = NonNullable<VulnerabilityQuery['findings']>['nodes'][number];

/** This page shows a vulnerability by any of its names, and the findings of it below a group. */
export function Advisory({ id, uid, names }: { id: string; uid: string; names: string[] }) {
  const loaded = useData(VulnerabilityDocument, { id, uid, history: true }), { data, loading } = loaded, exposure = data?.vulnerability;
  if (!data && !loading || data && !exposure) return <div className="page"><Problems loaded={loaded} /></div>;
  if (!data || !exposure) return <div className="page"><p className="back"><Link to={groupAddress(names, uid, 'advisories')}>Advisories</Link></p><div className="title"><h1>{id}</h1></div><Lines rows={9} height={40} /></div>;
  const findings = data.findings?.nodes, stories = storiesOf(exposure, data.above?.nodes);
  const known = exposure.metadata || stories.length > 0 || (findings?.length ?? 0) > 0;
  const worst = stories.find(({ severity }) => severity.vector) ?? stories[0], summary = exposure.metadata?.summary;
  return (
    <div className="page">
      <p className="back"><Link to={groupAddress(names, uid, 'advisories')}>Advisories</Link></p>
      <div className="title"><h1>{id}</h1><CopyButton text={id} label={`Copy ${id}`} />{worst && <Severity rating={worst.severity.rating} score={worst.severity.score} />}{exposure.exploitation?.knownExploited && <span className="chip bad">known to be exploited</span>}</div>
      <p className="lead">{summary ?? (known ? 'No summary' : 'Not in any feed here')}</p>
      {known && <Names exposure={exposure} worst={worst} names={names} uid={uid} />}
      <div className="grid">
        <Card title={`In images below ${names.at(-1)}`} className="wide-12 roomy-1" aside={findings && findings.length > 0 && data.group ? <Decide held={{ capabilities: data.group.viewerCapabilities, on: names.at(-1)! }} label={`Decide here, also for later findings`} about={`${id} below ${names.at(-1)}`} fixed={{ within: uid, where: { vulnerabilityIds: [id] } }} /> : undefined}>
          {!findings ? <NotShown what="findings" /> : <Affected found={data.findings!} open={data.open?.nodes[0]} id={id} uid={uid} names={names} />}
        </Card>
        <Card title="What it is" className="wide-7">
          {exposure.metadata?.details ? <Markdown text={exposure.metadata.details} /> : <p className="dim">{known ? 'Its source has only the summary.' : 'It may be in a feed that was not imported here.'}</p>}
        </Card>
        <div className="wide-5 column">
          <Card title="References"><References exposure={exposure} /></Card>
          {data.auditLog && <Card title="Decisions"><History log={data.auditLog} ids={[id, ...exposure.names]} /></Card>}
        </div>
        {stories.length > 0 && <Card title={plural(exposure.advisories && exposure.advisories.totalCount > stories.length ? exposure.advisories.totalCount : stories.length, 'advisory', 'advisories')} className="wide-12"><ul className="stories">{stories.map((one) => <Story key={one.uid} advisory={one} names={names} uid={uid} />)}</ul></Card>}
      </div>
    </div>
  );
}

/** Returns the advisories that the reader may list, and those of findings, which may lie in a group above. */
const storiesOf = ({ advisories }: Exposure, found: { advisories: AdvisoryStoryFragment[] | null }[] = []): AdvisoryStoryFragment[] =>
  [...new Map([...advisories?.nodes ?? [], ...found.flatMap(({ advisories }) => advisories ?? [])].map((one) => [one.uid, one])).values()];

function Names({ exposure, worst, names, uid }: { exposure: Exposure; worst?: AdvisoryStoryFragment; names: string[]; uid: string }) {
  const others = exposure.names.filter((one) => one !== exposure.name), upstream = exposure.metadata?.upstream ?? [], { exploitation } = exposure;
  const list = (ids: string[]) => ids.map((id, i) => <span key={id}>{i > 0 && ', '}<NameLink id={id} here={groupAddress(names, uid, 'advisories', { id })} /></span>);
  return (
    <dl className="facts wrap">
      {others.length > 0 && <div><dt>Also known as</dt><dd>{list(others)}</dd></div>}
      {upstream.length > 0 && <div><dt>Upstream</dt><dd>{list(upstream)}</dd></div>}
      {exploitation?.knownExploitedTime && <div><dt>KEV catalog</dt><dd>listed since {dayOf(exploitation.knownExploitedTime)}</dd></div>}
      {exploitation?.epss != null && <div><dt>EPSS score</dt><dd>{(exploitation.epss * 100).toFixed(1)}%: probability of exploitation within 30 days</dd></div>}
      {worst?.severity.vector && <div><dt>CVSS {worst.severity.version}</dt><dd title={worst.severity.vector}>{vectorInWords(worst.severity.vector) ?? worst.severity.vector}</dd></div>}
    </dl>
  );
}

const places: [RegExp, (id: string) => string][] = [
  [/^CVE-/, (id) => `https://www.cve.org/CVERecord?id=${id}`], [/^GHSA-/, (id) => `https://github.com/advisories/${id}`], [/^GO-/, (id) => `https://pkg.go.dev/vuln/${id}`],
  [/^(PYSEC|RUSTSEC|BIT|DSA|DLA|USN|ALSA|RLSA|OSV|MAL|DEBIAN-CVE|UBUNTU-CVE|ALPINE-CVE)-/, (id) => `https://osv.dev/vulnerability/${id}`],
];

/** A name leads to its page here. Beside it there is a link to the database that gave the name, if that is known. */
function NameLink({ id, here }: { id: string; here: string }) {
  const place = places.find(([pattern]) => pattern.test(id))?.[1](id);
  return <><Link to={here}>{id}</Link>{place && <a href={place} target="_blank" rel="noreferrer" className="outside" aria-label={`${id} at ${new URL(place).host}`}><Icon name="external" /></a>}</>;
}

// These are the words for the letters of a CVSS vector, for versions 3 and 4.
const metrics: [string[], Record<string, string>][] = [
  [['AV'], { N: 'over the network', A: 'from the same network', L: 'with local access', P: 'with physical access' }],
  [['AC'], { L: 'low complexity', H: 'high complexity' }],
  [['PR'], { N: 'without an account', L: 'with an account', H: 'with an administrator account' }],
  [['UI'], { N: 'without user interaction', R: 'with user interaction', P: 'with user interaction', A: 'with user interaction' }],
];
const harms: [string[], string][] = [[['VC', 'C'], 'read data'], [['VI', 'I'], 'change data'], [['VA', 'A'], 'stop the service']];

/** Says in words what a CVSS vector means. */
export function vectorInWords(vector: string): string | undefined {
  const values = new Map(vector.split('/').map((part) => part.split(':') as [string, string]));
  const valueOf = (keys: string[]) => keys.map((key) => values.get(key)).find(Boolean) ?? '';
  const how = metrics.map(([keys, words]) => words[valueOf(keys)]).filter(Boolean);
  if (how.length < 3) return undefined; // This is a vector of CVSS 2, which has other letters.
  const high = harms.filter(([keys]) => valueOf(keys) === 'H').map(([, words]) => words), low = harms.filter(([keys]) => valueOf(keys) === 'L').map(([, words]) => words);
  const what = [high.length > 0 && `can ${high.join(', ')}`, low.length > 0 && `can ${low.join(', ')} in part`].filter(Boolean).join('; ');
  return sentenceOf([...how, what].filter(Boolean).join(', '));
}
const sentenceOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const kindsOfLinks: Record<string, string> = { ADVISORY: 'Advisory', ARTICLE: 'Article', DETECTION: 'Detection', DISCUSSION: 'Discussion', REPORT: 'Report', FIX: 'Fix', INTRODUCED: 'Cause', PACKAGE: 'Package', EVIDENCE: 'Evidence', WEB: 'Web' };
const isWeb = (url: string | null): url is string => url !== null && /^https?:\/\//i.test(url);

function References({ exposure }: { exposure: Exposure }) {
  const links = exposure.metadata?.references.filter(({ url }) => isWeb(url)) ?? [];
  if (links.length === 0) return <p className="dim">No links from its source.</p>;
  return <ul className="references">{links.slice(0, 30).map(({ type, url }, i) => <li key={i}><span className="chip">{kindsOfLinks[type ?? 'WEB']}</span><a href={url!} target="_blank" rel="noreferrer">{url!.replace(/^https?:\/\//i, '')}</a></li>)}{links.length > 30 && <li className="dim">and {count(links.length - 30)} more</li>}</ul>;
}

/** This table shows what is affected: in which repo, by which package, and which version helps. */
function Affected({ found: { nodes, totalCount, pageInfo }, open, id, uid, names }: { found: NonNullable<VulnerabilityQuery['findings']>; open?: NonNullable<VulnerabilityQuery['open']>['nodes'][number]; id: string; uid: string; names: string[] }) {
  if (nodes.length === 0) return <Empty title="No finding">No image below {names.at(-1)} with a tag that is not deprecated has a finding of {id}. An image <Link to={groupAddress(names, uid, 'packages', { show: 'unknown' })}>without an SBOM</Link> can still be affected.</Empty>;
  const all = () => groupAddress(names, uid, 'findings', { vulnerability: id });
  return (
    <>
      <p className="told small">{!open ? 'Nothing is open: every finding has a decision.' : <><Link to={all()}><b>{plural(open.findings, 'open finding')}</b></Link> in <b>{plural(open.repos, 'repo')}</b> and <b>{plural(open.images, 'image')}</b>, {count(open.fixable)} with a fix.</>}</p>
      <div className="scroll" tabIndex={0} role="region" aria-label="What is affected"><table className="plain-table stacks">
        <thead><tr><th scope="col">Repo</th><th scope="col">Tags</th><th scope="col">Package</th><th scope="col">Installed</th><th scope="col">Fixed in</th><th scope="col">State</th><th scope="col">Since</th></tr></thead>
        <tbody>{nodes.map((one) => <AffectedRow key={one.uid} one={one} below={names.length} />)}</tbody>
      </table></div>
      {pageInfo.hasNextPage && <p className="dim note">These are the worst {count(nodes.length)} of {plural(totalCount, 'finding')}. <Link to={all()}>List all that are open</Link></p>}
    </>
  );
}

const isDated = (name: string) => /\d{8}/.test(name);

function AffectedRow({ one, below }: { one: Found; below: number }) {
  const groups = namesOf(one.repo?.group), [newer] = (one.fixedIn?.nodes ?? []).toSorted((a, b) => Number(isDated(a.name)) - Number(isDated(b.name)) || compareTags(a.name, b.name)), { repo, tags } = one;
  return (
    <tr>
      <th scope="row">{repo ? <Link to={imageAddress(groups, repo, one.digest)}>{repo.name}</Link> : 'a repo'}<small>{groups.slice(below).join(' / ')}</small></th>
      <td data-label="Tags">{tags?.nodes.map(({ name }) => name).join(', ')}{tags && tags.totalCount > tags.nodes.length && ` and ${count(tags.totalCount - tags.nodes.length)} more`}</td>
      <td data-label="Package">{repo?.group && one.package !== one.digest ? <Link to={packageAddress(groups, repo.group.uid, { name: one.package, ecosystem: one.ecosystem })}>{one.package}</Link> : nameOfPackage(one)}<small>{one.ecosystem}</small></td>
      <td data-label="Installed">{one.installedVersion ?? <span className="dim">unknown</span>}</td>
      <td data-label="Fixed in">{one.fixedVersions[0] ?? <span className="dim">no version yet</span>}{newer && repo && <small>not in <Link to={repoAddress(groups, repo, { tag: newer.name })}>{repo.name}:{newer.name}</Link></small>}</td>
      <td data-label="State"><span className={'state ' + stateKinds[one.state]}>{stateNames[one.state]}</span>{(one.justification || one.note) && <small>{[one.justification && reasonOf(one.justification), one.note].filter(Boolean).join(': ')}</small>}</td>
      <td data-label="Since" className="dim"><Time at={one.firstSeenTime} /></td>
    </tr>
  );
}

/** This list shows who decided what about the vulnerability, as the audit log has it. */
function History({ log, ids }: { log: NonNullable<VulnerabilityQuery['auditLog']>; ids: string[] }) {
  const decisions = log.nodes.flatMap((event) => {
    const { detail } = event, all = detail?.__typename === 'FindingChange' ? detail.findings : detail?.__typename === 'FindingTriage' ? detail.rules : [];
    const one = all.find(({ vulnerabilityId }) => ids.includes(vulnerabilityId ?? ''));
    return one ? [{ event, one, where: detail?.__typename === 'FindingChange' ? detail.repoName ?? 'a repo' : 'a group, also for later findings' }] : [];
  });
  if (decisions.length === 0) return <p className="dim">The audit log has no decision about it.</p>;
  return (
    <ol className="timeline">{decisions.slice(0, 10).map(({ event, one, where }) => (
      <li key={event.id}><b>{stateNames[one.state]}</b>{one.note && <p>{one.note}</p>}<small>{actorOf(event)}, in {where}, <Time at={event.time} /></small></li>
    ))}</ol>
  );
}

/** This part shows an advisory: what it says of a package, which versions are affected, and its history. */
function Story({ advisory, names, uid }: { advisory: AdvisoryStoryFragment; names: string[]; uid: string }) {
  const ranges = rangesInWords(advisory);
  return (
    <li className="story">
      <dl>
        <div><dt>Package</dt><dd><Link to={packageAddress(names, uid, { name: advisory.artifactName, ecosystem: advisory.artifactType })}>{advisory.artifactName}</Link>{advisory.artifactType && <span className="dim"> {advisory.artifactType}</span>}{advisory.componentName && <span className="dim"> · {advisory.componentName}</span>}</dd></div>
        <div><dt>State</dt><dd><State advisory={advisory} /></dd></div>
        <div><dt>Affected</dt><dd>{ranges ?? <span className="dim">The source does not say which versions.</span>}</dd></div>
        {advisory.author && <div><dt>Feed</dt><dd>{advisory.author}, imported</dd></div>}
        <div><dt>Published</dt><dd>{dayOf(advisory.createTime)}{dayOf(advisory.updateTime) !== dayOf(advisory.createTime) && `, last changed ${dayOf(advisory.updateTime)}`}</dd></div>
      </dl>
      <Timeline events={advisory.events} withdrawn={advisory.deleteTime} />
    </li>
  );
}

/** Says in words which versions are affected. */
function rangesInWords({ affected }: AdvisoryStoryFragment): ReactNode {
  if (!affected) return undefined;
  const ranges = affected.ranges.filter(({ type }) => type !== 'GIT').flatMap(({ events }) => {
    const parts: string[] = [];
    let from = '';
    for (const event of events) {
      if (event.introduced !== null) from = event.introduced;
      const end = event.fixed !== null ? `before ${event.fixed}` : event.lastAffected !== null ? `to ${event.lastAffected}` : event.limit !== null ? `before ${event.limit}` : '';
      if (end) { parts.push(from && from !== '0' ? `${from} and later, ${end}` : sentenceOf(`all ${end}`)); from = ''; }
    }
    if (from) parts.push(from === '0' ? 'All versions' : `${from} and later`);
    return parts;
  });
  const versions = ranges.length === 0 ? affected.versions : [];
  if (ranges.length + versions.length === 0) return undefined;
  return <ul className="stacked">{ranges.slice(0, 8).map((one) => <li key={one}>{one}</li>)}{ranges.length > 8 && <li className="dim">and {count(ranges.length - 8)} more ranges</li>}{versions.length > 0 && <li>{versions.slice(0, 12).join(', ')}{versions.length > 12 && ` and ${versions.length - 12} more`}</li>}</ul>;
}
