// This file sorts lists by their columns. The order is in the address.

import { narrow, useLocation } from './router';
import { Icon } from './ui';

type Direction = 'ASC' | 'DESC';
interface Order { field: string; direction: Direction }
export interface Sorting<Sort extends string> { sort: Sort; first: Sort; orderBy: Order; defaults: Record<Sort, Order> }
const turned = { ASC: 'DESC', DESC: 'ASC' } as const;

/** Returns how a list is sorted. Each order has a direction of its own, and the address says whether the reader has turned it. The first order is that of a list that nobody has sorted. */
export function useSorting<Sort extends string, Orders extends Record<Sort, Order>>(defaults: Orders & Record<Sort, Order>) {
  const { search } = useLocation(), asked = search.get('sort') as Sort, [first] = Object.keys(defaults) as Sort[];
  const sort = Object.hasOwn(defaults, asked ?? '') ? asked : first, { field, direction } = defaults[sort] as Orders[Sort];
  return { sort, first, defaults, orderBy: { field: field as Orders[Sort]['field'], direction: search.get('dir') === 'turned' ? turned[direction] : direction } };
}

const isTurned = <Sort extends string>({ sort, orderBy, defaults }: Sorting<Sort>) => orderBy.direction !== defaults[sort].direction;

/** This field chooses how a list is sorted. If the reader has turned the direction, it says so. */
export function SortSelect<Sort extends string>({ sorting, names }: { sorting: Sorting<Sort>; names: Record<Sort, string> }) {
  const { sort, first } = sorting, reversed = isTurned(sorting);
  return (
    <select aria-label="Sort" value={reversed ? '' : sort} onChange={({ target: { value } }) => narrow({ sort: value === first ? undefined : value, dir: undefined })}>
      {reversed && <option value="" hidden>{names[sort]}, reversed</option>}
      {Object.entries<string>(names).map(([value, name]) => <option key={value} value={value}>{name}</option>)}
    </select>
  );
}

/** This heading of a column sorts by it. If the list is sorted by it already, it turns the direction. */
export function SortBy<Sort extends string>({ by, label, sorting }: { by: Sort; label: string; sorting: Sorting<Sort> }) {
  const { first, orderBy, defaults } = sorting, here = defaults[by].field === orderBy.field, up = orderBy.direction === 'ASC';
  return (
    <button type="button" aria-pressed={here} title={here ? 'Reverse the order' : `Sort by ${label.toLowerCase()}`} onClick={() => narrow(here ? { dir: isTurned(sorting) ? undefined : 'turned' } : { sort: by === first ? undefined : by, dir: undefined })}>
      {label}{here && <> <Icon name={up ? 'up' : 'down'} /><span className="sr">{up ? 'ascending' : 'descending'}</span></>}
    </button>
  );
}
