import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:http2'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { layersOf, type Shape } from '../shapes.ts'
import { load, type OpenEngine } from './engine.ts'
import { serveKept } from './library-server.ts'
import { freePort } from './postgres.ts'

interface Context {
  run(name: string, block: () => number): Promise<number>
}
/** The parts used of Restate's SDK. */
interface Restate {
  service(service: object): object
  createEndpointHandler(options: { readonly services: readonly object[] }): Parameters<typeof createServer>[1]
  readonly RestatePromise: { all(values: readonly Promise<number>[]): Promise<readonly number[]> }
}

const START_MS = 60_000

/** Restate's server, and the service it calls: an invocation a run, a side effect a block, those of a layer at once. */
export const open: OpenEngine = async ({ folder, shapes }) => {
  const restate = await load<Restate>('@restatedev/restate-sdk')
  const endpoint = createServer(restate.createEndpointHandler({ services: [graphs(restate, shapes)] }) ?? (() => {}))
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  // Listening on TCP, so its address is no path.
  const { port } = endpoint.address() as AddressInfo
  const server = await startServer(folder)
  await post(`${server.admin}/deployments`, { uri: `http://127.0.0.1:${port}` })
  const { kept, close } = await serveKept(shapes, ({ name }) => keptRuns(server.admin, name))
  const headers = { 'content-type': 'application/json' }
  const must = '{blocks}'
  return {
    served: {
      version: server.version,
      durable: server.durable,
      run: { method: 'POST', url: `${server.ingress}/graphs/{shape}`, headers, body: '{}', must },
      start: {
        method: 'POST',
        url: `${server.ingress}/graphs/{shape}/send`,
        headers: { ...headers, 'idempotency-key': '{n}' },
        body: '{}',
        must: '"Accepted"',
        id: 'invocationId',
      },
      end: { method: 'GET', url: `${server.ingress}/restate/invocation/{id}/attach`, must },
      kept,
    },
    async close() {
      await close()
      await server.close()
      endpoint.close()
    },
  }
}

function graphs({ service, RestatePromise }: Restate, shapes: readonly Shape[]): object {
  const handlers = shapes.map((shape) => {
    const layers = layersOf(shape)
    const run = async (context: Context) => {
      let blocks = 0
      for (const layer of layers) {
        blocks += (await RestatePromise.all(layer.map((block) => context.run(`b${block}`, () => 1)))).length
      }
      return blocks
    }
    return [shape.name, run]
  })
  return service({ name: 'graphs', handlers: Object.fromEntries(handlers) })
}

async function startServer(folder: string) {
  const [node, ingress, admin] = await Promise.all([freePort(), freePort(), freePort()])
  const program = restateProgram()
  const args = ['--base-dir', join(folder, 'restate'), '--listen-mode', 'tcp', '--no-logo', '--node-name', 'bench']
  const env = {
    ...process.env,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
  }
  const config = execFileSync(program, [...args, '--dump-config'], { env, encoding: 'utf8', stdio: 'pipe' })
  const child = spawn(program, [...args, '--log-filter', 'error'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  await answers(`http://127.0.0.1:${admin}/health`)
  await answers(`http://127.0.0.1:${ingress}/restate/health`)
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    version: execFileSync(program, ['--version'], { encoding: 'utf8' }).trim(),
    durable: `log server ${config.match(/\[log-server\][^[]*?(rocksdb-disable-wal-fsync = \w+)/)?.[1]}, log provider ${config.match(/default-provider = (\S+)/)?.[1]}`,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('exit', resolve))
    },
  }
}

/** The package of this platform has the program itself; the one in front of it is a script that starts it. */
function restateProgram(): string {
  const { resolve } = createRequire(import.meta.url)
  return resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`)
}

async function answers(url: string): Promise<void> {
  for (const until = performance.now() + START_MS; ; await pause(100)) {
    const ok = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ok) return
    if (performance.now() > until) throw new Error(`restate-server does not answer at ${url}`)
  }
}

async function keptRuns(admin: string, handler: string): Promise<number> {
  const whole = `status = 'completed' AND completion_result = 'success' AND target_handler_name = '${handler}'`
  const answer = await post(`${admin}/query`, { query: `SELECT count(*) AS runs FROM sys_invocation WHERE ${whole}` })
  const { rows } = (await answer.json()) as { rows: { runs: number }[] }
  return rows[0]?.runs ?? 0
}

async function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return answer
}
