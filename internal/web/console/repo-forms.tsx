// This file has the forms that change a repo.

import { ConfirmButton, FormButton, type Field, type Holding, type Values } from './form';
import { CreateRepo, DeleteRepo, UpdateRepo, UpdateRepoReadme, type CreateRepoMutation, type RepoQuery, type UpdateRepoMutation } from './generated/graphql';
import { forgetPlaces } from './known';
import { Preview } from './markdown';
import { groupAddress, repoAddress } from './places';
import { navigate } from './router';
import { plural, tierName } from './words';

type Repository = NonNullable<RepoQuery['repo']>;

const tiers = ['APPLICATION', 'BASE', 'FIPS', 'AI', 'DEVTOOLS', 'COMMERCIAL'].map((value) => ({ value, name: tierName(value) }));
const fields: Field[] = [
  { name: 'name', label: 'Name', code: true }, { name: 'description', label: 'Description' }, { name: 'catalogTier', label: 'Tier', choices: tiers },
  { name: 'bundles', label: 'Bundles' }, { name: 'aliases', label: 'Aliases' }, { name: 'activeTags', label: 'Active tags' },
  { name: 'syncConfig.source', label: 'Copied from', hint: 'The source that the repo is copied from. Leave this empty if the repo is not a copy.', code: true },
  // A change of the source replaces the whole of syncConfig, so the form has all of its fields.
  ...['google', 'amazon', 'azure'].map((cloud) => ({ name: 'syncConfig.' + cloud, label: `Setting for ${cloud[0].toUpperCase()}${cloud.slice(1)}`, code: true, shown: (values: Values) => values['syncConfig.source'] !== '' })),
];

export function NewRepo({ uid, names, held }: { uid: string; names: string[]; held: Holding }) {
  const created = ({ createRepo }: CreateRepoMutation) => navigate(repoAddress(names, createRepo!.repo));
  return <FormButton label="New repo" icon="plus" held={held} document={CreateRepo} title={`New repo in ${names.at(-1)}`} submit="Create the repo" fields={fields} fixed={{ parent: uid }} unique="name" affects={['Repo']} onDone={created} />;
}

export function RepoActions({ repo, groupNames }: { repo: Repository; groupNames: string[] }) {
  const held: Holding = { capabilities: repo.viewerCapabilities, on: repo.name };
  const updated = ({ updateRepo }: UpdateRepoMutation) => {
    if (updateRepo!.repo.name === repo.name) return;
    forgetPlaces();
    navigate(repoAddress(groupNames, updateRepo!.repo), { replace: true });
  };
  const deleted = () => navigate(groupAddress(groupNames, repo.uid.slice(0, repo.uid.lastIndexOf('/')), 'repos'), { replace: true });
  const tags = repo.everyTag?.totalCount ?? 0;
  return (
    <div className="actions">
      <FormButton label="Edit" icon="edit" held={held} document={UpdateRepo} title={`Edit ${repo.name}`} submit="Save" fields={fields} fixed={{ uid: repo.uid }} resource={repo} unique="name" onDone={updated}
        below={({ name }) => name !== repo.name && <p className="dim">The new name changes the address of the repo. Pulling it by the old name stops working.</p>} />
      <ConfirmButton label="Delete" icon="bin" held={held} document={DeleteRepo} input={{ uid: repo.uid }} title={`Delete the repo ${repo.name}?`} submit="Delete the repo" affects={['Repo']} onDone={deleted}
        obstacle={tags > 0 && <p>Only a repo without tags can be deleted. {repo.name} has {plural(tags, 'tag')}: delete {tags === 1 ? 'it' : 'them'} first.</p>}>
        <p>This removes the repo {[...groupNames, repo.name].join(' / ')}, its readme and its settings. This cannot be undone.</p>
      </ConfirmButton>
    </div>
  );
}

/** This button opens a form for the readme, with a preview below the text. */
export function EditReadme({ repo }: { repo: { uid: string; name: string; readme: string | null; viewerCapabilities: string[] } }) {
  return (
    <FormButton label={repo.readme ? 'Edit' : 'Write a readme'} icon="edit" held={{ capabilities: repo.viewerCapabilities, on: repo.name }} document={UpdateRepoReadme} title={`Readme of ${repo.name}`} submit="Save"
      fields={[{ name: 'content', label: 'Readme', code: true, hint: 'Markdown, at most 256 KiB. Without text, the repo has no readme.' }]} fixed={{ uid: repo.uid }} resource={{ content: repo.readme }} affects={['Repo']} onDone={() => {}}
      below={({ content }) => content !== '' && <Preview text={String(content)} />} />
  );
}
