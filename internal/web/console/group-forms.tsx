// This file has the forms that change a group.

import { ConfirmButton, FormButton, type Field, type Holding } from './form';
import { CreateGroup, DeleteGroup, UpdateGroup, type CreateGroupMutation, type OverviewQuery, type UpdateGroupMutation } from './generated/graphql';
import { forgetPlaces } from './known';
import { groupAddress, pageAddress } from './places';
import { navigate } from './router';
import { plural } from './words';

type Group = NonNullable<OverviewQuery['group']>;

const fields: Field[] = [{ name: 'name', label: 'Name' }, { name: 'description', label: 'Description' }];

export function GroupActions({ group, names }: { group: Group; names: string[] }) {
  const held: Holding = { capabilities: group.viewerCapabilities, on: group.name };
  const created = ({ createGroup }: CreateGroupMutation) => { const { uid, name } = createGroup!.group; navigate(groupAddress([...names, name], uid)); };
  // If the name of a group changes, the addresses of everything below it change too.
  const updated = ({ updateGroup }: UpdateGroupMutation) => {
    const { uid, name } = updateGroup!.group;
    if (name === names.at(-1)) return;
    forgetPlaces();
    navigate(groupAddress([...names.slice(0, -1), name], uid), { replace: true });
  };
  const deleted = () => {
    navigate(names.length > 1 ? pageAddress(names.slice(0, -1)) : '/console', { replace: true });
    forgetPlaces();
  };
  return (
    <div className="actions">
      <FormButton label="New group" icon="plus" held={held} document={CreateGroup} title={`New group in ${group.name}`} submit="Create the group" fields={fields} fixed={{ parent: group.uid }} unique="name" affects={['Group']} onDone={created} />
      <FormButton label="Edit" icon="edit" held={held} document={UpdateGroup} title={`Edit ${group.name}`} submit="Save" fields={fields} fixed={{ uid: group.uid }} resource={group} unique="name" onDone={updated}
        below={({ name }) => name !== group.name && <p className="dim">The new name changes the address of the group and of everything below it. Existing links stop working.</p>} />
      <ConfirmButton label="Delete" icon="bin" held={held} document={DeleteGroup} input={{ uid: group.uid }} title={`Delete the group ${group.name}?`} submit="Delete the group" affects={['Group']} obstacle={whatIsIn(group)} onDone={deleted}>
        <p>This removes the group {names.join(' / ')} and its description. This cannot be undone.</p>
      </ConfirmButton>
    </div>
  );
}

/** Says what must be deleted before the group can be deleted, as far as the reader may see it. */
function whatIsIn({ name, descendants, repos, identities, roleBindings, subscriptions, invites }: Group) {
  const held = [
    descendants?.totalCount && plural(descendants.totalCount, 'group'), repos?.totalCount && plural(repos.totalCount, 'repo'), identities?.totalCount && plural(identities.totalCount, 'identity', 'identities'),
    roleBindings?.totalCount && plural(roleBindings.totalCount, 'role binding'), subscriptions?.totalCount && plural(subscriptions.totalCount, 'webhook'), invites?.totalCount && plural(invites.totalCount, 'invite'),
  ].filter(Boolean);
  return held.length > 0 && <p>Only an empty group can be deleted. In {name} and below there {held[0]!.toString().startsWith('1 ') && held.length === 1 ? 'is' : 'are'} {held.join(', ')}: delete {held.length === 1 && held[0]!.toString().startsWith('1 ') ? 'it' : 'them'} first.</p>;
}
