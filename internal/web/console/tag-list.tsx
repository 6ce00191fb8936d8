// This file has the tags of a repo, one row for each image.

import { Fragment, useState } from 'react';
import { usePages } from './client';
import { SBOMLinks } from './export';
import { ConfirmButton, type Holding } from './form';
import { BatchDeleteTags, RepoTags, type RepoTagsQuery, type RepoTagsQueryVariables, type TagFilter, type TagOrder, type TagRowFragment } from './generated/graphql';
import { Find, Toggles } from './list';
import { imageAddress } from './places';
import { Link, narrow, useLocation } from './router';
import { SaveRows, type Column } from './table';
import { CopyButton, Empty, Icon, Lines, NotShown, Problems, SeverityBar, Time } from './ui';
import { compareTags, lastMoved, sortTags } from './versions';
import { bytes, count, plural, ratings, sentence, shortDigest, shorten } from './words';

interface Image { digest: string; tags: TagRowFragment[]; moved: string }
type Sort = 'version' | 'moved' | 'findings';
const pageSize = 200, mostDeleted = 100, mostChips = 8;
// The server has no order of versions: then the tags that moved last come first, and those that were read are sorted here.
const orders: Record<Sort, TagOrder['field']> = { version: 'UPDATE_TIME' as never, moved: 'UPDATE_TIME' as never, findings: 'OPEN_SEVERITY' as never };

/** Returns the images to which tags point, each with its tags. */
const imagesOf = (tags: TagRowFragment[], active: string[]): Image[] =>
  [...Map.groupBy(tags, ({ digest }) => digest)].map(([digest, same]) => ({ digest, tags: sortTags(same, active), moved: lastMoved(same) }));

const isLatest = ({ tags }: Image) => tags.some(({ name }) => name === 'latest');

/** Compares the worst findings of two images, rating by rating. */
function compareFindings({ tags: [a] }: Image, { tags: [b] }: Image): number {
  for (const rating of ratings) {
    const key = rating.toLowerCase() as 'critical', difference = (a.findingSummary?.open[key] ?? 0) - (b.findingSummary?.open[key] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const compare: Record<Sort, (a: Image, b: Image) => number> = {
  version: (a, b) => -compareTags(a.tags[0].name, b.tags[0].name), moved: (a, b) => (a.moved < b.moved ? -1 : a.moved > b.moved ? 1 : 0), findings: compareFindings,
};

// What a file has of each tag.
const fileColumns: Pick<Column<TagRowFragment>, 'label' | 'text'>[] = [
  { label: 'Tag', text: ({ name }) => name }, { label: 'Digest', text: ({ digest }) => digest }, { label: 'Architectures', text: ({ image }) => image?.architectures.join(' ') }, { label: 'Last moved', text: ({ updateTime }) => updateTime }, { label: 'Deprecated', text: ({ deprecated }) => (deprecated ? 'yes' : 'no') },
  { label: 'Open findings', text: ({ findingSummary }) => (findingSummary?.knownImages === 0 && findingSummary.open.total === 0 ? 'no SBOM' : findingSummary?.open.total) }, ...ratings.slice(0, 4).map((rating) => ({ label: sentence(rating), text: ({ findingSummary }: TagRowFragment) => findingSummary?.open[rating.toLowerCase() as 'critical'] })), { label: 'UID', text: ({ uid }) => uid },
];

interface TagListProps { uid: string; name: string; groupNames: string[]; active: string[]; held?: Holding }

/** This list has a row for each image of a repo, with the names of its tags. */
export function TagList({ uid, name, groupNames, active, held }: TagListProps) {
  const { search } = useLocation(), query = search.get('tag') ?? '', all = search.get('all') === 'yes';
  const sort = (['version', 'moved', 'findings'] as const).find((one) => one === search.get('sort')) ?? 'version', ascending = search.get('dir') === 'asc';
  const tags: TagFilter = { ...(query && { query }), ...(!all && !query && { excludeClasses: ['REFERRER', 'DATE'] }) };
  const orderBy = { field: orders[sort], direction: (ascending ? 'ASC' : 'DESC') as never };
  const list = usePages<RepoTagsQuery, TagRowFragment, RepoTagsQueryVariables>(RepoTags, { uid, tags, orderBy, first: pageSize, start: true }, (data) => data.repo?.tags, { start: false });
  const { rows, first, started, loading } = list, total = first?.repo?.tags?.totalCount;
  const [chosen, setChosen] = useState(new Set<string>());
  const images = imagesOf(rows, active).sort((a, b) => compare[sort](a, b) * (ascending ? 1 : -1) || compareTags(a.tags[0].name, b.tags[0].name));
  const shown = sort === 'version' ? [...images.filter(isLatest), ...images.filter((one) => !isLatest(one))] : images;
  const order = (value: Sort, label: string) => (
    <th scope="col" aria-sort={sort === value ? (ascending ? 'ascending' : 'descending') : undefined}>
      <button type="button" onClick={() => narrow({ sort: value === 'version' ? undefined : value, dir: sort === value && !ascending ? 'asc' : undefined })}>{label}{sort === value && <Icon name={ascending ? 'up' : 'down'} />}</button>
    </th>
  );
  const marked = shown.filter(({ digest }) => chosen.has(digest));
  const choose = (digest: string) => setChosen((old) => { const next = new Set(old); if (!next.delete(digest)) next.add(digest); return next; });
  return (
    <>
      <div className="filters">
        <Find value={query} label="Find a tag" onChange={(tag) => narrow({ tag }, { replace: true })} />
        <Toggles label="Which tags" chosen={all ? ['yes'] : []} onChange={([one]) => narrow({ all: one }, { replace: true })} options={[{ value: 'yes', name: 'Include signatures and dated tags' }]} />
        <SaveRows name="tags" columns={fileColumns} readAll={list.readAll} disabled={total === 0} />
        <span className="total" role="status">{total != null && !loading ? `${plural(total, 'tag')}${list.more ? '' : ` of ${plural(images.length, 'image')}`}` : ' '}</span>
      </div>
      {marked.length > 0 && <Chosen images={marked} name={name} held={held} onClear={() => setChosen(new Set())} />}
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} /> : !started ? <div className="table"><div className="pad"><Lines rows={8} height={30} /></div></div>
        : first?.repo && !first.repo.tags ? <div className="table"><div className="pad"><NotShown what="tags" /></div></div>
        : rows.length === 0 && !loading ? <div className="table"><Empty title={query ? 'No tag matches' : 'No tags yet'}>{query ? `No tag of ${name} has “${query}” in its name.` : 'Tags appear here as soon as an image is pushed or imported.'}</Empty></div>
        : <div className={loading ? 'table pad busy' : 'table pad'} aria-busy={loading}>
            <table className="tags">
              <thead><tr><th scope="col" className="mark-column"><span className="sr">Choose</span></th>{order('version', 'Tags')}<th scope="col">Digest</th><th scope="col">Architectures and sizes</th>{order('moved', 'Last moved')}{order('findings', 'Open findings')}</tr></thead>
              <tbody>{shown.map((image) => <ImageRow key={image.digest} image={image} active={active} chosen={chosen.has(image.digest)} onChoose={() => choose(image.digest)} to={imageAddress(groupNames, { uid, name }, image.digest)} />)}</tbody>
            </table>
          </div>}
      {rows.length > 0 && list.problems.length > 0 && <Problems loaded={{ problems: list.problems, reload: list.retry }} />}
      {list.more && !loading && <p className="end">{sort === 'version' ? `The ${count(rows.length)} most recently moved tags, by version.` : `${count(rows.length)} of ${plural(total ?? rows.length, 'tag')}.`} <button type="button" onClick={list.readMore}>Show more</button></p>}
    </>
  );
}

function ImageRow({ image, active, chosen, onChoose, to }: { image: Image; active: string[]; chosen: boolean; onChoose: () => void; to: string }) {
  const [open, setOpen] = useState(false), { tags, digest } = image, [tag] = tags, about = tag.image;
  // Of an image that was never imported, the summary has no image.
  const standing = tag.findingSummary && { ...tag.findingSummary, images: 1 }, names = open ? tags : tags.slice(0, mostChips), old = tags.every(({ deprecated }) => deprecated);
  return (
    <tr className={old ? 'old' : ''}>
      <td className="mark-column"><input type="checkbox" checked={chosen} onChange={onChoose} aria-label={`Choose ${shorten(tag.name)}`} /></td>
      <th scope="row" className="name">
        {names.map((one) => <span key={one.uid} className={'tag-name' + (one.deprecated ? ' past' : '')} title={one.deprecated ? `${one.name} is deprecated` : active.includes(one.name) ? `${one.name} is active` : one.name}>{shorten(one.name)}{active.includes(one.name) && <span className="sr"> (active)</span>}{active.includes(one.name) && <i aria-hidden="true" />}</span>)}
        {tags.length > names.length && <button type="button" className="link-button" onClick={() => setOpen(true)}>{count(tags.length - names.length)} more</button>}
        {old && <span className="chip bad">deprecated</span>}
      </th>
      <td className="digest"><Link to={to}><code title={digest}>{shortDigest(digest)}</code></Link><CopyButton text={digest} label={`Copy the digest of ${shorten(tag.name)}`} />{about?.sboms && <SBOMLinks sboms={about.sboms} image={shorten(tag.name)} />}</td>
      <td className="sizes dim">{about?.sizes.length ? about.sizes.map(({ architecture, size }, i) => <Fragment key={architecture}>{i > 0 && ' '}<span>{i > 0 && '· '}{architecture}{size != null && ` ${bytes(size)}`}</span></Fragment>) : 'unknown'}</td>
      <td className="dim"><Time at={image.moved} /></td>
      <td>{old ? <span className="dim" title="An image counts while a tag that is not deprecated points to it.">not counted</span> : standing && standing.open.total > 0 ? <Link to={to}><SeverityBar of={standing} /></Link> : <SeverityBar of={standing} />}</td>
    </tr>
  );
}

/** This part says what can be done with the images that the reader has chosen. */
function Chosen({ images, name, held, onClear }: { images: Image[]; name: string; held?: Holding; onClear: () => void }) {
  const tags = images.flatMap((image) => image.tags), [older, newer] = images.toSorted((a, b) => -compareTags(a.tags[0].name, b.tags[0].name));
  return (
    <div className="chosen" role="region" aria-label="What is chosen">
      <span>{plural(images.length, 'image')} with {plural(tags.length, 'tag')}</span>
      <button type="button" disabled={images.length !== 2} title={images.length === 2 ? undefined : 'Choose two images to compare them'} onClick={() => narrow({ tab: 'compare', from: older.tags[0].name, to: newer.tags[0].name })}>{images.length === 2 ? `Compare ${shorten(older.tags[0].name)} with ${shorten(newer.tags[0].name)}` : 'Compare two'}</button>
      {held && <ConfirmButton label={`Delete ${plural(tags.length, 'tag')}`} icon="bin" held={held} document={BatchDeleteTags} input={{ uids: tags.map(({ uid }) => uid) }} title={`Delete ${plural(tags.length, 'tag')} of ${name}?`} submit="Delete the tags" affects={['Tag', 'Repo']} onDone={onClear}
        obstacle={tags.length > mostDeleted && <p>You can delete at most {mostDeleted} tags at once: choose fewer images.</p>}>
        <p>This removes from {name}: {tags.slice(0, 20).map((tag) => shorten(tag.name)).join(', ')}{tags.length > 20 && ` and ${tags.length - 20} more`}. Images that no other tag points to no longer count, and neither do their open findings. This cannot be undone.</p>
      </ConfirmButton>}
      <button type="button" className="link-button" onClick={onClear}>Choose none</button>
    </div>
  );
}
