export function Activity(_: { uid: string; names: string[] }) { return null; }
