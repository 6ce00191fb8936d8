import { useData } from '../client';
import { FindingList } from '../finding-list';
import { FindingRights } from '../generated/graphql';

/** This page shows what is wrong with the images below a group. */
export function Findings({ uid, names }: { uid: string; names: string[] }) {
  const group = useData(FindingRights, { uid }, { fresh: false }).data?.group;
  return (
    <div className="page">
      <div className="title"><h1>Findings</h1></div>
      <p className="lead">What is wrong with the images below {names.join(' / ')}. An image counts while a tag points to it that is not deprecated.</p>
      <FindingList uid={uid} name={names.at(-1)!} held={group ? { capabilities: group.viewerCapabilities, on: names.at(-1)! } : undefined} />
    </div>
  );
}
