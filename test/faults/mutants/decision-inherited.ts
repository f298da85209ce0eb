import type { Dag } from '../../../shared/dag/dag.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const decisionInherited: Mutant = {
  name: 'decision-inherited',
  what: 'a retry takes over decisions though its document does not say reuse: true',
  world: (world, name) =>
    name === 'run-block' || name === 'request-approval'
      ? withPorts(world, { objects: { ...world.objects, get: reusing(world.objects) } })
      : world,
}

type Objects = World['objects']

/** Of every document, as if each of its approvals said so. */
function reusing(objects: Objects): Objects['get'] {
  return async (tenant, ref) => {
    const body = await objects.get(tenant, ref)
    const text = Buffer.from(body).toString('utf8')
    if (!text.includes('"approvers":') || !text.startsWith('{"blocks":')) return body
    const dag = JSON.parse(text) as Dag
    const blocks = dag.blocks.map((block) =>
      block.approval === undefined ? block : { ...block, approval: { ...block.approval, reuse: true } },
    )
    return Buffer.from(JSON.stringify({ ...dag, blocks }))
  }
}
