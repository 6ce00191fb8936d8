/** What is at an address: a group, or a repo of a group. */
export interface Located { kind: 'group' | 'repo'; uid: string; groupUid?: string; groupNames: string[] }

/** What the reader has seen, by its path. */
export const known = new Map<string, Located>();

/** Forgets it, because another reader may see less. */
export const forgetPlaces = () => known.clear();
