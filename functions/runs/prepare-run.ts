import type { StartRunBody } from '../../shared/api/start-run-route.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import type { World } from '../../shared/world.ts'
import { childDocuments } from './child-documents.ts'
import { givenContext, requestKeys } from './context.ts'
import type { ContinuedRun } from './continued-run.ts'
import { pinTools } from './pin-tools.ts'
import { prepareStartValues } from './start-values.ts'

/** What preparing a run of a document reads. */
export type PrepareWorld = Pick<
  World,
  'runs' | 'objects' | 'documents' | 'modules' | 'providers' | 'isolate' | 'steps' | 'mcp' | 'settings'
>

/**
 * A run of a document as it is asked for: its tools pinned, its child documents found, its values checked, its goal frozen, and
 * its machine compiled but not made. Servers of tools are asked here: whoever may not start is refused before.
 */
export async function prepareRun(
  world: PrepareWorld,
  tenant: string,
  unpinned: Dag,
  body: StartRunBody,
  earlier?: ContinuedRun,
) {
  const dag = await pinTools(world, tenant, unpinned)
  const documents = await childDocuments(world, tenant, dag)
  const values = await prepareStartValues(world, tenant, dag, body, earlier?.values, documents)
  const given = await givenContext(world, { dag, context: values.context, given: requestKeys(body), before: earlier })
  return { order: { dag, ...values, ...documents, ...given }, compiled: compileDag(dag) }
}
