import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { useChanged } from './client';
import { Branch, type BranchesFragment, type ShellQuery } from './generated/graphql';
import { groupAddress } from './places';
import { address, Link } from './router';
import { Icon } from './ui';
import { compact, plural, ratings } from './words';

type Node = NonNullable<BranchesFragment['children']>['nodes'][number];
interface Level { nodes: Node[]; after: string | null }
const nothing: Level = { nodes: [], after: null }, deepestIndent = 8;

/**
 * This is the tree of groups. On the way to the current page, the tree shows only the groups of that way until the reader asks for
 * the others, so that a page deep in the tree needs no further request.
 */
export function Tree({ org, names, view }: { org: NonNullable<ShellQuery['org']>; names: string[]; view: string }) {
  const { children } = org;
  return (
    <nav className="tree" aria-label="Groups">
      <p className="side-title">Groups</p>
      <ul>
        <Branches names={[org.name]} uid={org.uid} current={names} view={view} start={children ? { nodes: children.nodes, after: children.pageInfo.hasNextPage ? children.pageInfo.endCursor : null } : { nodes: [], after: null }} />
      </ul>
    </nav>
  );
}

function Branches({ names, uid, current, view, start, opened = false }: { names: string[]; uid: string; current: string[]; view: string; start?: Level; opened?: boolean }) {
  const client = useClient();
  const [level, setLevel] = useState(start), [failed, setFailed] = useState(false), reading = useRef(0), version = useChanged(), [shown] = useState(version);
  /** Reads after the given groups until there are enough of them. A later reading replaces an earlier one. */
  const read = async (from: Level, enough: number) => {
    const own = ++reading.current;
    let { nodes, after } = from;
    do {
      const { data } = await client.query(Branch, { uid, after } as never, { requestPolicy: version === shown ? 'cache-first' : 'network-only' }).toPromise();
      if (own !== reading.current) return;
      const page = data?.group?.children;
      setFailed(!page);
      if (!page) return;
      nodes = [...nodes, ...page.nodes];
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null && nodes.length < enough);
    setLevel({ nodes, after });
  };
  useEffect(() => { if (opened && !level) void read(nothing, 0); }, [opened]);
  // After the reader makes a change, the visible groups are read again.
  useEffect(() => { if (version !== shown && level && uid) void read(nothing, level.nodes.length); }, [version]);
  const next = current.length > names.length && names.every((name, i) => current[i] === name) ? current[names.length] : undefined;
  // The group of the page is shown also if it is not among the groups that were read.
  const unread = next !== undefined && (!level || level.after !== null && !level.nodes.some(({ name }) => name === next));
  return (
    <>
      {level?.nodes.map((node) => <Row key={node.name} names={[...names, node.name]} node={node} current={current} view={view} />)}
      {unread && <Row key={next} names={[...names, next]} current={current} view={view} />}
      {!level && <li><button type="button" className="more" onClick={() => void read(nothing, 0)}>{failed ? 'Try again' : 'Show all'}</button></li>}
      {level?.after && <li><button type="button" className="more" onClick={() => void read(level, 0)}>{failed ? 'Loading failed. Try again' : 'Show more'}</button></li>}
      {level?.nodes.length === 0 && names.length === 1 && <li className="dim note">No groups yet</li>}
    </>
  );
}

function Row({ names, node, current, view }: { names: string[]; node?: Node; current: string[]; view: string }) {
  const onTheWay = names.every((name, i) => current[i] === name), here = onTheWay && current.length === names.length;
  const [open, setOpen] = useState(onTheWay && !here), [opened, setOpened] = useState(false);
  const below = node ? node.children?.totalCount ?? 0 : onTheWay && !here ? 1 : 0;
  const found = node?.findingSummary?.open, name = names.at(-1)!, worst = found && ratings.find((rating) => found[rating.toLowerCase() as 'high'] > 0)?.toLowerCase();
  const [wasOnTheWay, setWas] = useState(onTheWay && !here);
  if (wasOnTheWay !== (onTheWay && !here)) {
    setWas(onTheWay && !here);
    if (onTheWay && !here) setOpen(true);
  }
  return (
    <li>
      <div className="branch">
        {below > 0 ? <button type="button" className="twist" aria-expanded={open} aria-label={`Groups in ${name}`} onClick={() => { setOpen(!open); setOpened(node !== undefined); }}><Icon name="right" /></button> : <span className="twist" />}
        <Link to={node ? groupAddress(names, node.uid, view) : address(names, view)} aria-current={here ? 'true' : undefined}>
          <span className="name">{name}</span>{found && worst && <small className={worst} title={plural(found.total, 'open finding')}><i />{compact(found.total)}</small>}
        </Link>
      </div>
      {open && below > 0 && <ul className={names.length > deepestIndent ? 'deep' : undefined}><Branches names={names} uid={node?.uid ?? ''} current={current} view={view} opened={opened} key={node ? 'whole' : 'way'} /></ul>}
    </li>
  );
}
