import { Fragment, useState } from 'react';
import { useClient } from 'urql';
import { AdvisoryRow } from '../advisory-list';
import { useData } from '../client';
import { FindingList } from '../finding-list';
import { Repo as RepoDocument, RepoAdvisories, RepoTags, type AdvisoryRowFragment, type RepoQuery, type TagFilter, type TagRowFragment, type TypedDocument } from '../generated/graphql';
import { Find, Toggles } from '../list';
import { Markdown } from '../markdown';
import { groupAddress, repoAddress } from '../places';
import { EditReadme, RepoActions } from '../repo-forms';
import { Link, narrow, useLocation } from '../router';
import { Card, CopyButton, Empty, Lines, NotShown, Problems, SeverityBar, Time } from '../ui';
import { bytes, count, dayOf, shorten, tierName } from '../words';

type Repository = NonNullable<RepoQuery['repo']>;

/** This page shows a repo: its properties, its tags, its findings, its advisories, and its readme. */
export function Repo({ uid, names, groupNames }: { uid: string; names: string[]; groupNames: string[] }) {
  const { search } = useLocation();
  const query = search.get('tag') ?? '', all = search.get('all') === 'yes', findings = search.get('tab') === 'findings';
  const tags: TagFilter = { ...(query && { query }), ...(!all && !query && { includeReferrers: false, includeDates: false }) };
  const loaded = useData(RepoDocument, { uid, tags }, { keep: true });
  const { data, loading } = loaded, repo = data?.repo;
  if (!repo && !loading) return <div className="page"><Problems loaded={loaded} /></div>;
  const name = repo?.name ?? names.slice(groupNames.length).join('/');
  return (
    <div className="page">
      <div className="title"><h1>{name}</h1><CopyButton text={names.join('/')} label="Copy the path" />{repo?.catalogTier && <span className="chip">{tierName(repo.catalogTier)}</span>}{repo && <RepoActions repo={repo} groupNames={groupNames} />}</div>
      <p className="lead">{repo ? repo.description ?? 'No description' : ' '}</p>
      {loaded.old && <Problems loaded={loaded} />}
      {repo ? <Facts repo={repo} groupNames={groupNames} /> : <dl className="facts"><div>&nbsp;</div></dl>}
      <div className="tabs" role="group" aria-label="What to show">
        <button type="button" aria-pressed={!findings} onClick={() => narrow({ tab: undefined, show: undefined, q: undefined, severity: undefined, digest: undefined, sort: undefined })}>Overview</button>
        <button type="button" aria-pressed={findings} onClick={() => narrow({ tab: 'findings' })}>Findings {repo?.findingSummary && <small>{count(repo.findingSummary.open.total)}</small>}</button>
      </div>
      {findings ? <FindingList uid={uid} name={name} inRepo held={repo ? { capabilities: repo.viewerCapabilities, on: name } : undefined} /> : <div className="grid">
        <Card title={<>Tags {repo?.tags && <span className="chip">{count(repo.tags.totalCount)}</span>}</>} className="wide-12">
          <div className="filters">
            <Find value={query} label="Find a tag" onChange={(tag) => narrow({ tag }, { replace: true })} />
            <Toggles label="Which tags" chosen={all ? ['yes'] : []} onChange={([one]) => narrow({ all: one }, { replace: true })} options={[{ value: 'yes', name: 'Include signatures and dated tags' }]} />
          </div>
          {!repo ? <Lines rows={5} height={26} /> : !repo.tags ? <NotShown what="tags" /> : repo.tags.nodes.length === 0
            ? <Empty title={query ? 'No tag matches' : 'No tags yet'}>{query ? `No tag of ${name} has “${query}” in its name.` : 'Tags appear here as soon as an image is pushed or imported.'}</Empty>
            : <Tags key={JSON.stringify(tags)} uid={uid} filter={tags} first={repo.tags} own={loaded.own} active={repo.activeTags} addressOf={(digest) => repoAddress(groupNames, repo, { tab: 'findings', digest })} />}
        </Card>
        <Card title={<>Advisories {repo?.advisories && <span className="chip">{count(repo.advisories.totalCount)}</span>}</>} className="wide-12 flush">
          {!repo ? <Lines rows={2} height={34} /> : !repo.advisories ? <NotShown what="advisories" /> : repo.advisories.nodes.length === 0
            ? <Empty title="No advisories">No advisory names {name}. What is wrong with the packages in its images is under Findings.</Empty> : <Advisories uid={uid} first={repo.advisories} addressOf={(q) => repoAddress(groupNames, repo, { tab: 'findings', q })} />}
        </Card>
        <Card title="Readme" aside={repo && <EditReadme repo={repo} />} className="wide-12">
          {!repo ? <Lines rows={5} /> : repo.readme ? <Markdown text={repo.readme} /> : <Empty title="No readme">A readme says what an image is for and how to run it.</Empty>}
        </Card>
      </div>}
    </div>
  );
}

function Facts({ repo, groupNames }: { repo: Repository; groupNames: string[] }) {
  return (
    <dl className="facts">
      <div><dt>Group</dt><dd><Link to={groupAddress(groupNames, repo.group?.uid ?? repo.uid.slice(0, repo.uid.lastIndexOf('/')))}>{groupNames.join(' / ')}</Link></dd></div>
      <div><dt>Created</dt><dd>{dayOf(repo.createTime)}</dd></div>
      <div><dt>Changed</dt><dd><Time at={repo.updateTime} /></dd></div>
      {repo.bundles.length > 0 && <div><dt>Bundles</dt><dd>{repo.bundles.map((bundle) => <span key={bundle} className="chip">{bundle}</span>)}</dd></div>}
      {repo.aliases.length > 0 && <div><dt>Other names</dt><dd>{repo.aliases.slice(0, 3).join(', ')}{repo.aliases.length > 3 && ` and ${repo.aliases.length - 3} more`}</dd></div>}
      {repo.syncConfig && <div><dt>Copied from</dt><dd>{repo.syncConfig.source}{repo.syncConfig.expirationTime && <> until {dayOf(repo.syncConfig.expirationTime)}</>}</dd></div>}
    </dl>
  );
}

interface Page<Row> { nodes: Row[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }

type More<Row> = { after: string | null; further: Row[]; page: Page<Row>['pageInfo']; state: '' | 'reading' | 'failed' };

/**
 * Returns the rows of a list whose first page another request has read, and a button that reads the next page. If the first page is
 * read again and ends elsewhere, the further pages no longer follow it, and are forgotten.
 */
function useMore<Row, Data, Variables extends object>(first: Page<Row>, own: boolean, document: TypedDocument<Data, Variables>, variables: Omit<Variables, 'after'>, pick: (data: Data) => Page<Row> | null | undefined) {
  const client = useClient(), start: More<Row> = { after: first.pageInfo.endCursor, further: [], page: first.pageInfo, state: '' };
  const [kept, setKept] = useState(start);
  const { after, further, page, state } = kept.after === start.after ? { ...kept, page: kept.further.length > 0 ? kept.page : first.pageInfo } : start;
  const read = async () => {
    setKept({ after, further, page, state: 'reading' });
    const { data } = await client.query<Data>(document, { ...variables, after: page.endCursor } as never, { requestPolicy: 'network-only' }).toPromise();
    const next = data && pick(data);
    setKept((old) => old.after !== after ? old : next ? { after, further: [...further, ...next.nodes], page: next.pageInfo, state: '' } : { after, further, page, state: 'failed' });
  };
  const button = own && page.hasNextPage && <p className="end"><button type="button" disabled={state === 'reading'} onClick={() => void read()}>{state === 'reading' ? 'Loading …' : state === 'failed' ? 'Loading failed. Try again' : 'Show more'}</button></p>;
  return { rows: [...first.nodes, ...further], button };
}

function Tags({ uid, filter, first, own, active, addressOf }: { uid: string; filter: TagFilter; first: NonNullable<Repository['tags']>; own: boolean; active: string[]; addressOf: (digest: string) => string }) {
  const { rows, button } = useMore(first, own, RepoTags, { uid, tags: filter }, (data) => data.repo?.tags);
  return (
    <>
      <table className="tags">
        <thead><tr><th>Name</th><th>Digest</th><th>Architectures and sizes</th><th>Last moved</th><th>Open findings</th></tr></thead>
        <tbody>{rows.map((tag) => <Tag key={tag.uid} tag={tag} active={active.includes(tag.name)} to={addressOf(tag.digest)} />)}</tbody>
      </table>
      {button}
    </>
  );
}

function Tag({ tag, active, to }: { tag: TagRowFragment; active: boolean; to: string }) {
  const { image } = tag;
  return (
    <tr className={tag.deprecated ? 'old' : ''}>
      <td className="name"><b title={tag.name}>{shorten(tag.name)}</b>{active && <span className="chip">active</span>}{tag.deprecated && <span className="chip bad">end of life</span>}</td>
      <td className="digest"><code title={tag.digest}>{tag.digest.replace('sha256:', '').slice(0, 12)}</code><CopyButton text={tag.digest} label={`Copy the digest of ${shorten(tag.name)}`} /></td>
      <td className="sizes dim">{image ? image.sizes.map(({ architecture, size }, i) => <Fragment key={architecture}>{i > 0 && ' '}<span>{i > 0 && '· '}{architecture}{size != null && ` ${bytes(size)}`}</span></Fragment>) : 'unknown'}</td>
      <td className="dim"><Time at={tag.updateTime} /></td>
      <td>{tag.deprecated ? <span className="dim" title="Images count while a tag points to them that is not deprecated.">not counted</span> : tag.findingSummary && tag.findingSummary.open.total > 0 ? <Link to={to}><SeverityBar counts={tag.findingSummary.open} /></Link> : <SeverityBar counts={tag.findingSummary?.open} />}</td>
    </tr>
  );
}

function Advisories({ uid, first, addressOf }: { uid: string; first: Page<AdvisoryRowFragment>; addressOf: (id: string) => string }) {
  const { rows, button } = useMore(first, true, RepoAdvisories, { uid }, (data) => data.repo?.advisories);
  const [open, setOpen] = useState(() => new Set<string>());
  const toggle = (key: string) => setOpen((old) => { const next = new Set(old); if (!next.delete(key)) next.add(key); return next; });
  return <>{rows.map((advisory) => <AdvisoryRow key={advisory.uid} advisory={advisory} findings={addressOf(advisory.advisoryId)} open={open.has(advisory.uid)} onToggle={() => toggle(advisory.uid)} />)}{button}</>;
}
