/** This is what an address leads to: a group, or a repo of a group. */
export interface KnownPlace { kind: 'group' | 'repo'; uid: string; groupUid?: string; groupNames: string[]; twin?: KnownPlace /* This is a repo with the same path as the group. */ }

/** This map has the groups and repos that the reader has seen, by path. */
export const known = new Map<string, KnownPlace>();

/** Forgets these places, because another reader may see fewer of them, or because a place was renamed or deleted. */
export const forgetPlaces = () => known.clear();
