export function Advisories(_: { uid: string; names: string[] }) { return null; }
