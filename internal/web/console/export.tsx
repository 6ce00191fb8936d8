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
    const fault = await saveFile(what, new URLSearchParams([['within', within], ['format', format], ...pairsOf(filter)]), token).catch(() => `The file of ${what} broke off: the server ended the connection. Try again.`);
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

/** Fetches a file and saves it. Returns what went wrong, or nothing. */
async function saveFile(what: string, parameters: URLSearchParams, token: string): Promise<string> {
  const response = await fetch(`/export/${what}?${parameters}`, { headers: { Authorization: 'Bearer ' + token } });
  if (response.status === 401) { await refuseToken(token); return 'Your session has ended.'; }
  if (!response.ok) {
    const { message } = await response.json().catch(() => ({})) as { message?: string };
    return `The file could not be made: ${message ?? `the server answered ${response.status}`}`;
  }
  const file = URL.createObjectURL(await response.blob()), link = document.createElement('a');
  link.href = file;
  link.download = response.headers.get('Content-Disposition')?.match(/filename="?([^";]+)/)?.[1] ?? `${what}.${parameters.get('format')}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(file), 10_000);
  return '';
}
