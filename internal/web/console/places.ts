// This file finds the group or repo that the names in an address lead to. It does not look up what a page has already shown.

import { Place, type ShellQuery } from './generated/graphql';
import { useData, type QueryState } from './client';
import { known, type KnownPlace } from './known';
import { address, type Location } from './router';

// A reader who has a role only deep in the tree does not see the names of the groups above. The address then holds the uid, too.
const isWhole = (names: string[], uid: string) => names.length === uid.split('/').length;

/** Remembers what is at a path. A group and a repo can have the same path: it then leads to the group, which has the repo as its twin. */
function remember(path: string, place: KnownPlace) {
  const old = known.get(path);
  if (place.kind === 'repo' && old?.kind === 'group') known.set(path, { ...old, twin: place });
  else known.set(path, place.kind === 'repo' || !old ? place : { ...place, twin: old.kind === 'repo' ? old : old.twin });
}

/** Returns the address of a group, and remembers the group by its path. */
export function groupAddress(names: string[], uid: string, view = '', search?: Record<string, string | undefined>) {
  remember(names.join('/'), { kind: 'group', uid, groupNames: names });
  return address(names, view, isWhole(names, uid) ? search : { group: uid, ...search });
}

/** Returns the address of a page of a group. It also works for a group that is not known yet. */
export function pageAddress(names: string[], view = '') {
  const found = known.get(names.join('/'));
  return found?.kind === 'group' ? groupAddress(names, found.uid, view) : address(names, view);
}

/** Returns the address of a repo, and remembers the repo by its path. */
export function repoAddress(groupNames: string[], repo: { uid: string; name: string }, search?: Record<string, string | undefined>) {
  const names = [...groupNames, repo.name], groupUid = repo.uid.slice(0, repo.uid.lastIndexOf('/'));
  remember(names.join('/'), { kind: 'repo', uid: repo.uid, groupUid, groupNames });
  const kind = known.get(names.join('/'))!.kind === 'group' ? 'repo' : undefined;
  return address(names, '', isWhole(groupNames, groupUid) ? { kind, ...search } : { repo: repo.uid, kind, ...search });
}

/** Returns the address of the page of an image. */
export const imageAddress = (groupNames: string[], repo: { uid: string; name: string }, digest: string) => repoAddress(groupNames, repo, { image: digest });

/** The list of all role bindings on a group and below, in the address of its page of access. */
export const hereAndBelow = { show: 'review', left: 'no' };

type Answer = Pick<ShellQuery, 'group' | 'repo'>;

function learn(path: string, names: string[], answer: Answer | undefined) {
  if (answer?.group) remember(path, { kind: 'group', uid: answer.group.uid, groupNames: names });
  if (answer?.repo) remember(path, { kind: 'repo', uid: answer.repo.uid, groupUid: answer.repo.group?.uid, groupNames: names.slice(0, names.length - answer.repo.name.split('/').length) });
}

/** Finds what is at a path: among the known places, in the first answer of the console, or with a request. */
export function usePlace({ path, names, search }: Location, shell: QueryState<ShellQuery>, firstPath: string): { place?: KnownPlace; loading: boolean; problem?: string; reload: () => void } {
  const group = search.get('group'), repo = search.get('repo');
  const first = { ...shell, data: shell.own ? shell.data : undefined }; // Until the answer arrives, the shell has that of the previous organization.
  // A uid in the address counts only for readers who may not see the names above. For all others the names decide: otherwise an
  // address could show one group below the name of another.
  const partial = first.data !== undefined && !first.data.org;
  if (partial && group && !known.has(path)) known.set(path, { kind: 'group', uid: group, groupNames: names });
  if (partial && repo && !known.has(path)) known.set(path, { kind: 'repo', uid: repo, groupUid: repo.slice(0, repo.lastIndexOf('/')), groupNames: names.slice(0, -1) });
  if (!known.has(path)) {
    if (path === firstPath) learn(path, names, first.data);
    if (names.length === 1 && first.data?.org?.name === path) known.set(path, { kind: 'group', uid: first.data.org.uid, groupNames: names });
  }
  const lookUp = Boolean(first.data) && path !== '' && path !== firstPath && names.length > 1 && !known.has(path);
  const looked = useData(Place, { path, below: names.length > 1 }, { pause: !lookUp, fresh: false });
  if (lookUp) learn(path, names, looked.data);
  const found = known.get(path), place = search.get('kind') === 'repo' && found?.twin ? found.twin : found;
  const reload = () => { shell.reload(); if (lookUp) looked.reload(); };
  if (place || path === '') return { place, loading: false, reload };
  const loading = lookUp ? looked.loading : first.loading;
  const unavailable = [...first.problems, ...looked.problems].find(({ code }) => !['NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENT', ''].includes(code));
  return { loading, problem: unavailable?.message, reload };
}
