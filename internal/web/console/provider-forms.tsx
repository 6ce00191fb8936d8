// This file has the forms that change providers, and what the groups there get.

import { useState } from 'react';
import { homeOf, isWithin } from './access';
import { useData } from './client';
import { Action, ConfirmButton, Form, reasonAgainst, type Choice, type Field, type Holding } from './form';
import {
  CreateExternalGroupRoleMapping, CreateIdentityProvider, DeleteExternalGroupRoleMapping, DeleteIdentityProvider, RolesFor, Scopes, UpdateIdentityProvider, type ListedProviderFragment,
} from './generated/graphql';
import { plural } from './words';

type Mapping = NonNullable<ListedProviderFragment['mappings']>['nodes'][number];

/** Returns the roles that can be given in a group, as soon as a form needs them. Without an answer, the form has a field for the uid. */
function useRoles(group: string, needed: boolean): Choice[] | undefined {
  const { data, problems } = useData(RolesFor, { uid: group }, { pause: !needed });
  return !data && problems.length === 0 ? undefined : [...(data?.roles?.nodes ?? []), ...(data?.group?.ancestors ?? []).flatMap((one) => one.roles?.nodes ?? []), ...(data?.group?.roles?.nodes ?? [])].map((role) => ({ value: role.uid, name: role.name, about: role.description ?? undefined }));
}

const fieldsWith = (roles: Choice[] | undefined): Field[] => [
  { name: 'name', label: 'Name' }, { name: 'description', label: 'Description' },
  { name: 'defaultRole', label: 'Everybody gets', choices: roles, hint: 'The role of everybody who signs in there. You can only give capabilities that you have yourself.' },
  { name: 'oidc.issuer', label: 'Issuer', code: true, placeholder: 'https://login.example.com', hint: 'It is what its tokens say in iss: an https URL.' },
  { name: 'oidc.clientId', label: 'Client', code: true, hint: 'The id of the client at the provider, for which its tokens are issued.' },
  { name: 'oidc.groupsClaim', label: 'Claim with the groups', code: true, placeholder: 'groups', hint: 'The claim of its tokens that lists the groups of a person. Without it, groups there get nothing more.' },
  { name: 'oidc.correlationRule', label: 'Claim that identifies a person' },
  { name: 'oidc.additionalScopes', label: 'Further scopes', code: true }, { name: 'oidc.pkceEnabled', label: 'PKCE' },
];

/** This button makes a provider. */
export function NewProvider({ uid, name, held }: { uid: string; name: string; held: Holding }) {
  const [open, setOpen] = useState(false), roles = useRoles(uid, open);
  return (
    <>
      <Action icon="plus" reason={reasonAgainst(CreateIdentityProvider, held)} onClick={() => setOpen(true)}>New provider</Action>
      <Form open={open && roles !== undefined} onClose={() => setOpen(false)} document={CreateIdentityProvider} title={`New provider in ${name}`} submit="Create the provider" fields={fieldsWith(roles)} fixed={{ parent: uid }} unique="name" affects={['IdentityProvider']} onDone={() => {}}
        lead="Its people can sign in as soon as your organization has proven that the issuer is its own. The list says how." />
    </>
  );
}

/** These buttons change a provider, and what a group there gets. */
export function ProviderActions({ provider, held }: { provider: ListedProviderFragment; held: Holding }) {
  const [editing, setEditing] = useState(false), [mapping, setMapping] = useState(false), group = homeOf(provider.uid), roles = useRoles(group, editing || mapping), mapped = provider.mappings?.totalCount ?? 0;
  const { data, problems } = useData(Scopes, { uid: group }, { pause: !mapping }), names = new Map([data?.group, ...(data?.group?.descendants?.nodes ?? [])].flatMap((one) => (one ? [[one.uid, one.name] as const] : [])));
  const pathOf = (uid: string): string => (uid === group || !isWithin(uid, group) ? names.get(group) ?? '' : `${pathOf(homeOf(uid))} / ${names.get(uid) ?? '…'}`);
  const scopes = [...names.keys()].filter((uid) => uid !== group).map((uid): Choice => ({ value: uid, name: pathOf(uid) })).sort((a, b) => (a.name < b.name ? -1 : 1));
  return (
    <div className="acts">
      <Action label={`Add a group of ${provider.name}`} reason={reasonAgainst(CreateExternalGroupRoleMapping, held)} onClick={() => setMapping(true)}>Add a group</Action>
      <Action label={`Edit ${provider.name}`} reason={reasonAgainst(UpdateIdentityProvider, held)} onClick={() => setEditing(true)}>Edit</Action>
      <ConfirmButton label="Delete" name={`Delete ${provider.name}`} held={held} document={DeleteIdentityProvider} input={{ uid: provider.uid }} title={`Delete the provider ${provider.name}?`} submit="Delete the provider" affects={['IdentityProvider']} onDone={() => {}}
        obstacle={mapped > 0 && <p>{plural(mapped, 'group')} of this provider {mapped === 1 ? 'has' : 'have'} a role: remove {mapped === 1 ? 'it' : 'them'} first.</p>}>
        <p>Its people lose access with their next request. Their identities stay, with their role bindings, but no token acts as them. This cannot be undone.</p>
      </ConfirmButton>
      <Form open={editing && roles !== undefined} onClose={() => setEditing(false)} document={UpdateIdentityProvider} title={`Edit ${provider.name}`} submit="Save" fields={fieldsWith(roles)} fixed={{ uid: provider.uid }} resource={{ ...provider, defaultRole: provider.defaultRoleUid }} unique="name" affects={['IdentityProvider']} onDone={() => {}}
        below={(values) => values['oidc.issuer'] !== (provider.oidc?.issuer ?? '') && <p className="dim">Nobody new signs in until it is proven that the other issuer is yours, too.</p>} />
      <Form open={mapping && roles !== undefined && (data !== undefined || problems.length > 0)} onClose={() => setMapping(false)} document={CreateExternalGroupRoleMapping} title={`Give a group of ${provider.name} a role`} submit="Give the role" fixed={{ parent: provider.uid }} affects={['ExternalGroupRoleMapping', 'IdentityProvider']} onDone={() => {}}
        lead={provider.oidc?.groupsClaim ? undefined : 'This provider has no claim with groups yet, so the role has no effect until you add one.'}
        fields={[
          { name: 'externalGroupId', label: 'Group there', code: true, hint: `As the claim ${provider.oidc?.groupsClaim ?? 'with the groups'} names it.` },
          { name: 'roleUid', label: 'Role', choices: roles, hint: 'Everybody in that group gets it while their token lists the group. You can only give capabilities that you have yourself.' },
          { name: 'scope', label: 'Where', choices: scopes, shown: () => scopes.length > 0, hint: `Without a choice, in ${names.get(group) ?? 'the group of the provider'} and everywhere below.` },
        ]} />
    </div>
  );
}

/** This button takes a role from a group of a provider. */
export const RemoveMapping = ({ mapping, held }: { mapping: Mapping; held: Holding }) => (
  <ConfirmButton label="" icon="bin" className="icon-button" name={`Take ${mapping.role?.name ?? 'the role'} from ${mapping.externalGroupId}`} held={held} document={DeleteExternalGroupRoleMapping} input={{ uid: mapping.uid }} title={`Take the role from ${mapping.externalGroupId}?`} submit="Take the role" affects={['ExternalGroupRoleMapping', 'IdentityProvider']} onDone={() => {}}>
    <p>From their next request on, people of {mapping.externalGroupId} no longer have the role {mapping.role?.name ?? ''} in {mapping.scope?.name ?? 'its group'} because of this group.</p>
  </ConfirmButton>
);
