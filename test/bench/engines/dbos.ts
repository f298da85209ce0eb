import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { layersOf, type Shape } from '../shapes.ts'
import { load, type OpenEngine } from './engine.ts'
import { serveLibrary } from './library-server.ts'
import { startPostgres } from './postgres.ts'

type Workflow = () => Promise<number>

/** The parts used of DBOS. */
interface Dbos {
  setConfig(config: object): void
  launch(): Promise<void>
  shutdown(): Promise<void>
  registerWorkflow(run: Workflow, options: { readonly name: string }): Workflow
  startWorkflow(
    run: Workflow,
  ): () => Promise<{ readonly workflowID: string; readonly getResult: () => Promise<number> }>
  runStep(step: () => Promise<number>, options: { readonly name: string }): Promise<number>
}

const DATABASE = 'dbos'

/** DBOS on a PostgreSQL of its own: a workflow a run, a step a block, the steps of a layer at once. */
export const open: OpenEngine = async ({ folder, shapes }) => {
  const { DBOS } = await load<{ readonly DBOS: Dbos }>('@dbos-inc/dbos-sdk')
  const postgres = await startPostgres(folder)
  await postgres.ask(`CREATE DATABASE ${DATABASE}`)
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: `${postgres.url}/${DATABASE}`,
    runAdminServer: false,
    logLevel: 'error',
  })
  const workflows = new Map(shapes.map((shape) => [shape.name, workflow(DBOS, shape)]))
  await DBOS.launch()
  const of = ({ name }: Shape) => workflows.get(name) ?? (async () => 0)
  const running = new Map<string, () => Promise<number>>()
  const { calls, close } = await serveLibrary(shapes, {
    run: (shape) => of(shape)(),
    async start(shape) {
      const { workflowID, getResult } = bound(await DBOS.startWorkflow(of(shape))())
      running.set(workflowID, getResult)
      return workflowID
    },
    async end(id) {
      const result = await running.get(id)?.()
      running.delete(id)
      return result ?? 0
    },
    async kept({ name, n }) {
      const steps = 'SELECT count(*) FROM dbos.operation_outputs o WHERE o.workflow_uuid = w.workflow_uuid'
      const whole = `status = 'SUCCESS' AND name = '${name}' AND (${steps}) >= ${n}`
      return Number(await postgres.ask(`SELECT count(*) FROM dbos.workflow_status w WHERE ${whole}`, DATABASE))
    },
  })
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, 'node_modules/@dbos-inc/dbos-sdk/package.json'), 'utf8'),
  )
  const show = async (name: string) => `${name} ${await postgres.ask(`SHOW ${name}`)}`
  return {
    served: {
      version: `DBOS ${version} on PostgreSQL ${await postgres.ask('SHOW server_version')}`,
      durable: [await show('fsync'), await show('synchronous_commit'), await show('wal_sync_method')].join(', '),
      ...calls,
    },
    async close() {
      await close()
      await DBOS.shutdown()
      await postgres.close()
    },
  }
}

function workflow(DBOS: Dbos, shape: Shape): Workflow {
  const layers = layersOf(shape)
  const run = async () => {
    let blocks = 0
    for (const layer of layers) {
      const done = await Promise.all(layer.map((block) => DBOS.runStep(async () => 1, { name: `b${block}` })))
      blocks += done.length
    }
    return blocks
  }
  return DBOS.registerWorkflow(run, { name: shape.name })
}

function bound(handle: { readonly workflowID: string; readonly getResult: () => Promise<number> }) {
  return { workflowID: handle.workflowID, getResult: () => handle.getResult() }
}
