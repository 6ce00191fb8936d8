// This file has the entity provider, which you copy into the backend of your Backstage.

import { createHash } from 'node:crypto';
import type { Client } from '@atrium/client';
import type { ComponentEntity, Entity, GroupEntity } from '@backstage/catalog-model';
import type { EntityProvider, EntityProviderConnection } from '@backstage/plugin-catalog-node';

interface Group { uid: string; name: string; description: string | null; ancestors: { uid: string; name: string }[] }
interface Counts { total: number; critical: number; high: number; fixable: number }
interface Repo { uid: string; name: string; description: string | null; group: Group | null; findingSummary: { open: Counts } | null }

const groupsDocument = `query Groups($after: String) {
  groups(first: 200, after: $after) { pageInfo { hasNextPage endCursor } nodes { uid name description ancestors { uid name } } }
}`;
const reposDocument = `query Repos($after: String) {
  repos(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { uid name description group { uid name description ancestors { uid name } } findingSummary { open { total critical high fixable } } }
  }
}`;

/** Reads the groups and the repos that the identity of a client may see, and emits a Group and a Component for each. */
export class AtriumEntityProvider implements EntityProvider {
  private connection?: EntityProviderConnection;
  private readonly atrium: Client;
  private readonly url: string;

  /** The URL is that of the server. Links of the entities lead to its console. */
  constructor(atrium: Client, url: string) {
    this.atrium = atrium;
    this.url = url.replace(/\/+$/, '');
  }

  getProviderName(): string { return `atrium:${this.url}`; }

  async connect(connection: EntityProviderConnection): Promise<void> { this.connection = connection; }

  /** Reads everything, and replaces what it emitted before. A task of your scheduler calls it. If a read fails, the catalog stays as it is. */
  async refresh(): Promise<void> {
    if (!this.connection) throw new Error('the provider is not connected to a catalog');
    const entities: Entity[] = [];
    for await (const group of this.atrium.nodes<Group>(groupsDocument, {}, ({ groups }) => groups)) entities.push(this.groupEntity(group));
    for await (const repo of this.atrium.nodes<Repo>(reposDocument, {}, ({ repos }) => repos)) if (repo.group) entities.push(this.componentEntity(repo, repo.group));
    await this.connection.applyMutation({ type: 'full', entities: entities.map((entity) => ({ entity, locationKey: this.getProviderName() })) });
  }

  private groupEntity(group: Group): GroupEntity {
    const parent = group.ancestors.at(-1);
    return {
      apiVersion: 'backstage.io/v1alpha1', kind: 'Group',
      metadata: this.metadata(group, namesOf(group)),
      spec: { type: parent ? 'team' : 'organization', children: [], ...(parent && { parent: entityName(group.ancestors.map(({ name }) => name)) }) },
    };
  }

  private componentEntity(repo: Repo, group: Group): ComponentEntity {
    const metadata = this.metadata(repo, [...namesOf(group), repo.name]), open = repo.findingSummary?.open;
    if (open) metadata.annotations['atrium.dev/open-findings'] = `${open.total} open, ${open.critical} critical, ${open.high} high, ${open.fixable} fixable`;
    return {
      apiVersion: 'backstage.io/v1alpha1', kind: 'Component', metadata,
      spec: { type: 'container-image', lifecycle: 'production', owner: `group:default/${entityName(namesOf(group))}` },
    };
  }

  private metadata({ uid, description }: { uid: string; description: string | null }, path: string[]) {
    const page = `${this.url}/console/${path.map(encodeURIComponent).join('/')}`;
    return {
      name: entityName(path), title: path.at(-1)!, ...(description && { description }), links: [{ url: page, title: 'Atrium' }],
      annotations: { 'backstage.io/managed-by-location': `url:${page}`, 'backstage.io/managed-by-origin-location': `url:${page}`, 'atrium.dev/uid': uid } as Record<string, string>,
    };
  }
}

const namesOf = ({ ancestors, name }: Group): string[] => [...ancestors.map((one) => one.name), name];

/** Returns a name that Backstage takes, and that no other path has: at most 63 letters, digits, dots, hyphens and underscores. */
export function entityName(path: string[]): string {
  const plain = path.join('.');
  if (plain.length <= 63 && path.every((name) => /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/.test(name))) return plain;
  const words = plain.replace(/[^a-zA-Z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 50);
  return `${words}-${createHash('sha256').update(path.join('\0')).digest('hex').slice(0, 12)}`;
}
