export function Repos(_: { uid: string; names: string[] }) { return null; }
