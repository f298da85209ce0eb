import type { StartRunBody } from '../../shared/api/start-run.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Principal } from '../../shared/principal.ts'
import type { World } from '../../shared/world.ts'
import { authoredParts, carriedParts, requireAuthor } from './authoring.ts'
import { childDocuments } from './child-documents.ts'
import { type ContinuedRun, continuedRun } from './continued-run.ts'
import { type BegunRun, type Entry, enterRun } from './enter-run.ts'
import { givenContext, keysOf } from './given-context.ts'
import { launchRun } from './launch-run.ts'
import { comparedDocument, readDocument } from './read-document.ts'
import { startValues } from './start-values.ts'

type StartWorld = Pick<
  World,
  | 'runs'
  | 'objects'
  | 'graph'
  | 'machine'
  | 'outbox'
  | 'documents'
  | 'providers'
  | 'isolate'
  | 'clock'
  | 'ids'
  | 'log'
  | 'settings'
>

/** Starts a run: document -> check -> compile -> goal frozen -> place, machine, HEAD and META if absent -> execution. */
export async function beginRun(
  world: StartWorld,
  principal: Principal,
  body: StartRunBody,
  key?: string,
): Promise<BegunRun> {
  const { dag, dag_hash } = await readDocument(world, principal.tenant, body)
  const { edited, is_deployed } = await comparedDocument(world, principal.tenant, body, { dag, dag_hash })
  const document = is_deployed ? [] : [`a document that is not deployed ("${dag.name}")`]
  const { continues, options, overrides = {} } = body
  const earlier = await continuedRun(world, principal, { dag, continues })
  const carried = carriedParts(dag, earlier, keysOf(body))
  requireAuthor(world.settings, principal, [...document, ...authoredParts(body, dag), ...carried])
  const documents = await childDocuments(world, principal.tenant, dag)
  const values = await startValues(world, principal.tenant, dag, body, earlier?.values, documents)
  const beginning = { dag, context: values.context, given: keysOf(body), before: earlier }
  const given = await givenContext(world, beginning)
  const { text, parts } = compileDag(dag)
  const machine = () => world.machine.ensure(text, dag_hash, parts)
  const order = {
    dag,
    dag_hash,
    machine,
    ...values,
    ...documents,
    ...given,
    overrides,
    ...(edited && { edited }),
    ...linkOf(earlier),
  }
  const entry = { ...order, route: 'POST /api/dag/run', key, body, options }
  return enterRun(world, principal, entry, (run) => launchRun(world, run))
}

function linkOf(earlier: ContinuedRun | undefined): Pick<Entry, 'continues' | 'root'> {
  return earlier === undefined ? {} : { continues: earlier.run_id, root: earlier.root }
}
