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
  { name: 'defaultRole', label: 'Default role', choices: roles, hint: 'The role of everybody who signs in with this provider. You can only give capabilities that you have yourself.' },
  { name: 'oidc.issuer', label: 'Issuer', code: true, placeholder: 'https://login.example.com', hint: 'The iss claim of its tokens: an https URL.' },
  { name: 'oidc.clientId', label: 'Client ID', code: true, hint: 'The client at the provider. Its tokens are issued for this client.' },
  { name: 'oidc.groupsClaim', label: 'Groups claim', code: true, placeholder: 'groups', hint: 'The claim of its tokens that lists the groups of a person. Without it, external groups get no roles.' },
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
        lead="People can sign in with it after your organization has proven that it owns the issuer. “Check” in the list of providers says how." />
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
        <p>Its people lose access from their next request. Their identities and role bindings stay, but no token signs in as them. This cannot be undone.</p>
      </ConfirmButton>
      <Form open={editing && roles !== undefined} onClose={() => setEditing(false)} document={UpdateIdentityProvider} title={`Edit ${provider.name}`} submit="Save" fields={fieldsWith(roles)} fixed={{ uid: provider.uid }} resource={{ ...provider, defaultRole: provider.defaultRoleUid }} unique="name" affects={['IdentityProvider']} onDone={() => {}}
        below={(values) => values['oidc.issuer'] !== (provider.oidc?.issuer ?? '') && <p className="dim">New people cannot sign in until your organization has proven that it owns the new issuer.</p>} />
      <Form open={mapping && roles !== undefined && (data !== undefined || problems.length > 0)} onClose={() => setMapping(false)} document={CreateExternalGroupRoleMapping} title={`Give an external group of ${provider.name} a role`} submit="Give the role" fixed={{ parent: provider.uid }} affects={['ExternalGroupRoleMapping', 'IdentityProvider']} onDone={() => {}}
        lead={provider.oidc?.groupsClaim ? undefined : 'This provider has no groups claim yet, so the role has no effect until you add one.'}
        fields={[
          { name: 'externalGroupId', label: 'External group', code: true, hint: `As it appears in the claim ${provider.oidc?.groupsClaim ?? 'with the groups'}.` },
          { name: 'roleUid', label: 'Role', choices: roles, hint: 'Everybody in the group has this role while their token lists the group. You can only give capabilities that you have yourself.' },
          { name: 'scope', label: 'Where', choices: scopes, shown: () => scopes.length > 0, hint: `If you choose nothing, the role applies to ${names.get(group) ?? 'the group of the provider'} and everything below.` },
        ]} />
    </div>
  );
}

/** This button revokes a role from a group of a provider. */
export const RemoveMapping = ({ mapping, held }: { mapping: Mapping; held: Holding }) => (
  <ConfirmButton label="" icon="bin" className="icon-button" name={`Revoke ${mapping.role?.name ?? 'the role'} from ${mapping.externalGroupId}`} held={held} document={DeleteExternalGroupRoleMapping} input={{ uid: mapping.uid }} title={`Revoke the role from ${mapping.externalGroupId}?`} submit="Revoke the role" affects={['ExternalGroupRoleMapping', 'IdentityProvider']} onDone={() => {}}>
    <p>From their next request, people in {mapping.externalGroupId} no longer get the role {mapping.role?.name ?? ''} in {mapping.scope?.name ?? 'its group'} from this group.</p>
  </ConfirmButton>
);
