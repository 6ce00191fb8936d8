import { useData } from '../client';
import { Package as PackageDocument, type PackageQuery } from '../generated/graphql';
import { packageAddress, PackageList } from '../package-list';
import { groupAddress, repoAddress } from '../places';
import { Link, useLocation } from '../router';
import { TagsWith } from '../tags-with';
import { Card, CopyButton, Empty, Lines, namesOf, Problems, Severity } from '../ui';
import { count, plural } from '../words';

type Held = NonNullable<PackageQuery['packages']>['nodes'][number];

/** This page shows the packages that the images below a group hold, or one of them with its versions. */
export function Packages({ uid, names }: { uid: string; names: string[] }) {
  const { search } = useLocation(), name = search.get('name'), version = search.get('version') ?? undefined;
  const below = names.join(' / '), what = version ? `${name} ${version}` : name, ecosystem = search.get('ecosystem') ?? undefined;
  if (search.get('show') === 'unknown') return <TagsWith uid={uid} where={{ packagesKnown: false, excludeClasses: ['REFERRER'] }} title="Images without an SBOM" file="images-without-sbom" back={<Link to={groupAddress(names, uid, 'packages')}>Packages</Link>}
    lead={<>The images of these tags below {below} have no SBOM, so their packages and findings are unknown: see <a href="/guide/importing">importing</a>.</>} none={`No image below ${below} is without an SBOM.`} />;
  if (name && search.get('show') === 'tags') return <TagsWith uid={uid} where={{ package: { name, ecosystem, version } }} title={`Tags with ${what}`} file={`${name}-tags`} back={<Link to={packageAddress(names, uid, { name, ecosystem: ecosystem ?? null })}>{name}</Link>}
    lead={`The tags below ${below} whose image contains ${what}.`} none={`No tag below ${below} points to an image that contains ${what}.`} />;
  if (name) return <OnePackage uid={uid} names={names} name={name} />;
  return (
    <div className="page">
      <div className="title"><h1>Packages</h1></div>
      <p className="lead">Packages in the images below {names.join(' / ')}. An image counts while a tag that is not deprecated points to it.</p>
      <PackageList uid={uid} name={names.at(-1)!} names={names} />
    </div>
  );
}

/** This page shows who holds a package, at which versions, and what is wrong with these. */
function OnePackage({ uid, names, name }: { uid: string; names: string[]; name: string }) {
  const ecosystem = useLocation().search.get('ecosystem');
  const loaded = useData(PackageDocument, { uid, names: [name], ecosystems: ecosystem ? [ecosystem] : null });
  const { data, loading } = loaded, found = data?.packages?.nodes.filter((one) => !ecosystem || one.ecosystem === ecosystem), open = data?.findings?.totalCount;
  return (
    <div className="page">
      <p className="back"><Link to={groupAddress(names, uid, 'packages')}>Packages</Link></p>
      <div className="title"><h1>{found?.length === 1 ? found[0].name : name}</h1><CopyButton text={name} label="Copy the name" />{ecosystem && <span className="chip">{ecosystem}</span>}</div>
      <p className="lead">{!data ? ' ' : open ? <Link to={groupAddress(names, uid, 'findings', { package: name })}>{plural(open, 'open finding')} below {names.join(' / ')}</Link> : `No open finding below ${names.join(' / ')}`}</p>
      {!found ? loading ? <div className="card below-lead"><Lines rows={5} height={34} /></div> : <Problems loaded={loaded} />
        : found.length === 0 ? <div className="card below-lead"><Empty title="Not in any image">No image below {names.at(-1)} with a tag that is not deprecated contains the package {name}{ecosystem && ` of ${ecosystem}`}.</Empty></div>
        : found.map((one) => <Versions key={one.uid} found={one} several={found.length > 1} names={names} uid={uid} />)}
    </div>
  );
}

function Versions({ found, several, names, uid }: { found: Held; several: boolean; names: string[]; uid: string }) {
  const { nodes = [], totalCount = 0 } = found.versions ?? {};
  return (
    <div className="grid"><Card title={several ? <Link to={packageAddress(names, uid, found)}>{found.ecosystem ?? 'Unknown ecosystem'}</Link> : plural(totalCount, 'version')} className="wide-12">
      <div className="scroll" tabIndex={0} role="region" aria-label={`Versions of ${found.name}`}><table className="plain-table stacks">
        <thead><tr><th scope="col">Version</th><th scope="col">Found in</th><th scope="col">Advisories</th><th scope="col">Licenses</th></tr></thead>
        <tbody>{nodes.map((one) => (
          <tr key={one.uid}>
            <th scope="row">{one.version ?? 'unknown'}{one.purl && <CopyButton text={one.purl} label={`Copy the package URL of ${one.version ?? found.name}`} />}</th>
            <td data-label="Found in">{one.repos ? <>{one.repos.nodes.map((repo, i) => <span key={repo.uid}>{i > 0 && ', '}<Link to={repoAddress(namesOf(repo.group), repo)}>{repo.name}</Link></span>)}{one.repos.totalCount > one.repos.nodes.length && ` and ${count(one.repos.totalCount - one.repos.nodes.length)} more`}{one.tags && one.version && <small><Link to={holdersAddress(names, uid, found, one.version)}>{plural(one.tags.totalCount, 'tag')}</Link></small>}</> : '–'}</td>
            <td data-label="Advisories">{!one.advisories ? '–' : one.advisories.totalCount === 0 ? <span className="dim">none</span> : <ul className="stacked">{one.advisories.nodes.map((advisory) => <li key={advisory.uid}><Link to={groupAddress(names, uid, 'advisories', { id: advisory.advisoryId })}>{advisory.advisoryId}</Link> <Severity rating={advisory.severity.rating} score={advisory.severity.score} /></li>)}{one.advisories.totalCount > one.advisories.nodes.length && <li className="dim">and {count(one.advisories.totalCount - one.advisories.nodes.length)} more</li>}</ul>}</td>
            <td data-label="Licenses" className="dim">{one.licenses.join(', ') || '–'}</td>
          </tr>
        ))}</tbody>
      </table></div>
      {totalCount > nodes.length && <p className="dim note">These are the newest {count(nodes.length)} of {plural(totalCount, 'version')}. <Link to={holdersAddress(names, uid, found)}>List the tags with any version</Link></p>}
    </Card></div>
  );
}

/** Returns the address of the list of tags whose images hold a package, or a version of it. */
const holdersAddress = (names: string[], uid: string, { name, ecosystem }: { name: string; ecosystem: string | null }, version?: string) =>
  groupAddress(names, uid, 'packages', { name, ecosystem: ecosystem ?? undefined, version, show: 'tags' });
