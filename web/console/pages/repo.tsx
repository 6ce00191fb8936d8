export function Repo(_: { uid: string; names: string[]; groupNames: string[] }) { return null; }
