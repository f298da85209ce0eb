import { sha256 } from '../../../shared/text/hash.ts'
import type { Door } from './door.ts'
import type { Filled } from './fill-tenant.ts'

/** Everything a tenant reads of itself, each answer by its hash: what has changed is named by its path. */
export async function worldOf(door: Door, { tenant, ...ids }: Filled): Promise<Readonly<Record<string, string>>> {
  const runs = [ids.done, ids.asking, ids.research]
  const paths = [
    ...runs.flatMap((run) => [
      ...['', '/replay?limit=1000', '/context', '/artifacts'].map((rest) => `/api/dag/runs/${run}${rest}`),
    ]),
    ...[`/api/dag/runs/${ids.done}/outputs/plan`, `/api/dag/runs/${ids.done}/verify`, `/api/research/${ids.research}`],
    ...[`/api/graph/entities/${ids.entity}`, `/api/graph/entities/${ids.entity}/neighbors`],
    ...[`/api/objects/${ids.object}`, '/api/tokens', '/api/webhooks', '/api/webhooks/dead?limit=100'],
    ...[
      '/api/dag/bulk',
      '/api/dag/views',
      '/api/dag/runs?limit=100',
      '/api/dag/approvals?status=all&limit=100',
      '/api/dag/safety',
    ],
    '/api/graph/search?q=secret',
  ]
  const world: Record<string, string> = {}
  for (const path of paths) {
    const { status, text } = await door.call(tenant, 'GET', path)
    // When it was looked, not what was seen.
    world[path] = `${status} ${sha256(text.replaceAll(/"(as_of|age_ms)":("[^"]*"|\d+)/g, ''))}`
  }
  return world
}
