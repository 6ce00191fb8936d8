// This file has the forms that change an identity.

import { ConfirmButton, FormButton, type Field, type Holding, type Values } from './form';
import type { Rule } from './generated/changes';
import { CreateIdentity, DeleteIdentity, UpdateIdentity, type IdentityQuery } from './generated/graphql';
import { groupAddress } from './places';
import { Link } from './router';
import { namesOf } from './ui';
import { plural } from './words';

type Identity = NonNullable<IdentityQuery['identity']>;

const kinds = [
  { value: 'exact', name: 'One issuer and subject' }, { value: 'claims', name: 'Claims and patterns' }, { value: 'keys', name: 'Stored keys' },
  { value: 'none', name: 'Cannot sign in' },
];
const which: Rule = { type: 'choice', required: true, about: '' };
const hasKind = (...any: string[]) => ({ kind }: Values) => any.includes(kind as string);
const issuerAt = 'https://login.example.com';

const fields: Field[] = [
  { name: 'name', label: 'Name' }, { name: 'description', label: 'Description' }, { name: 'company', label: 'Company' },
  { name: 'kind', label: 'How it signs in', local: which, choices: kinds, hint: 'A token names its issuer and its subject: who issued it, and for whom.' },
  { name: 'claimMatch.issuer', label: 'Issuer', code: true, placeholder: issuerAt, shown: hasKind('exact', 'claims'), needed: hasKind('exact') },
  { name: 'claimMatch.issuerPattern', label: 'Pattern of the issuer', code: true, shown: hasKind('claims') },
  { name: 'claimMatch.subject', label: 'Subject', code: true, shown: hasKind('exact', 'claims'), needed: hasKind('exact') },
  { name: 'claimMatch.subjectPattern', label: 'Pattern of the subject', code: true, shown: hasKind('claims') },
  { name: 'claimMatch.audience', label: 'Audience', code: true, shown: hasKind('exact', 'claims') },
  { name: 'claimMatch.audiencePattern', label: 'Pattern of the audience', code: true, shown: hasKind('claims') },
  { name: 'claimMatch.claims', label: 'Further claims', shown: hasKind('claims') },
  { name: 'claimMatch.claimPatterns', label: 'Patterns of further claims', shown: hasKind('claims') },
  { name: 'staticKeys.issuer', label: 'Issuer', code: true, placeholder: issuerAt, shown: hasKind('keys'), needed: hasKind('keys') },
  { name: 'staticKeys.subject', label: 'Subject', code: true, shown: hasKind('keys'), needed: hasKind('keys') },
  { name: 'staticKeys.issuerKeys', label: 'Keys', code: true, placeholder: '{"keys": [...]}', shown: hasKind('keys'), needed: hasKind('keys') },
  { name: 'staticKeys.expirationTime', label: 'Expiration of the keys', shown: hasKind('keys') },
  { name: 'staticKeys.audiences', label: 'Audiences', code: true, shown: hasKind('keys') },
];

function kindOf({ claimMatch: rule, staticKeys }: Identity): string {
  if (staticKeys) return 'keys';
  if (!rule) return 'none';
  return rule.issuerPattern || rule.subjectPattern || rule.audiencePattern || Object.keys(rule.claims ?? {}).length + Object.keys(rule.claimPatterns ?? {}).length > 0 ? 'claims' : 'exact';
}

export const NewIdentity = ({ uid, name, held }: { uid: string; name: string; held: Holding }) => (
  <FormButton label="New identity" icon="plus" held={held} document={CreateIdentity} title={`New identity in ${name}`} submit="Create the identity" fields={fields} start={{ kind: 'exact' }} fixed={{ parent: uid }} affects={['Identity', 'Group']} onDone={() => {}}
    lead="An identity is a person or a program that makes requests. It has no access until you give it a role." />
);

export function IdentityActions({ identity }: { identity: Identity }) {
  const held: Holding = { capabilities: identity.viewerCapabilities, on: identity.name }, bound = identity.roleBindings?.totalCount ?? 0, them = bound === 1 ? 'it' : 'them';
  return (
    <div className="actions">
      <FormButton label="Edit" icon="edit" held={held} document={UpdateIdentity} title={`Edit ${identity.name}`} submit="Save" fields={fields} start={{ kind: kindOf(identity) }} fixed={{ uid: identity.uid }} resource={identity} affects={['Identity']} onDone={() => {}}
        below={({ kind }) => kind !== kindOf(identity) && <p className="dim">{kind === 'none' ? `${identity.name} can no longer sign in, starting with its next request.` : `Only tokens that match the new rule sign in as ${identity.name}, starting with the next request.`}</p>} />
      <ConfirmButton label="Delete" icon="bin" held={held} document={DeleteIdentity} input={{ uid: identity.uid }} title={`Delete the identity ${identity.name}?`} submit="Delete the identity" affects={['Identity', 'Group']} onDone={() => {}}
        obstacle={bound > 0 && <p>{identity.name} has {plural(bound, 'role binding')}: {identity.group ? <Link to={groupAddress(namesOf(identity.group), identity.group.uid, 'access', { identity: identity.uid })}>revoke {them}</Link> : `revoke ${them}`} first.</p>}>
        <p>This removes the identity and the rule for its tokens. From the next request on, these tokens give no access. The audit log keeps its record of what the identity did. This cannot be undone.</p>
      </ConfirmButton>
    </div>
  );
}
