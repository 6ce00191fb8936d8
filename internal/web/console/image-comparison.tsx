// This file shows what differs between two images of a repo.

import { useRef, type ReactNode } from 'react';
import { useData } from './client';
import { CompareImages, type ComparedFindingFragment, type CompareImagesQuery } from './generated/graphql';
import { narrow } from './router';
import { Card, Empty, Icon, Lines, Problems, Severity, useKeptFocus } from './ui';
import { count, plural, shorten } from './words';

type Compared = NonNullable<CompareImagesQuery['compareImages']>;
interface NamedTag { uid: string; name: string; digest: string }

/** This part compares the images of two tags: their findings, and their packages. */
export function ImageComparison({ repo, from, to, found }: { repo: string; from?: NamedTag | null; to?: NamedTag | null; found: boolean }) {
  const loaded = useData(CompareImages, { from: from?.uid ?? '', to: to?.uid ?? '' }, { pause: !from || !to }), compared = loaded.data?.compareImages;
  const heading = useRef<HTMLHeadingElement>(null);
  useKeptFocus(heading);
  const back = <button type="button" className="link-button" onClick={() => narrow({ tab: undefined, from: undefined, to: undefined })}>All tags</button>;
  if (found && (!from || !to)) return <div className="grid"><Card title="Comparison" className="wide-12"><Empty title="A tag is gone">{repo} no longer has both of these tags.{back}</Empty></Card></div>;
  return (
    <>
      <div className="filters"><h2 ref={heading}>{from && to ? <>{shorten(from.name)} <span className="dim">→</span> {shorten(to.name)}</> : ' '}</h2>
        {from && to && <button type="button" onClick={() => narrow({ from: to.name, to: from.name })}><Icon name="sort" />Swap</button>}{back}</div>
      {!compared ? loaded.loading || !from ? <Lines rows={8} height={30} /> : <Problems loaded={loaded} /> : (
        <>
          <p className="told">{from!.digest === to!.digest ? 'Both tags point to the same image.' : inWords(compared)}</p>
          <div className="grid ragged">
            <Findings title="Findings that are gone" found={compared.findingsGone} total={compared.findingsGoneCount} />
            <Findings title="New findings" found={compared.findingsNew} total={compared.findingsNewCount} />
            <Packages title="Changed versions" total={compared.changedCount} rows={compared.changed.map((one) => [one.name, one.ecosystem, <>{one.from.join(', ')} <span className="dim">→</span> {one.to.join(', ')}</>])} />
            <div className="wide-6 column"><Packages title="Added" total={compared.addedCount} rows={compared.added.map((one) => [one.name, one.ecosystem, one.version ?? ''])} />
              <Packages title="Removed" total={compared.removedCount} rows={compared.removed.map((one) => [one.name, one.ecosystem, one.version ?? ''])} /></div>
          </div>
        </>
      )}
    </>
  );
}

function inWords({ findingsGoneCount: gone, findingsNewCount: added, changedCount, addedCount, removedCount }: Compared): string {
  const packages = [changedCount && `${plural(changedCount, 'package')} with another version`, addedCount && `${count(addedCount)} added`, removedCount && `${count(removedCount)} removed`].filter(Boolean).join(', ');
  return `${gone === 0 ? 'No finding is' : gone === 1 ? 'One finding is' : `${count(gone)} findings are`} gone, ${added === 0 ? 'none is' : added === 1 ? 'one is' : `${count(added)} are`} new. ${packages || 'The packages are the same'}.`;
}

function Findings({ title, found, total }: { title: string; found: ComparedFindingFragment[]; total: number }) {
  return (
    <Card title={<>{title} <span className="chip">{count(total)}</span></>} className="wide-6">
      {found.length === 0 ? <p className="dim">None</p> : <ul className="rows">{found.map((one) => (
        <li key={one.uid}><div className="row-link"><span className="grow"><b>{one.vulnerabilityId}</b><small>{[one.package === one.digest ? 'the image' : one.package, one.installedVersion, one.state === 'ACCEPTED' && 'accepted', one.state === 'NOT_AFFECTED' && 'not affected'].filter(Boolean).join(' · ')}</small></span><Severity rating={one.severity.rating} score={one.severity.score} /></div></li>
      ))}</ul>}
      {total > found.length && <p className="dim note">and {count(total - found.length)} more</p>}
    </Card>
  );
}

function Packages({ title, total, rows }: { title: string; total: number; rows: [string, string | null, ReactNode][] }) {
  return (
    <Card title={<>{title} <span className="chip">{count(total)}</span></>} className="wide-6">
      {rows.length === 0 ? <p className="dim">None</p> : <ul className="plain-rows">{rows.map(([name, ecosystem, versions], i) => <li key={i}><span title={ecosystem ?? undefined}>{name}</span><span className="dim">{versions}</span></li>)}</ul>}
      {total > rows.length && <p className="dim note">and {count(total - rows.length)} more</p>}
    </Card>
  );
}
