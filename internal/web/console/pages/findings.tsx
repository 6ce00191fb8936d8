import { useData } from '../client';
import { FindingList } from '../finding-list';
import { FindingRights } from '../generated/graphql';
import { OverTime } from '../over-time';
import { narrow, useLocation } from '../router';

/** This page shows what is wrong with the images below a group. */
export function Findings({ uid, names }: { uid: string; names: string[] }) {
  const group = useData(FindingRights, { uid }, { fresh: false }).data?.group, overTime = useLocation().search.get('over') === 'time';
  return (
    <div className="page">
      <div className="title"><h1>Findings</h1></div>
      <p className="lead">Vulnerabilities in the images below {names.join(' / ')}. An image counts while a tag that is not deprecated points to it.</p>
      <div className="tabs" role="group" aria-label="How findings are shown">
        <button type="button" aria-pressed={!overTime} onClick={() => narrow({ over: undefined })}>List</button>
        <button type="button" aria-pressed={overTime} onClick={() => narrow({ over: 'time' })}>Over time</button>
      </div>
      {overTime ? <OverTime uid={uid} name={names.at(-1)!} /> : <FindingList uid={uid} name={names.at(-1)!} names={names} held={group ? { capabilities: group.viewerCapabilities, on: names.at(-1)! } : undefined} />}
    </div>
  );
}
