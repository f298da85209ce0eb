import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import jsonata from 'jsonata'
import { functionError } from '../../infra/local/asl/state-error.ts'
import type { Json } from '../../shared/text/json.ts'
import { ACCOUNT } from './aws-client.ts'
import { answering, freePort } from './dynamodb.ts'

export interface Moto {
  readonly port: number
  stop(): Promise<void>
}

/**
 * moto: Python, independent, with all of its services on one port; undefined where it is not installed. The project does not
 * need it: only the slow suite asks for it.
 */
export async function startMotoServer(): Promise<Moto | undefined> {
  if (!imports('moto.server')) return undefined
  const port = await freePort()
  return started(port, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {})
}

export interface MotoStates extends Moto {
  /** Who answers calls of functions from now on, by their names. */
  answer(functions: (name: string, payload: Json) => Promise<Json>): void
}

/**
 * Its interpreter of state machines, where Python has what that needs. Functions are answered in this process: what the
 * interpreter asks of another service than Lambda goes back to moto.
 */
export async function startMotoStates(): Promise<MotoStates | undefined> {
  if (!imports('moto.server, antlr4, jsonpath_ng')) return undefined
  const [port, called] = [await freePort(), await freePort()]
  let functions: (name: string, payload: Json) => Promise<Json> = async () => null
  const server = createServer((request, response) => {
    void request.toArray().then(async (parts: Buffer[]) => {
      const body = Buffer.concat(parts)
      const own = await answered(request.url ?? '', body, functions).catch((error: unknown) => failed(error))
      const { status, headers, body: text } = own ?? (await passedOn(port, request, body))
      response.writeHead(status, headers).end(text)
    })
  })
  server.listen(called, '127.0.0.1')
  await once(server, 'listening')
  const script = join(import.meta.dirname, 'moto-states.py')
  const moto = await started(port, [script, String(port), `http://127.0.0.1:${called}/evaluate`], {
    MOTO_PORT: String(called),
    MOTO_ACCOUNT_ID: ACCOUNT,
  })
  return {
    ...moto,
    answer: (given) => {
      functions = given
    },
    async stop() {
      await moto.stop()
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

async function answered(
  path: string,
  body: Buffer,
  functions: (name: string, payload: Json) => Promise<Json>,
): Promise<Answer | undefined> {
  const headers = { 'content-type': 'application/json' }
  if (path === '/evaluate') {
    const value: unknown = await jsonata(body.toString()).evaluate(undefined)
    return { status: 200, headers, body: JSON.stringify(value ?? null) }
  }
  const [, name] = /^\/2015-03-31\/functions\/([^/]+)\/invocations/.exec(path) ?? []
  if (name === undefined) return undefined
  const called = { ...headers, 'x-amz-executed-version': '$LATEST' }
  try {
    const answer = await functions(decodeURIComponent(name).split(':').at(-1) ?? '', JSON.parse(body.toString()))
    return { status: 200, headers: called, body: JSON.stringify(answer) }
  } catch (error) {
    // As Lambda says that a function threw.
    const thrown = { ...called, 'x-amz-function-error': 'Unhandled' }
    return { status: 200, headers: thrown, body: functionError(error).cause_text }
  }
}

async function passedOn(port: number, request: IncomingMessage, body: Buffer): Promise<Answer> {
  const kept = Object.entries(request.headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name))
  const headers = kept.flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  const passed = await fetch(`http://127.0.0.1:${port}${request.url}`, { method: 'POST', headers, body })
  return { status: passed.status, headers: { 'content-type': 'application/x-amz-json-1.0' }, body: await passed.text() }
}

/** Of an expression, or of a function that threw. */
function failed(error: unknown): Answer {
  const words = error instanceof Error ? error.message : JSON.stringify(error)
  return { status: 500, headers: { 'content-type': 'text/plain' }, body: words }
}

function imports(modules: string): boolean {
  return spawnSync('python3', ['-c', `import ${modules}`], { stdio: 'ignore' }).status === 0
}

async function started(port: number, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Moto> {
  const child = spawn('python3', args, { stdio: 'ignore', env: { ...process.env, ...env } })
  const ended = once(child, 'exit')
  const stop = () => child.kill()
  process.once('exit', stop)
  await answering(`http://127.0.0.1:${port}`, 600)
  return {
    port,
    async stop() {
      process.off('exit', stop)
      stop()
      await ended
    },
  }
}
