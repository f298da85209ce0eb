import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { ACCOUNT } from '../emulators/aws-client.ts'
import { type Asked, openAuthorizer } from './api-authorizer.ts'
import type { FromSandbox } from './sandbox-messages.ts'
import type { DeployedTemplates } from './template.ts'

/** Calls a function by its ARN. */
type Call = (functionArn: string, event: unknown, listen?: (message: FromSandbox) => void) => Promise<unknown>

interface Method {
  readonly method: string
  readonly resource: string
  readonly pattern: RegExp
  readonly functionArn: string
  readonly streams: boolean
  /** Without authorization. */
  readonly open: boolean
  /** The template's authorizer is asked. */
  readonly asks: boolean
}

/**
 * A REST API with the resources and methods of the template: Lambda proxy events in, answers or streams out. A request
 * is somebody's who puts an access key into a SigV4 header; the signature itself is not checked, nor are throttles. A
 * method without authorization takes anybody's; of one with an authorizer that is asked (api-authorizer.ts).
 */
export async function startApi(templates: DeployedTemplates, call: Call) {
  const methods = methodsOf(templates)
  const errors: string[] = []
  const [stage] = templates.all('AWS::ApiGateway::Stage')
  const authorizer = openAuthorizer(templates, String(stage?.properties.StageName), call)
  const server = createServer((request, response) => {
    serve({ methods, call, authorizer }, request, response).catch((error: unknown) => {
      errors.push(`${request.method} ${request.url}: ${String(error)}`)
      gatewayError(response, 502, 'Internal server error')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    authorizer,
    url: `http://127.0.0.1:${port}/${String(stage?.properties.StageName)}`,
    /** Of functions that failed: 502 to the caller. */
    errors,
    routes: methods.map(({ method, resource }) => `${method} ${resource}`),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function methodsOf(templates: DeployedTemplates): readonly Method[] {
  const resources = new Map(templates.all('AWS::ApiGateway::Resource').map((one) => [one.id, one.properties]))
  const pathOf = (id: unknown): string => {
    const found = resources.get(String(id))
    return found === undefined ? '' : `${pathOf(found.ParentId)}/${String(found.PathPart)}`
  }
  const methods = templates.all('AWS::ApiGateway::Method').map(({ properties }) => {
    const { Uri, Type } = properties.Integration as { readonly Uri: string; readonly Type: string }
    const [, functionArn, how] = /\/functions\/(arn:[^/]+)\/([\w-]+)$/.exec(Uri) ?? []
    if (functionArn === undefined || Type !== 'AWS_PROXY') throw new Error(`no Lambda proxy: ${Uri}`)
    const open = properties.AuthorizationType === 'NONE'
    const asks = properties.AuthorizationType === 'CUSTOM'
    if (!open && !asks && properties.AuthorizationType !== 'AWS_IAM') throw new Error(`a method without IAM: ${Uri}`)
    const resource = pathOf(properties.ResourceId)
    const streams = how === 'response-streaming-invocations'
    const method = String(properties.HttpMethod)
    return { method, resource, pattern: patternOf(resource), functionArn, streams, open, asks }
  })
  // A literal segment wins over a parameter.
  return methods.sort((a, b) => a.resource.split('{').length - b.resource.split('{').length)
}

function patternOf(resource: string): RegExp {
  const source = resource.replace(/\{(\w+)(\+?)\}/g, (_, name, rest) => `(?<${name}>${rest === '+' ? '.+' : '[^/]+'})`)
  return new RegExp(`^${source}$`)
}

interface Served {
  readonly methods: readonly Method[]
  readonly call: Call
  readonly authorizer: ReturnType<typeof openAuthorizer>
}

async function serve(
  { methods, call, authorizer }: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://gateway')
  const path = url.pathname.replace(/^\/[^/]+/, '')
  const found = methods.find(({ method, pattern }) => method === request.method && pattern.test(path))
  const [, key] = /^AWS4-HMAC-SHA256 Credential=([^/]+)\//.exec(request.headers.authorization ?? '') ?? []
  if (found === undefined) return gatewayError(response, 403, 'Missing Authentication Token')
  const asked = await identityOf(found, key, () => authorizer.ask(request, path))
  if (asked === undefined) return gatewayError(response, 403, 'Missing Authentication Token')
  if ('refused' in asked) {
    const { status, type, body } = asked.refused
    response.writeHead(status, { 'content-type': type })
    return void response.end(body)
  }
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const event = eventOf(found, request, url, path, Buffer.concat(chunks), asked.context)
  if (found.streams) await streamed(call, found, event, response)
  else await whole(call, found, event, response)
}

/** Members of the event's requestContext that say who calls; undefined = nobody signed. */
async function identityOf(
  found: Method,
  key: string | undefined,
  ask: () => Promise<Asked>,
): Promise<Asked | undefined> {
  const nobody = { identity: { userArn: null } }
  if (found.asks) {
    const asked = await ask()
    return 'refused' in asked ? asked : { context: { ...nobody, authorizer: asked.context } }
  }
  if (key === undefined) return found.open ? { context: nobody } : undefined
  return { context: { identity: callerOf(key) } }
}

function eventOf(found: Method, request: IncomingMessage, url: URL, path: string, body: Buffer, caller: object) {
  const query = Object.fromEntries(url.searchParams)
  return {
    resource: found.resource,
    path,
    httpMethod: found.method,
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    multiValueHeaders: {},
    queryStringParameters: Object.keys(query).length === 0 ? null : query,
    multiValueQueryStringParameters:
      Object.keys(query).length === 0
        ? null
        : Object.fromEntries(Object.keys(query).map((name) => [name, url.searchParams.getAll(name)])),
    pathParameters: { ...(found.pattern.exec(path)?.groups ?? {}) },
    stageVariables: null,
    requestContext: {
      accountId: ACCOUNT,
      resourcePath: found.resource,
      httpMethod: found.method,
      ...caller,
    },
    // All types are binary here (the template's BinaryMediaTypes are */*).
    body: body.length === 0 ? null : body.toString('base64'),
    isBase64Encoded: body.length > 0,
  }
}

function callerOf(key: string) {
  const [role, session = 'session'] = key.split(':')
  return { accessKey: key, userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/${role}/${session}` }
}

async function whole(call: Call, found: Method, event: unknown, response: ServerResponse): Promise<void> {
  // A function that failed is a 502 of the gateway.
  const { statusCode, headers, body, isBase64Encoded } = (await call(found.functionArn, event)) as {
    readonly statusCode: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly isBase64Encoded: boolean
  }
  response.writeHead(statusCode, headers)
  response.end(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'))
}

async function streamed(call: Call, found: Method, event: unknown, response: ServerResponse): Promise<void> {
  await call(found.functionArn, event, (message) => {
    if (message.kind === 'head') response.writeHead(message.status, message.headers)
    if (message.kind === 'chunk') response.write(message.text)
  })
  response.end()
}

function gatewayError(response: ServerResponse, status: number, message: string): void {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ message }))
}
