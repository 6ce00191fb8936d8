// This file compares the names of tags as versions.

const early = /^(a|b|c|m|alpha|beta|rc|cr|pre|preview|dev|snapshot|milestone|ea|nightly|canary)$/i;

/** Says whether a name is that of a version: 1.2, v3, 20-alpine. */
export const isVersion = (name: string) => /^v?\d/i.test(name);

const partsOf = (name: string) => name.replace(/^v(?=\d)/i, '').match(/\d+|[a-z]+/gi) ?? [];

/** Compares two versions. A longer one is newer (1.2.1, 1.2-r3), unless what follows says that it came before: 1.2-rc1. */
export function compareVersions(a: string, b: string): number {
  const left = partsOf(a), right = partsOf(b);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const x = left[i], y = right[i];
    if (x === y) continue;
    if (x === undefined) return early.test(y) ? 1 : -1;
    if (y === undefined) return early.test(x) ? -1 : 1;
    const numbers = /^\d/.test(x) && /^\d/.test(y);
    if (numbers && Number(x) !== Number(y)) return Number(x) - Number(y);
    if (!numbers) return /^\d/.test(x) ? 1 : /^\d/.test(y) ? -1 : early.test(x) !== early.test(y) ? (early.test(x) ? -1 : 1) : x < y ? -1 : 1;
  }
  return 0;
}

/** Compares the names of tags, the newest version first. Names that are no versions follow, in the order of the alphabet. */
export function compareTags(a: string, b: string): number {
  if (isVersion(a) !== isVersion(b)) return isVersion(a) ? -1 : 1;
  return (isVersion(a) ? compareVersions(b, a) : 0) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Returns the tags of one image: those that are active, then the others, the newest version first. */
export const sortTags = <Tag extends { name: string }>(tags: Tag[], active: string[]): Tag[] =>
  tags.toSorted((a, b) => Number(active.includes(b.name)) - Number(active.includes(a.name)) || compareTags(a.name, b.name));

/** Returns when a tag last came to an image. */
export const lastMoved = (tags: { updateTime: string }[]): string => tags.map(({ updateTime }) => updateTime).sort().at(-1)!;
