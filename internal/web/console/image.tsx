// This file shows one image of a repo: what it is, how it stands, and in tabs its findings and its packages.

import { Fragment, type ReactNode } from 'react';
import { useData, usePages } from './client';
import { SBOMLinks } from './export';
import { FindingList } from './finding-list';
import { Image as ImageDocument, ImagePackages, type ImagePackageFilter, type ImagePackageRowFragment, type ImagePackagesQuery, type ImagePackagesQueryVariables, type ImageQuery } from './generated/graphql';
import { Find, ListProblems, Tabs, Toggles, useNarrow } from './list';
import { packageAddress } from './package-list';
import { repoAddress } from './places';
import { Link, narrow, useLocation } from './router';
import { SaveRows, Table, type Column } from './table';
import { CopyButton, Empty, Lines, Problems, Time, useKeptFocus } from './ui';
import { lastMoved, sortTags } from './versions';
import { bytes, count, dayOf, plural, shortDigest, shorten } from './words';

type Repository = NonNullable<ImageQuery['repo']>;
type Tag = NonNullable<Repository['tags']>['nodes'][number];
type Described = NonNullable<NonNullable<Repository['found']>['nodes'][number]['image']>;

// What a tag refers to an image for, by the end of its name, as cosign and registries without the referrers API name it.
const referrers: Record<string, string> = { sig: 'signature', att: 'attestation, such as provenance', sbom: 'SBOM' };

interface ImageProps { uid: string; name: string; digest: string; groupNames: string[] }

/** This page shows an image by its digest, so it stays the same when its tags move. */
export function Image({ uid, name, digest, groupNames }: ImageProps) {
  const tab = useLocation().search.get('tab') ?? '';
  useKeptFocus();
  const loaded = useData(ImageDocument, { uid, digest, referrer: digest.replace(':', '-') }, { keep: true }), { data, loading } = loaded, repo = data?.repo;
  if ((!repo || loaded.problems.some(({ code }) => code === 'INVALID_ARGUMENT')) && !loading) return <div className="page"><Problems loaded={loaded} /></div>;
  const place = { uid, name: repo?.name ?? name }, tags = sortTags(repo?.tags?.nodes ?? [], repo?.activeTags ?? []), image = repo?.found?.nodes[0]?.image, numbers = image?.findingSummary;
  const title = tags[0] ? `${place.name}:${shorten(tags[0].name)}` : `${place.name}@${shortDigest(digest)}`;
  return (
    <div className="page">
      <p className="back"><Link to={repoAddress(groupNames, place)}>All tags of {place.name}</Link></p>
      <div className="title"><h1>{title}</h1><CopyButton text={digest} label="Copy the digest" /></div>
      <p className="lead">{repo ? <Standing repo={repo} image={image} tags={tags} digest={digest} /> : ' '}</p>
      {loaded.old && <Problems loaded={loaded} />}
      {repo ? tags.length > 0 && <Facts repo={repo} image={image} tags={tags} digest={digest} /> : <dl className="facts"><div>&nbsp;</div></dl>}
      {repo?.tags && tags.length === 0 ? <div className="table"><Empty title="Nothing is known of this image">Its tags were moved or deleted. Findings and packages are known while a tag points to an image.</Empty></div> : <div className={repo ? undefined : 'unseen'} aria-busy={!repo}>
        <Tabs label="What to show" chosen={tab} options={[{ value: '', name: 'Findings', count: numbers?.knownImages === 0 && numbers.open.total === 0 ? undefined : numbers?.open.total }, { value: 'packages', name: 'Packages', count: image?.packages?.totalCount }]} />
        {tab === 'packages' ? <PackagesOf uid={uid} digest={digest} title={title} groupNames={groupNames} />
          : <FindingList uid={uid} name={title} inRepo image={{ digest, numbers }} held={repo ? { capabilities: repo.viewerCapabilities, on: repo.name } : undefined} />}
      </div>}
    </div>
  );
}

interface PartProps { repo: Repository; image?: Described | null; tags: Tag[]; digest: string }

/** This sentence says how the image stands, and whether a newer one is better. */
function Standing({ repo, image, tags, digest }: PartProps) {
  const numbers = image?.findingSummary, open = numbers?.open.total ?? 0, newest = repo.newest?.nodes[0], newer = newest?.findingSummary;
  if (!repo.tags) return <>Your role does not let you see tags.</>;
  if (tags.length === 0) return <>No tag of {repo.name} points to this image.</>;
  if (tags.every(({ deprecated }) => deprecated)) return <>All of its tags are deprecated, so it does not count, and its findings are no longer kept up to date.</>;
  if (!numbers) return <>Your role does not let you see findings.</>;
  const isUnknown = numbers.knownImages === 0 && open === 0, latest = lastMoved(tags);
  const fewer = open - (newer?.open.total ?? 0);
  return (
    <>
      {isUnknown ? 'Its findings are unknown, because it has no SBOM.' : open === 0 ? 'No open findings.' : `${plural(open, 'open finding')}, of which ${count(numbers.open.fixable)} can be fixed.`}
      {newest && newer && newest.digest !== digest && newest.updateTime > latest && <> The newest tag, <b>{shorten(newest.name)}</b>, {newer.knownImages === 0 && newer.open.total === 0 ? 'has no SBOM'
        : isUnknown ? `has ${plural(newer.open.total, 'open finding')}` : fewer === 0 ? 'has as many' : `has ${count(Math.abs(fewer))} ${fewer > 0 ? 'fewer' : 'more'}`}: <button type="button" className="link-button" onClick={() => narrow({ image: undefined, tab: 'compare', from: tags[0].name, to: newest.name })}>compare them</button>.</>}
    </>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => <div><dt>{name}</dt><dd>{children}</dd></div>;

function Facts({ repo, image, tags, digest }: PartProps) {
  const referring = (repo.referrers?.nodes ?? []).map((tag) => ({ ...tag, what: referrers[tag.name.slice(tag.name.lastIndexOf('.') + 1)] ?? 'other artifact' }));
  const more = (repo.tags?.totalCount ?? 0) - tags.length;
  return (
    <dl className="facts wrap">
      <Fact name="Digest"><code>{digest}</code></Fact>
      <Fact name="Tags">{tags.map((tag) => <Fragment key={tag.uid}><span className={'tag-name' + (tag.deprecated ? ' past' : '')} title={tag.deprecated ? `${tag.name} is deprecated` : tag.name}>{shorten(tag.name)}{repo.activeTags.includes(tag.name) && <i title="active" />}</span></Fragment>)}{more > 0 && ` and ${count(more)} more`}</Fact>
      <Fact name="Last moved"><Time at={lastMoved(tags)} /></Fact>
      <Fact name="Architectures and sizes">{image?.sizes.length ? image.sizes.map(({ architecture, size }) => (size == null ? architecture : `${architecture} ${bytes(size)}`)).join(' · ') : 'unknown'}</Fact>
      <Fact name="Base image">{image?.baseName ? <>{image.baseName}{image.baseDigest && <code title={image.baseDigest}> {shortDigest(image.baseDigest)}</code>}</> : 'unknown: no annotation org.opencontainers.image.base.name was imported'}</Fact>
      <Fact name="SBOM">{image?.sboms?.length ? <>{image.sboms.map(({ format, architecture, createTime }) => `${format}${architecture ? ` for ${architecture}` : ''}, imported on ${dayOf(createTime)}`).join(' · ')} <SBOMLinks sboms={image.sboms} image={repo.name} /></> : <>none: see <a href="/guide/importing">importing</a></>}</Fact>
      <Fact name="Signatures and attestations">{referring.length > 0 ? referring.map(({ uid, what, updateTime }, i) => <Fragment key={uid}>{i > 0 && ' · '}{what} of {dayOf(updateTime)}</Fragment>) : 'no tag refers to this image'}{referring.length > 0 && <span className="dim"> (Atrium does not verify them)</span>}</Fact>
    </dl>
  );
}

const how = ({ direct, introducedBy, scope }: ImagePackageRowFragment): string =>
  [direct ? 'direct' : introducedBy?.length ? `through ${introducedBy[0].name}${introducedBy.length > 1 ? ` and ${count(introducedBy.length - 1)} more` : ''}` : direct === false ? 'indirect' : '', scope === 'DEVELOPMENT' ? 'development only' : ''].filter(Boolean).join(', ') || '–';
const columns: Column<ImagePackageRowFragment>[] = [
  { key: 'name', label: 'Package', names: true, width: 'minmax(0, 1.4fr)', text: ({ name }) => name, cell: ({ name }) => <b className="cut">{name}</b> },
  { key: 'version', label: 'Version', width: 'minmax(0, 1fr)', className: 'cut', text: ({ version }) => version, cell: ({ version }) => version ?? 'unknown' },
  { key: 'ecosystem', label: 'Ecosystem', width: 'minmax(0, .8fr)', className: 'dim cut', text: ({ ecosystem }) => ecosystem, cell: ({ ecosystem }) => ecosystem ?? '–' },
  { key: 'licenses', label: 'Licenses', width: 'minmax(0, 1fr)', className: 'dim cut', wide: true, text: ({ licenses }) => licenses.join(', '), cell: ({ licenses }) => licenses.join(', ') || '–' },
  { key: 'how', label: 'Dependency', width: 'minmax(0, 1fr)', className: 'dim cut', wide: true, text: how, cell: how },
];
const fileColumns: Pick<Column<ImagePackageRowFragment>, 'label' | 'text'>[] = [...columns, { label: 'Architectures', text: ({ architectures }) => architectures.join(' ') }, { label: 'Package URL', text: ({ purl }) => purl }];

/** This list has the packages of the image, by name. */
function PackagesOf({ uid, digest, title, groupNames }: { uid: string; digest: string; title: string; groupNames: string[] }) {
  const { search } = useLocation(), query = search.get('q') ?? '', direct = search.get('direct') === 'yes', height = useNarrow() ? 84 : 58;
  const where: ImagePackageFilter = { ...(query && { query }), ...(direct && { direct: true }) };
  const list = usePages<ImagePackagesQuery, ImagePackageRowFragment, ImagePackagesQueryVariables>(ImagePackages, { uid, digest, where, first: 50, start: true }, (data) => data.repo?.tags?.nodes[0]?.image?.packages, { start: false });
  const { rows, first, loading, started } = list, total = first?.repo?.tags?.nodes[0]?.image?.packages?.totalCount;
  return (
    <>
      <div className="filters">
        <Find value={query} label="Find a package" onChange={(q) => narrow({ q }, { replace: query !== '' && q !== '' })} />
        <Toggles label="Which packages" chosen={direct ? ['yes'] : []} onChange={([one]) => narrow({ direct: one })} options={[{ value: 'yes', name: 'Direct dependencies only' }]} />
        <SaveRows name="packages" columns={fileColumns} readAll={list.readAll} disabled={!total} />
        <span className="total" role="status">{total != null && !loading ? plural(total, 'package') : ' '}</span>
      </div>
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table">{query || direct ? <Empty title="No package matches"><button type="button" className="link-button" onClick={() => narrow({ q: undefined, direct: undefined })}>Show all packages</button></Empty>
          : <Empty title="No packages known">The packages of an image come from its SBOM: see <a href="/guide/importing">importing</a>.</Empty>}</div>
        : <Table label={`Packages of ${title}`} kind="image-package-columns" columns={columns} rows={rows} total={total} keyOf={(row) => `${row.purl ?? row.ecosystem} ${row.name} ${row.version}`} height={height} busy={loading} end={list.readMore}
          to={(row) => packageAddress(groupNames, uid.slice(0, uid.lastIndexOf('/')), row)} />}
      <ListProblems list={list} />
    </>
  );
}
