// This file draws who has which role on which group: lines lead from identities to roles, and from roles to the groups on which
// they are bound. The positions are computed and not measured, so that nothing jumps.

import { useState, type ReactNode } from 'react';
import { summarize } from './access';
import type { Capability } from './generated/graphql';
import { useNarrow } from './list';
import { Link } from './router';
import { Icon, type IconName } from './ui';
import { count, plural } from './words';

/** A holder is somebody who has a role: an identity, or all people whom an identity provider lists in a group. */
export interface Holder { key: string; name: string; detail?: string; icon: IconName; to?: string }
/** This is a role on a group, with all holders who have it there. */
export interface GrantedRole { key: string; role: string; capabilities?: readonly Capability[]; station: string; holders: Holder[]; note?: string }
/** A station is a group of the picture. */
export interface Station { key: string; name: string; detail?: string; to?: string; here?: boolean }

interface PictureProps {
  label: string;
  given: GrantedRole[];
  stations: Station[]; // If they are a way, they lead from the organization down.
  way: boolean; // It says whether each group is in the one before, so that roles count further down.
  onGiven: (key: string) => void;
}

const row = 44, node = 38, apart = 14, highBlock = 8 * row;
const fewHolders = 5, manyHolders = 24, furtherHolders = 25, manyOnNarrow = 12;

/** A box on the left shows one holder, or how many more holders there are. */
interface Box { id: string; holders: Holder[]; rest?: { given: string; hidden: number; shown: number } }

function layOut(given: GrantedRole[], stations: Station[], opened: ReadonlyMap<string, number>) {
  const all = new Set(given.flatMap(({ holders }) => holders.map(({ key }) => key)));
  const placed = new Set<string>(), boxes: (Box & { y: number })[] = [], roles: { one: GrantedRole; y: number }[] = [], groups: { one: Station; y: number }[] = [];
  let y = 0;
  for (const station of stations) {
    const here = given.filter((one) => one.station === station.key), from = roles.length;
    for (const one of here) {
      const fresh = one.holders.filter(({ key }) => !placed.has(key)), shown = opened.get(one.key) ?? (all.size <= manyHolders ? fresh.length : fewHolders);
      const own: Box[] = fresh.slice(0, fresh.length <= shown + 1 ? fresh.length : shown).map((holder) => ({ id: holder.key, holders: [holder] }));
      const hidden = fresh.slice(own.length);
      if (hidden.length > 0 || (opened.has(one.key) && fresh.length > fewHolders + 1)) own.push({ id: 'rest ' + one.key, holders: hidden, rest: { given: one.key, hidden: hidden.length, shown: own.length } });
      fresh.forEach(({ key }) => placed.add(key));
      const height = Math.max(own.length, 1) * row;
      own.forEach((box, i) => boxes.push({ ...box, y: y + i * row }));
      roles.push({ one, y: y + (Math.min(height, highBlock) - row) / 2 }); // A role with many holders stays close to the first of them.
      y += height + apart;
    }
    groups.push({ one: station, y: here.length === 0 ? y : (roles[from].y + roles.at(-1)!.y) / 2 });
    if (here.length === 0) y += row + apart;
  }
  return { boxes, roles, groups, height: Math.max(y - apart, row) };
}

export function Picture(props: PictureProps) {
  const [opened, setOpened] = useState<ReadonlyMap<string, number>>(new Map());
  const open = (given: string, shown: number | undefined) => setOpened((old) => { const next = new Map(old); if (shown === undefined) next.delete(given); else next.set(given, shown); return next; });
  return useNarrow() ? <Outline {...props} opened={opened} open={open} /> : <Graph {...props} opened={opened} open={open} />;
}

type Folding = PictureProps & { opened: ReadonlyMap<string, number>; open: (given: string, shown: number | undefined) => void };

function Graph({ label, given, stations, way, onGiven, opened, open }: Folding) {
  const [lit, setLit] = useState<string>();
  const { boxes, roles, groups, height } = layOut(given, stations, opened);
  const has = (box: Box, one: GrantedRole) => one.holders.filter(({ key }) => box.holders.some((holder) => holder.key === key)).length;
  const here = stations.findIndex((one) => one.here);

  // The box under the pointer or with the focus lights the boxes that it is connected with. A group lights all that counts there.
  const stationOf = (key: string) => stations.findIndex((one) => one.key === key), litStation = lit === undefined ? -1 : stationOf(lit);
  const litRoles = new Set(given.filter((one) => lit === one.key || (litStation >= 0 && (way ? stationOf(one.station) <= litStation : one.station === lit)) || boxes.some((box) => box.id === lit && has(box, one) > 0)).map(({ key }) => key));
  const first = stations.findIndex(({ key }) => given.some((one) => litRoles.has(one.key) && one.station === key)), last = litStation >= 0 ? litStation : here;
  const connected = (id: string): boolean => {
    if (lit === undefined || id === lit || litRoles.has(id)) return true;
    const box = boxes.find((one) => one.id === id), at = stationOf(id);
    if (box) return !boxes.some((one) => one.id === lit) && given.some((one) => litRoles.has(one.key) && has(box, one) > 0);
    return at >= 0 && first >= 0 && (way ? at >= first && at <= last : given.some((one) => litRoles.has(one.key) && one.station === id));
  };
  const look = (id: string) => ({ onPointerEnter: () => setLit(id), onPointerLeave: () => setLit(undefined), onFocus: () => setLit(id), onBlur: () => setLit(undefined) });
  const middle = (y: number) => y + row / 2;
  const line = (key: string, from: number, to: number, on: boolean, many = 1) => <path key={key} className={lit !== undefined && on ? 'lit' : ''} d={`M0 ${middle(from)}C55 ${middle(from)} 45 ${middle(to)} 100 ${middle(to)}`} strokeWidth={many > 12 ? 3 : many > 1 ? 2.2 : 1.5} />;
  return (
    <div className={lit === undefined ? 'picture' : 'picture looking'} role="group" aria-label={label}>
      <div className="picture-head" aria-hidden="true"><span>Who</span><span /><span>has the role</span><span /><span>on the group</span></div>
      <div className="picture-body" style={{ height }}>
        <ul>{boxes.map(({ y, ...box }) => (
          <li key={box.id} style={{ top: y }}>{box.rest
            ? <Rest box={box} open={open} look={look(box.id)} off={!connected(box.id)} />
            : <HolderNode holder={box.holders[0]} look={look(box.id)} off={!connected(box.id)} has={given.filter((one) => has(box, one) > 0).map(({ role, station }) => `${role} on ${stations.find(({ key }) => key === station)?.name}`)} />}</li>
        ))}</ul>
        <svg height={height} viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden="true">{boxes.flatMap((box) => roles.flatMap(({ one, y }) => {
          const many = has(box, one);
          return many === 0 || box.holders.length === 0 ? [] : [line(box.id + one.key, box.y, y, litRoles.has(one.key) && connected(box.id), many)];
        }))}</svg>
        <ul>{roles.map(({ one, y }) => <li key={one.key} style={{ top: y }}><RoleNode one={one} onGiven={onGiven} look={look(one.key)} off={!connected(one.key)} /></li>)}</ul>
        <svg height={height} viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden="true">{roles.map(({ one, y }) => line(one.key, y, groups.find((group) => group.one.key === one.station)?.y ?? 0, litRoles.has(one.key), one.holders.length))}</svg>
        <ul>
          {way && groups.slice(1, here + 1).map(({ one, y }, i) => <li key={'down ' + one.key} className={lit !== undefined && connected(groups[i].one.key) && connected(one.key) ? 'down lit' : 'down'} style={{ top: groups[i].y + (row + node) / 2, height: y - groups[i].y - node }} aria-hidden="true" />)}
          {groups.map(({ one, y }) => <li key={one.key} style={{ top: y }}><StationNode station={one} look={look(one.key)} off={!connected(one.key)} /></li>)}
        </ul>
      </div>
    </div>
  );
}

type Look = Record<string, () => void>;
const nodeClass = (kind: string, off: boolean) => `node ${kind}${off ? ' off' : ''}`;
const TwoLines = ({ title, detail }: { title: ReactNode; detail?: ReactNode }) => <span className="two"><b>{title}</b>{detail && <small>{detail}</small>}</span>;

function HolderNode({ holder, has, look, off = false }: { holder: Holder; has?: string[]; look?: Look; off?: boolean }) {
  const content = <><Icon name={holder.icon} /><TwoLines title={holder.name} detail={holder.detail} />{has && <span className="sr">: {has.join(', ')}</span>}</>;
  const title = [holder.name, holder.detail].filter(Boolean).join(' – ');
  return holder.to ? <Link to={holder.to} className={nodeClass('who', off)} title={title} {...look}>{content}</Link> : <span className={nodeClass('who', off)} title={title} {...look}>{content}</span>;
}

function Rest({ box, open, look, off = false }: { box: Box; open: Folding['open']; look?: Look; off?: boolean }) {
  const { given, hidden, shown } = box.rest!;
  return (
    <span className={nodeClass('rest', off)} {...look}>
      {hidden > 0 && <button type="button" onClick={() => open(given, shown + furtherHolders)}>{hidden > furtherHolders ? `Show ${furtherHolders} of ${count(hidden)} more` : `Show ${count(hidden)} more`}</button>}
      {shown > fewHolders && <button type="button" onClick={() => open(given, undefined)}>Show fewer</button>}
    </span>
  );
}

function RoleNode({ one, onGiven, look, off = false }: { one: GrantedRole; onGiven: (key: string) => void; look?: Look; off?: boolean }) {
  return (
    <button type="button" className={nodeClass('role', off)} onClick={() => onGiven(one.key)} title={`${one.role}: ${summarize(one.capabilities)}`} {...look}>
      <Icon name="key" /><TwoLines title={one.role} detail={one.note ?? summarize(one.capabilities)} /><span className="many" title={plural(one.holders.length, 'holder')}>{count(one.holders.length)}<span className="sr"> {one.holders.length === 1 ? 'holder' : 'holders'}</span></span>
    </button>
  );
}

function StationNode({ station, look, off = false }: { station: Station; look?: Look; off?: boolean }) {
  const content = <><Icon name="group" /><TwoLines title={station.name} detail={station.detail} /></>;
  const className = nodeClass(station.here ? 'group here' : 'group', off), title = [station.name, station.detail].filter(Boolean).join(' – ');
  return station.to && !station.here ? <Link to={station.to} className={className} title={title} {...look}>{content}</Link> : <span className={className} title={title} {...look}>{content}</span>;
}

/** The outline shows the same on a narrow screen: each group has its roles, and each role has its holders. */
function Outline({ label, given, stations, onGiven, opened, open }: Folding) {
  const all = new Set(given.flatMap(({ holders }) => holders.map(({ key }) => key))).size;
  return (
    <ul className="outline" aria-label={label}>{stations.map((station) => {
      const roles = given.filter((one) => one.station === station.key);
      return (
        <li key={station.key}>
          <StationNode station={station} />
          {roles.length > 0 && <ul>{roles.map((one) => {
            const shown = opened.get(one.key) ?? (all <= manyOnNarrow ? one.holders.length : fewHolders);
            const some = one.holders.slice(0, one.holders.length <= shown + 1 ? one.holders.length : shown), hidden = one.holders.length - some.length;
            return (
              <li key={one.key}>
                <RoleNode one={one} onGiven={onGiven} />
                <ul className="holders">
                  {some.map((holder) => <li key={holder.key}><HolderNode holder={holder} /></li>)}
                  {(hidden > 0 || opened.has(one.key) && one.holders.length > fewHolders + 1) && <li><Rest box={{ id: one.key, holders: [], rest: { given: one.key, hidden, shown: some.length } }} open={open} /></li>}
                </ul>
              </li>
            );
          })}</ul>}
        </li>
      );
    })}</ul>
  );
}
