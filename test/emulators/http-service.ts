import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type EmulatedAws, emulatedAws } from './aws-client.ts'

/** An error as an AWS service answers it: `__type` and message, 400 unless it says otherwise. */
export class ServiceError extends Error {
  readonly type: string
  readonly status: number

  constructor(type: string, message: string, status = 400) {
    super(message)
    this.type = type
    this.status = status
  }
}

export interface ServiceRequest {
  /** `CreateStateMachine`, from the target header or the path. */
  readonly operation: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly path: string
  readonly body: Buffer
}

interface ServiceAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** 'drop' cuts the connection, 'hang' never answers. */
type Failure = ServiceError | 'drop' | 'hang'

/** A listening stand-in of one service. */
export interface HttpService {
  /** What SDK clients are made with. */
  readonly aws: EmulatedAws
  /** Operations in the order they came, each try of a client counted. */
  readonly calls: readonly string[]
  /** The next `times` calls of an operation fail this way before they reach the service. */
  fail(operation: string, how: Failure, times?: number): void
  close(): Promise<void>
}

interface ServiceParts {
  /** Media type of answers: `application/x-amz-json-1.0`. */
  readonly mediaType: string
  operationOf(request: IncomingMessage): string
  answer(request: ServiceRequest): Promise<ServiceAnswer> | ServiceAnswer
}

/** Serves on a free port of 127.0.0.1. Signatures are not checked: the stand-ins prove clients and protocol, not AWS. */
export async function serveAws(parts: ServiceParts): Promise<HttpService> {
  const calls: string[] = []
  const failures = new Map<string, Failure[]>()
  const server = createServer((request, response) => {
    const operation = parts.operationOf(request)
    calls.push(operation)
    const planned = failures.get(operation)?.shift()
    if (planned === 'hang') return void request.resume()
    if (planned === 'drop') return void request.socket.destroy()
    void serve(request, response, parts, operation, planned)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    aws: emulatedAws(`http://127.0.0.1:${port}`),
    calls,
    fail: (operation, how, times = 1) => {
      failures.set(operation, [...(failures.get(operation) ?? []), ...Array.from({ length: times }, () => how)])
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The operation of an AWS JSON request: `X-Amz-Target: AWSStepFunctions.StartExecution`. */
export function targetOf(request: IncomingMessage): string {
  return String(request.headers['x-amz-target'] ?? '').replace(/^.*\./, '')
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  parts: ServiceParts,
  operation: string,
  planned: ServiceError | undefined,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = request.headers as Readonly<Record<string, string | undefined>>
  const given = { operation, headers, path: request.url ?? '/', body: Buffer.concat(chunks) }
  const common = { 'content-type': parts.mediaType, 'x-amzn-requestid': randomUUID() }
  try {
    if (planned !== undefined) throw planned
    const answer = await parts.answer(given)
    response.writeHead(answer.status ?? 200, { ...common, ...answer.headers })
    response.end(answer.body ?? '')
  } catch (error) {
    const { type, status } = error instanceof ServiceError ? error : { type: 'InternalFailure', status: 500 }
    const message = error instanceof Error ? error.message : String(error)
    // JSON services name the error in the body, REST services in the header.
    response.writeHead(status, { ...common, 'x-amzn-errortype': type })
    response.end(JSON.stringify({ __type: type, message }))
  }
}
