// This file has the card that says which packages to upgrade first, and why.

import { useState } from 'react';
import { useData } from './client';
import { DoFirst as DoFirstDocument, type DoFirstQuery } from './generated/graphql';
import { joinValues, useNarrow } from './list';
import { groupAddress } from './places';
import { Link } from './router';
import { Card, Empty, knownOf, Lines, NotShown, Severity, type Standing } from './ui';
import { count, formatRelativeTime, plural, ratings } from './words';

type Upgrade = NonNullable<DoFirstQuery['upgrades']>['nodes'][number];
const few = 5, most = 100; // The server shows no more than 100.

/** This card has the upgrades that do away with findings, the most urgent first. Each leads to the findings that it does away with. */
export function DoFirst({ uid, names, standing }: { uid: string; names: string[]; standing: Standing | null | undefined }) {
  const [first, setFirst] = useState(few), { data, loading } = useData(DoFirstDocument, { uid, first }, { keep: true }), found = data?.upgrades;
  const lines = <Lines rows={4} height={useNarrow() ? 84 : 50} />; // They are as high as the rows that replace them.
  return (
    <Card title="Do first" aside={<Link to={groupAddress(names, uid, 'findings', { show: 'fixable' })}>All fixable findings</Link>} className="wide-7 roomy">
      {found ? found.totalCount === 0 ? standing === undefined ? lines : <Nothing standing={standing} /> : <>
        <ul className="rows reasoned">{found.nodes.map((one) => (
          <li key={`${one.ecosystem} ${one.package}`}><Link className="row-link" to={groupAddress(names, uid, 'findings', { show: 'fixable', package: joinValues([one.package]), ecosystem: one.ecosystem ? joinValues([one.ecosystem]) : undefined })}>
            <span className="grow"><b>{one.package} to {one.to}{one.reasons.includes('KNOWN_EXPLOITED') && <span className="chip bad">exploited</span>}{one.reasons.includes('OVERDUE') && <span className="chip bad">overdue</span>}</b><small>{whyOf(one)}</small></span>
            <span className="dim fixed">{plural(one.gone.total, 'finding')}</span><Severity rating={one.severity.rating} score={one.severity.score} />
          </Link></li>
        ))}</ul>
        {found.totalCount > few && <p className="dim note"><button type="button" className="link-button" disabled={loading && first === most} onClick={() => setFirst(first === few ? most : few)}>{first === most ? `Show the first ${few}` : found.totalCount > most ? `Show the first ${most} of ${count(found.totalCount)} upgrades` : `Show all ${found.totalCount} upgrades`}</button></p>}
      </> : loading ? lines : <NotShown what="findings" />}
    </Card>
  );
}

/** Says in a line what an upgrade does away with, where, and why it comes before others. */
function whyOf({ gone, images, repos, epss, reasons, firstSeenTime }: Upgrade): string {
  const rated = ratings.map((rating) => rating.toLowerCase() as 'high').filter((key) => gone[key] > 0).map((key) => `${count(gone[key])} ${key}`).join(', ');
  return [
    `${rated} gone in ${plural(images, 'image')}${repos > 1 ? ` of ${plural(repos, 'repo')}` : ''}`,
    gone.knownExploited > 0 && `${count(gone.knownExploited)} known to be exploited`,
    reasons.includes('LIKELY_EXPLOITED') && `EPSS score ${Math.round(epss! * 100)}%`,
    reasons.includes('LONG_OPEN') && `open since ${formatRelativeTime(firstSeenTime)}`,
  ].filter(Boolean).join(' · ');
}

/** This text says why there is nothing to upgrade: because no image has an SBOM, because there is no fix, or because there is no finding. */
function Nothing({ standing }: { standing: Standing | null }) {
  if (standing && standing.images > 0 && standing.knownImages === 0) return <Empty title="No SBOMs yet">To see what to upgrade, import SBOMs for {plural(standing.images, 'image')}: see <a href="/guide/importing">importing</a>.</Empty>;
  const known = standing && knownOf(standing), open = standing?.open.total ?? 0;
  return <Empty title="Nothing to upgrade">{open > 0 ? `There is no fix yet for ${plural(open, 'open finding')}` : 'There is no open finding'}{known && ` (${known})`}.</Empty>;
}
