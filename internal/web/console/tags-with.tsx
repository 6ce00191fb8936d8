// This file lists the tags below a group of which something is true: that their image holds a package, or that nothing is known of it.

import type { ReactNode } from 'react';
import { usePages } from './client';
import { TagsWith as TagsWithDocument, type TagFilter, type TagsWithQuery, type TagsWithQueryVariables } from './generated/graphql';
import { ListProblems, useNarrow } from './list';
import { imageAddress } from './places';
import { SaveRows, Table, type Column } from './table';
import { Empty, Lines, namesOf, Problems, Time } from './ui';
import { plural, shorten } from './words';

type Row = NonNullable<TagsWithQuery['tags']>['nodes'][number];

const groupOf = ({ repo }: Row) => namesOf(repo?.group);
const imageOf = ({ repo, name }: Row) => `${repo?.name ?? 'a repo'}:${name}`;
const columns: Column<Row>[] = [
  { key: 'image', label: 'Image', names: true, width: 'minmax(0, 1.6fr)', cell: (row) => <span className="two"><b className="cut">{imageOf(row)}</b><small>{groupOf(row).join(' / ')}</small></span> },
  { key: 'digest', label: 'Digest', width: 'minmax(0, 1fr)', className: 'dim cut', cell: ({ digest }) => <code>{shorten(digest)}</code> },
  { key: 'moved', label: 'Last moved', width: '8rem', className: 'when dim', cell: ({ updateTime }) => <Time at={updateTime} /> },
];
const fileColumns: Pick<Column<Row>, 'label' | 'text'>[] = [
  { label: 'Group', text: (row) => groupOf(row).join('/') }, { label: 'Repo', text: ({ repo }) => repo?.name }, { label: 'Tag', text: ({ name }) => name }, { label: 'Digest', text: ({ digest }) => digest }, { label: 'Last moved', text: ({ updateTime }) => updateTime }, { label: 'UID', text: ({ uid }) => uid },
];

interface TagsWithProps { uid: string; where: TagFilter; title: string; lead: ReactNode; back: ReactNode; file: string; none: string }

/** This page lists tags that are not deprecated. */
export function TagsWith({ uid, where, title, lead, back, file, none }: TagsWithProps) {
  const variables: TagsWithQueryVariables = { uid, where: { ...where, deprecated: false }, first: 50, start: true };
  const list = usePages<TagsWithQuery, Row, TagsWithQueryVariables>(TagsWithDocument, variables, (data) => data.tags, { start: false });
  const { rows, first, loading, started } = list, total = first?.tags?.totalCount, height = useNarrow() ? 84 : 58;
  return (
    <div className="page">
      <p className="back">{back}</p>
      <div className="title"><h1>{title}</h1></div>
      <p className="lead">{lead}</p>
      <div className="filters"><SaveRows name={file} columns={fileColumns} readAll={list.readAll} disabled={total === 0} /><span className="total" role="status">{total != null && !loading ? plural(total, 'tag') : ' '}</span></div>
      {list.problems.length > 0 && rows.length === 0 ? <Problems loaded={list} />
        : !started ? <div className="table"><div className="pad"><Lines rows={8} height={38} /></div></div>
        : rows.length === 0 && !loading ? <div className="table"><Empty title="No image">{none}</Empty></div>
        : <Table label={title} kind="tag-columns" columns={columns} rows={rows} total={total} keyOf={({ uid: key }) => key} height={height} busy={loading} end={list.readMore}
          to={(row) => (row.repo ? imageAddress(groupOf(row), row.repo, row.digest) : '/console')} />}
      <ListProblems list={list} />
    </div>
  );
}
