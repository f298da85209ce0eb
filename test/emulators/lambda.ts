import { randomUUID } from 'node:crypto'
import type { LambdaContext } from '../../functions/aws/invocation.ts'
import type { Json } from '../../shared/text/json.ts'
import { type HttpService, ServiceError, type ServiceRequest, serveAws } from './http-service.ts'

/** A function as Lambda calls it. */
export type EmulatedFunction = (event: unknown, context: LambdaContext & { readonly functionName: string }) => unknown

export interface LambdaEmulator extends HttpService {
  /**
   * RequestResponse without the wire, as Step Functions and API Gateway call: answers JSON, throws an error with the
   * function's own name and message.
   */
  invoke(name: string, event: unknown): Promise<Json>
  /** Resolves when no asynchronous invoke is under way. */
  settled(): Promise<void>
}

interface LambdaOptions {
  /** By function name; read at each call. */
  readonly functions: Record<string, EmulatedFunction>
  /** What getRemainingTimeInMillis begins with. */
  readonly timeoutMs?: number
  /** Versions that were published, by function name; each is among `functions` as `NAME:VERSION`. */
  readonly versions?: Readonly<Record<string, FunctionVersion[]>>
  /** What GetFunctionConfiguration answers, by function name; read at each call. */
  readonly configurations?: Readonly<Record<string, Json>>
  /** Retries of an asynchronous invoke that failed. Lambda: 2, after 1 and 2 minutes; here at once. */
  readonly asyncRetries?: number
}

/** As Lambda lists it. */
export interface FunctionVersion {
  readonly Version: string
  readonly Description: string
  /** When it was published. */
  LastModified?: string
}

/** Lambda's Invoke (RequestResponse and Event), and its list of versions, over functions of this process. */
export async function startLambda(options: LambdaOptions): Promise<LambdaEmulator> {
  const underWay = new Set<Promise<unknown>>()
  const invoke = (name: string, event: unknown) => call(options, name, event)
  const later = async (name: string, event: unknown): Promise<void> => {
    for (let tries = (options.asyncRetries ?? 0) + 1; tries > 0; tries -= 1) {
      const failed = await invoke(name, event).then(
        () => false,
        () => true,
      )
      if (!failed) return
    }
  }
  const service = await serveAws({
    mediaType: 'application/json',
    operationOf: ({ url = '', method }) =>
      VERSIONS.test(url)
        ? 'ListVersionsByFunction'
        : CONFIGURATION.test(url)
          ? 'GetFunctionConfiguration'
          : method === 'DELETE'
            ? 'DeleteFunction'
            : 'Invoke',
    async answer(request) {
      if (request.operation === 'ListVersionsByFunction') return { body: listed(options, request) }
      if (request.operation === 'GetFunctionConfiguration') return { body: configuration(options, request) }
      if (request.operation === 'DeleteFunction') return remove(options, request)
      const name = requireName(options, request)
      const event = request.body.length === 0 ? {} : JSON.parse(request.body.toString())
      if (request.headers['x-amz-invocation-type'] !== 'Event') return respond(invoke(name, event))
      const call: Promise<void> = later(name, event).finally(() => underWay.delete(call))
      underWay.add(call)
      return { status: 202 }
    },
  })
  return {
    ...service,
    invoke: (name, event) => invoke(nameOf(name), event),
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

const VERSIONS = /^\/2015-03-31\/functions\/([^/?]+)\/versions/

const CONFIGURATION = /^\/2015-03-31\/functions\/([^/?]+)\/configuration/

function configuration({ configurations = {} }: LambdaOptions, { path }: ServiceRequest): string {
  const [, asked = ''] = CONFIGURATION.exec(path) ?? []
  const found = configurations[decodeURIComponent(asked)]
  if (found === undefined) throw new ServiceError('ResourceNotFoundException', `Function not found: ${asked}`, 404)
  return JSON.stringify(found)
}

/** A version, by its qualifier: nothing here deletes a whole function. */
function remove({ functions, versions = {} }: LambdaOptions, { path }: ServiceRequest) {
  const { pathname, searchParams } = new URL(path, 'http://lambda')
  const name = decodeURIComponent(pathname.split('/').at(-1) ?? '')
  const Qualifier = searchParams.get('Qualifier')
  const published = versions[name]
  if (Qualifier === null || published === undefined)
    throw new ServiceError('InvalidParameterValueException', 'a function is deleted whole', 400)
  const left = published.filter(({ Version }) => Version !== Qualifier)
  published.splice(0, published.length, ...left)
  delete functions[`${name}:${Qualifier}`]
  return { status: 204 }
}

/** One version a page: whoever lists them has to go on. */
function listed({ versions = {} }: LambdaOptions, { path }: ServiceRequest): string {
  const [, asked = ''] = VERSIONS.exec(path) ?? []
  const all = [{ Version: '$LATEST', Description: '' }, ...(versions[nameOf(decodeURIComponent(asked))] ?? [])]
  const at = Number(new URL(path, 'http://lambda').searchParams.get('Marker') ?? 0)
  const more = at + 1 < all.length ? { NextMarker: String(at + 1) } : {}
  return JSON.stringify({ Versions: all.slice(at, at + 1), ...more })
}

/** `arn:..:function:NAME[:qualifier]`, or the name itself. */
function nameOf(arnOrName: string): string {
  return arnOrName.startsWith('arn:') ? arnOrName.split(':').slice(6).join(':') : arnOrName
}

function requireName({ functions }: LambdaOptions, { path }: ServiceRequest): string {
  const [, asked = ''] = /^\/2015-03-31\/functions\/([^/]+)\/invocations/.exec(path) ?? []
  const version = new URL(path, 'http://lambda').searchParams.get('Qualifier')
  const name = `${nameOf(decodeURIComponent(asked))}${version === null ? '' : `:${version}`}`
  if (Object.hasOwn(functions, name)) return name
  throw new ServiceError('ResourceNotFoundException', `Function not found: ${decodeURIComponent(asked)}`, 404)
}

async function call({ functions, timeoutMs = 900_000 }: LambdaOptions, name: string, event: unknown): Promise<Json> {
  const run = Object.hasOwn(functions, name) ? functions[name] : undefined
  if (run === undefined)
    throw Object.assign(new Error('Function not found'), { name: 'Lambda.ResourceNotFoundException' })
  const end = Date.now() + timeoutMs
  const context = {
    functionName: name,
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis: () => Math.max(0, end - Date.now()),
  }
  // Over the wire: a copy both ways, nothing is null.
  const answer = await run(JSON.parse(JSON.stringify(event)), context)
  return JSON.parse(JSON.stringify(answer) ?? 'null')
}

/** A failed function is a 200 whose header says so. */
async function respond(answer: Promise<Json>) {
  try {
    return { body: JSON.stringify(await answer), headers: { 'x-amz-executed-version': '$LATEST' } }
  } catch (thrown) {
    // What Lambda says itself, before there is a function at work.
    if (thrown instanceof ServiceError) throw thrown
    const { name, message, stack = '' } = thrown instanceof Error ? thrown : new Error(String(thrown))
    const body = JSON.stringify({ errorType: name, errorMessage: message, trace: stack.split('\n') })
    return { body, headers: { 'x-amz-function-error': 'Unhandled', 'x-amz-executed-version': '$LATEST' } }
  }
}
