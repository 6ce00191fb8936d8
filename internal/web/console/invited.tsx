// This file accepts invites: the code comes from a link, or the reader enters it.

import { useState } from 'react';
import { Form, FormButton, type FormProps } from './form';
import { AcceptGroupInvite, type AcceptGroupInviteMutation, type AcceptGroupInviteMutationVariables } from './generated/graphql';
import { groupAddress } from './places';
import { navigate } from './router';
import { forgetInvite, invitation } from './session';
import { namesOf } from './ui';

const acceptance: FormProps<AcceptGroupInviteMutation, AcceptGroupInviteMutationVariables['input']> = {
  document: AcceptGroupInvite, title: 'Accept an invite', submit: 'Accept', affects: ['Group', 'Viewer', 'Identity', 'RoleBinding'],
  fields: [{ name: 'code', label: 'Code', code: true, hint: 'Enter the code as you received it.' }],
  onDone: ({ acceptGroupInvite }) => { const { group } = acceptGroupInvite!.roleBinding; navigate(group ? groupAddress(namesOf(group), group.uid) : '/console'); },
};

/** This button accepts the role that an invite offers. The reader needs only the code and no capability. */
export const AcceptInvite = () => <FormButton label="I have an invite" icon="key" held={{ capabilities: undefined, on: '' }} {...acceptance} />;

/** This form opens for a reader who came by the link of an invite. Nothing happens before they accept it. */
export function Invited() {
  const [code, setCode] = useState(invitation);
  const close = () => { forgetInvite(); setCode(''); };
  return <Form {...acceptance} lead="You followed an invite link. If you accept, you get the role that the invite offers." start={{ code }} open={code !== ''} onClose={close} onDone={(data, input) => { close(); acceptance.onDone(data, input); }} />;
}
