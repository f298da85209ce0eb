import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Shape } from '../shapes.ts'
import type { Served } from './engine.ts'

/** An engine that is a library: what a small HTTP server in front of it does. */
export interface Library {
  /** A whole run; answers how many blocks it had. */
  run(shape: Shape): Promise<number>
  /** Answers an id when the run is durable, and goes on. */
  start?(shape: Shape): Promise<string>
  end?(id: string): Promise<number>
  kept: Kept
}

/** Whole runs of a shape in an engine's store. */
export type Kept = (shape: Shape) => number | Promise<number>

interface Listening {
  readonly url: string
  readonly server: ReturnType<typeof createServer>
  close(): Promise<void>
}

/** The calls of a library behind a server of its own. */
export async function serveLibrary(shapes: readonly Shape[], library: Library) {
  const listening = await serveAnswers(shapes, {
    run: async (shape) => ({ blocks: await library.run(shape) }),
    start: async (shape) => ({ id: await library.start?.(shape) }),
    end: async (_, id) => ({ blocks: await library.end?.(id) }),
    kept: async (shape) => ({ runs: await library.kept(shape) }),
  })
  const { url, close } = listening
  const must = '"blocks":{blocks}}'
  const calls: Pick<Served, 'run' | 'start' | 'end' | 'kept'> = {
    run: { method: 'POST', url: `${url}/run/{shape}`, must },
    ...(library.start !== undefined && {
      start: { method: 'POST', url: `${url}/start/{shape}`, must: '"id":', id: 'id' },
      end: { method: 'GET', url: `${url}/end/{shape}/{id}`, must },
    }),
    kept: keptCall(url),
  }
  return { calls, close }
}

/** Of an engine that answers HTTP itself only what its store has is asked here. */
export async function serveKept(shapes: readonly Shape[], kept: Kept) {
  const { url, close } = await serveAnswers(shapes, { kept: async (shape) => ({ runs: await kept(shape) }) })
  return { kept: keptCall(url), close }
}

function keptCall(url: string): Served['kept'] {
  return { method: 'GET', url: `${url}/kept/{shape}`, must: '"runs":' }
}

type Answers = Readonly<Record<string, (shape: Shape, id: string) => Promise<object>>>

async function serveAnswers(shapes: readonly Shape[], answers: Answers): Promise<Listening> {
  const server = createServer((request, response) => {
    const [, what = '', name, id = ''] = (request.url ?? '').split('/')
    const shape = shapes.find((one) => one.name === name)
    const answer = answers[what]
    request.resume()
    if (shape === undefined || answer === undefined) send(response, 404, { error: request.url })
    else
      answer(shape, id).then(
        (body) => send(response, 200, body),
        (error: unknown) => send(response, 500, { error: String(error) }),
      )
  })
  server.keepAliveTimeout = 600_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Listening on TCP, so its address is no path.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    server,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
