// This file saves lists as files. The endpoint of exports wants the token in a header, so the console fetches the file, and saves it.

import { useState } from 'react';
import { refuseToken, useSession } from './session';
import { Icon } from './ui';

type Format = 'csv' | 'json' | 'sarif';
const names: Record<Format, string> = { csv: 'CSV', json: 'JSON', sarif: 'SARIF' };

interface ExportProps {
  what: 'findings' | 'packages';
  within: string;
  filter: Record<string, string | string[] | undefined>; // These are the parameters of the endpoint. Those without a value are left out.
  formats: Format[];
  disabled?: boolean;
}

/** These buttons save all rows of a filtered list, and not only those that the page has read. */
export function ExportLinks({ what, within, filter, formats, disabled }: ExportProps) {
  const { token } = useSession();
  const [busy, setBusy] = useState<Format>(), [said, setSaid] = useState('');
  const save = async (format: Format) => {
    if (busy) return;
    setBusy(format);
    setSaid('');
    const fault = await saveFile(`/export/${what}?${new URLSearchParams([['within', within], ['format', format], ...pairsOf(filter)])}`, `${what}.${format}`, token).catch(() => brokeOff(what));
    setBusy(undefined);
    setSaid(fault);
  };
  return (
    <span className="exports" role="group" aria-label={`Save the ${what} as a file`}>
      <Icon name="save" />{formats.map((format) => <button key={format} type="button" className="link-button" aria-disabled={disabled || busy !== undefined} onClick={() => { if (!disabled) void save(format); }} aria-label={`Export ${names[format]}`} title={`Save all ${what} of this list as ${names[format]}`}>{busy === format ? '…' : names[format]}</button>)}
      {said && <span className="fault" role="alert">{said}</span>}
    </span>
  );
}

const pairsOf = (filter: ExportProps['filter']): [string, string][] =>
  Object.entries(filter).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [value].flat().map((one): [string, string] => [name, one])));

const brokeOff = (what: string) => `The download of ${what} stopped: the server closed the connection. Try again.`;

interface SBOM { architecture?: string | null; cyclonedx: string; spdx: string }

/** These buttons save the SBOMs of an image. */
export function SBOMLinks({ sboms, image }: { sboms: readonly SBOM[]; image: string }) {
  const { token } = useSession();
  const [busy, setBusy] = useState(''), [said, setSaid] = useState('');
  const save = async (address: string, name: string) => {
    if (busy) return;
    setBusy(address);
    setSaid('');
    const fault = await saveFile(address, name, token).catch(() => brokeOff(`the SBOM of ${image}`));
    setBusy('');
    setSaid(fault);
  };
  if (!sboms.length) return null;
  return (
    <span className="exports" role="group" aria-label={`Save the SBOM of ${image} as a file`}>
      {sboms.map(({ architecture, cyclonedx, spdx }) => {
        const of = sboms.length > 1 ? ` for ${architecture ?? 'all architectures'}` : '';
        return [['CycloneDX', cyclonedx, 'cdx.json'], ['SPDX', spdx, 'spdx.json']].map(([label, address, ending]) => <button key={address} type="button" className="link-button" aria-disabled={busy !== ''} onClick={() => void save(address, `sbom.${ending}`)} title={`Save the SBOM of ${image}${of} as ${label}`} aria-label={`Save the SBOM of ${image}${of} as ${label}`}>{busy === address ? '…' : label}{of && <span className="dim"> {architecture ?? 'all'}</span>}</button>);
      })}
      {said && <span className="fault" role="alert">{said}</span>}
    </span>
  );
}

/** Fetches a file and saves it. Returns what went wrong, or nothing. */
async function saveFile(address: string, name: string, token: string): Promise<string> {
  const response = await fetch(address, { headers: { Authorization: 'Bearer ' + token } });
  if (response.status === 401) { await refuseToken(token); return 'Your session has ended. Sign in again.'; }
  if (!response.ok) {
    const { message } = await response.json().catch(() => ({})) as { message?: string };
    return `The file could not be created: ${message ?? `the server answered ${response.status}`}`;
  }
  const file = URL.createObjectURL(await response.blob()), link = document.createElement('a');
  link.href = file;
  link.download = response.headers.get('Content-Disposition')?.match(/filename="?([^";]+)/)?.[1] ?? name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(file), 10_000);
  return '';
}
