import { useData } from '../client';
import { FindingList } from '../finding-list';
import { Readme as ReadmeDocument, Repo as RepoDocument, type RepoQuery } from '../generated/graphql';
import { Image } from '../image';
import { ImageComparison } from '../image-comparison';
import { Tabs } from '../list';
import { Markdown } from '../markdown';
import { PackageList } from '../package-list';
import { groupAddress } from '../places';
import { EditReadme, RepoActions } from '../repo-forms';
import { Link, useLocation } from '../router';
import { TagList } from '../tag-list';
import { Card, CopyButton, Empty, Lines, Problems, Time } from '../ui';
import { dayOf, tierName } from '../words';

type Repository = NonNullable<RepoQuery['repo']>;

interface RepoProps { uid: string; names: string[]; groupNames: string[] }

/** This page shows a repo, or the image of it that the address names. */
export function Repo(props: RepoProps) {
  const digest = useLocation().search.get('image');
  return digest ? <Image key={digest} uid={props.uid} name={props.names.slice(props.groupNames.length).join('/')} digest={digest} groupNames={props.groupNames} /> : <WholeRepo {...props} />;
}

/** This page shows a repo: its properties, and in tabs its tags, its findings, the packages of its images, and its readme. */
function WholeRepo({ uid, names, groupNames }: RepoProps) {
  const { search } = useLocation(), tab = search.get('tab') ?? '', from = search.get('from') ?? '', to = search.get('to') ?? '';
  const comparing = tab === 'compare' && from !== '' && to !== '';
  // The tags that are compared are in the request for the repo, so that the page takes no further one.
  const loaded = useData(RepoDocument, comparing ? { uid, from, to, comparing } : { uid, from: '-', to: '-', comparing: false }, { keep: true });
  const { data, loading } = loaded, repo = data?.repo;
  if (!repo && !loading) return <div className="page"><Problems loaded={loaded} /></div>;
  const name = repo?.name ?? names.slice(groupNames.length).join('/'), held = repo ? { capabilities: repo.viewerCapabilities, on: name } : undefined;
  const tabs = [{ value: '', name: 'Tags', count: repo?.everyTag?.totalCount }, { value: 'findings', name: 'Findings', count: repo?.findingSummary?.open.total }, { value: 'packages', name: 'Packages' }, { value: 'readme', name: 'Readme' }];
  return (
    <div className="page">
      <div className="title"><h1>{name}</h1><CopyButton text={names.join('/')} label="Copy the path" />{repo?.catalogTier && <span className="chip">{tierName(repo.catalogTier)}</span>}{repo ? <RepoActions repo={repo} groupNames={groupNames} /> : <div className="actions" />}</div>
      <p className="lead">{repo ? repo.description ?? 'No description' : ' '}</p>
      {loaded.old && <Problems loaded={loaded} />}
      {repo ? <Facts repo={repo} groupNames={groupNames} /> : <dl className="facts"><div>&nbsp;</div></dl>}
      <Pull repo={repo} />
      {/* Until the head is there, the rest does not show, because it would move. */}
      <div className={repo ? undefined : 'unseen'}>
      <Tabs label="What to show" chosen={tab === 'compare' ? '' : tab} options={tabs} />
      {tab === 'findings' ? <FindingList uid={uid} name={name} inRepo held={held} /> : tab === 'packages' ? <PackageList uid={uid} name={name} names={groupNames} inRepo />
        : tab === 'readme' ? <Readme uid={uid} /> : comparing ? <ImageComparison repo={repo?.name ?? name} from={loaded.own ? repo?.from : undefined} to={loaded.own ? repo?.to : undefined} found={loaded.own} /> : <TagList uid={uid} name={name} groupNames={groupNames} active={repo?.activeTags ?? []} held={held} />}
      </div>
    </div>
  );
}

/** This part has the command that pulls the image, by one of the names under which a registry serves the repo. */
function Pull({ repo }: { repo?: Repository | null }) {
  const from = repo?.aliases.find((one) => /^[^/]+[.:][^/]*\//.test(one)), tag = repo?.latest ?? repo?.newest?.nodes[0];
  if (!repo) return <div className="command"><code>&nbsp;</code></div>;
  if (!from || !tag) return <div className="command"><code className="dim">{from ? `docker pull ${from}` : 'To see the pull command here, add the name under which a registry serves this repo: Edit, Aliases'}</code></div>;
  const command = `docker pull ${from}:${tag.name}`;
  return <div className="command"><code>{command}</code><CopyButton text={command} label="Copy the pull command" /></div>;
}

function Facts({ repo, groupNames }: { repo: Repository; groupNames: string[] }) {
  return (
    <dl className="facts">
      <div><dt>Group</dt><dd><Link to={groupAddress(groupNames, repo.group?.uid ?? repo.uid.slice(0, repo.uid.lastIndexOf('/')))}>{groupNames.join(' / ')}</Link></dd></div>
      <div><dt>Created</dt><dd>{dayOf(repo.createTime)}</dd></div>
      <div><dt>Changed</dt><dd><Time at={repo.updateTime} /></dd></div>
      {repo.bundles.length > 0 && <div><dt>Bundles</dt><dd>{repo.bundles.map((bundle) => <span key={bundle} className="chip">{bundle}</span>)}</dd></div>}
      {repo.aliases.length > 0 && <div><dt>Aliases</dt><dd>{repo.aliases.slice(0, 3).join(', ')}{repo.aliases.length > 3 && ` and ${repo.aliases.length - 3} more`}</dd></div>}
      {repo.syncConfig && <div><dt>Copied from</dt><dd>{repo.syncConfig.source}{repo.syncConfig.expirationTime && <> until {dayOf(repo.syncConfig.expirationTime)}</>}</dd></div>}
    </dl>
  );
}

function Readme({ uid }: { uid: string }) {
  const loaded = useData(ReadmeDocument, { uid }), repo = loaded.data?.repo;
  return (
    <div className="grid"><Card title="Readme" aside={repo && <EditReadme repo={repo} />} className="wide-12">
      {repo ? repo.readme ? <Markdown text={repo.readme} /> : <Empty title="No readme">A readme says what an image is for and how to run it.</Empty> : loaded.loading ? <Lines rows={5} /> : <Problems loaded={loaded} />}
    </Card></div>
  );
}
