import { useData } from '../client';
import { Start as StartDocument, type ShellQuery } from '../generated/graphql';
import { AcceptInvite } from '../invited';
import { groupAddress } from '../places';
import { Link } from '../router';
import { claims } from '../session';
import { Card, Empty, Lines, namesOf, Problems, SeverityBar } from '../ui';
import { plural } from '../words';

/** This page shows where the reader has a role, unless the reader sees exactly one organization. */
export function Start({ roots }: { roots: NonNullable<ShellQuery['groups']>['nodes'] }) {
  const loaded = useData(StartDocument, {});
  const { data, loading } = loaded;
  if (!data) return <div className="page">{loading ? <Lines rows={5} height={44} /> : <Problems loaded={loaded} />}</div>;
  const bindings = data.viewer?.roleBindings?.nodes ?? [];
  const bound = new Map(bindings.filter(({ group }) => group).map(({ group, role }) => [group!.uid, { group: group!, role: role?.name ?? '' }]));
  const others = roots.filter(({ uid }) => !bound.has(uid));
  if (bound.size + others.length === 0) return <Stranger identities={data.viewer?.identities ?? []} reload={loaded.reload} />;
  return (
    <div className="page">
      <div className="title"><h1>Where you have a role</h1><div className="actions"><AcceptInvite /></div></div>
      <Card title="Groups">
        <ul className="rows">
          {[...bound.values()].map(({ group, role }) => (
            <li key={group.uid}><Link className="row-link" to={groupAddress(namesOf(group), group.uid)}>
              <span className="grow"><b>{namesOf(group).join(' / ')}</b>{group.description && <small>{group.description}</small>}</span>
              <span className="dim">{role}</span><span className="dim">{group.repos && plural(group.repos.totalCount, 'repo')}</span><SeverityBar of={group.findingSummary} />
            </Link></li>
          ))}
          {others.map((group) => <li key={group.uid}><Link className="row-link" to={groupAddress([group.name], group.uid)}><span className="grow"><b>{group.name}</b>{group.description && <small>{group.description}</small>}</span></Link></li>)}
        </ul>
      </Card>
    </div>
  );
}

const Stranger = ({ identities, reload }: { identities: { uid: string; name: string; email: string | null }[]; reload: () => void }) => (
  <Empty whole title="You have no access yet">
    {identities.length > 0 ? `You are signed in as ${identities.map(({ name, email }) => email ?? name).join(', ')}, and have no role in any group.` : `Your token is valid, but no identity matches it. Its issuer is ${String(claims().iss)}, and its subject ${String(claims().sub)}.`}{' '}
    Ask an owner of your organization for a role or an invite. A new role takes effect at once: <button type="button" className="link-button" onClick={reload}>check again</button>. The guide explains <a href="/guide/sign-in">how people get access</a>.
    <span className="after"><AcceptInvite /></span>
  </Empty>
);
