import type { StartRunBody } from '../../shared/api/start-run.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Principal } from '../../shared/principal.ts'
import type { World } from '../../shared/world.ts'
import { authoredParts, requireAuthor } from './authoring.ts'
import { type ContinuedRun, continuedRun } from './continued-run.ts'
import { type BegunRun, type Entry, enterRun } from './enter-run.ts'
import { launchRun } from './launch-run.ts'
import { comparedDocument, readDocument } from './read-document.ts'
import { startValues } from './start-values.ts'

type StartWorld = Pick<
  World,
  'runs' | 'objects' | 'graph' | 'machine' | 'outbox' | 'documents' | 'providers' | 'clock' | 'ids' | 'log' | 'settings'
>

/** Starts a run: document -> check -> compile -> goal frozen -> place, machine, HEAD and META if absent -> execution. */
export async function beginRun(
  world: StartWorld,
  principal: Principal,
  body: StartRunBody,
  key?: string,
): Promise<BegunRun> {
  const { dag, dag_hash } = await readDocument(world, body)
  const { edited, is_deployed } = await comparedDocument(world, body, { dag, dag_hash })
  const document = is_deployed ? [] : [`a document that is not deployed ("${dag.name}")`]
  requireAuthor(world.settings, principal, [...document, ...authoredParts(body, dag)])
  const { continues, options, overrides = {} } = body
  const earlier = await continuedRun(world, principal, { dag, continues })
  const values = await startValues(world, principal.tenant, dag, body, earlier?.values)
  const { text, parts } = compileDag(dag)
  const machine = () => world.machine.ensure(text, dag_hash, parts)
  const order = { dag, dag_hash, machine, ...values, overrides, ...(edited && { edited }), ...linkOf(earlier) }
  const entry = { ...order, route: 'POST /api/dag/run', key, body, options }
  return enterRun(world, principal, entry, (run) => launchRun(world, run))
}

function linkOf(earlier: ContinuedRun | undefined): Pick<Entry, 'continues' | 'root'> {
  return earlier === undefined ? {} : { continues: earlier.run_id, root: earlier.root }
}
