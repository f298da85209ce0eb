import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { ACCOUNT, REGION } from '../emulators/aws-client.ts'
import { targetOf } from '../emulators/http-service.ts'
import type { Wish } from './iam-policy.ts'

/** Endpoints by the name requests are signed for. */
export type Services = Readonly<
  Record<'dynamodb' | 's3' | 'states' | 'lambda' | 'secretsmanager' | 'ssm' | 'events', string>
>

/**
 * One endpoint for all services: who calls (the access key is the function's name) must be allowed to do so by the
 * role in the template; then the request goes on to the emulator.
 */
export async function startDoor(services: Services, allows: (principal: string, wish: Wish) => boolean) {
  const agent = new Agent({ keepAlive: true })
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy())
  })
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const { principal, service } = signedBy(request)
    if (!WISHES[service](request, body).every((wish) => allows(principal, wish))) return deny(service, response)
    forward(services[service], agent, request, body, response, (status) => {
      // S3 tells only who may list the bucket that an object is missing.
      const bucket = service === 's3' && status === 404 ? bucketOf(request) : undefined
      return bucket === undefined || allows(principal, { action: 's3:ListBucket', resource: bucket })
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}

function signedBy(request: IncomingMessage): { readonly principal: string; readonly service: keyof Services } {
  // In the query of a presigned request.
  const words = request.headers.authorization ?? decodeURIComponent(request.url ?? '')
  const signed = /Credential=([^/]+)\/\d+\/[^/]+\/(\w+)\/aws4_request/.exec(words)
  const [, principal, service] = signed ?? []
  if (principal !== undefined && service !== undefined && Object.hasOwn(WISHES, service)) {
    // It is one of the table's own names.
    return { principal, service: service as keyof Services }
  }
  throw new Error('an unsigned request, or one of a service nobody expected')
}

type Read = (request: IncomingMessage, body: Buffer) => readonly Wish[]

/** What a request needs, by AWS's service authorization reference. */
const WISHES: Readonly<Record<keyof Services, Read>> = {
  dynamodb(request, body) {
    const action = `dynamodb:${targetOf(request)}`
    const input = JSON.parse(body.toString())
    const tables: readonly string[] =
      input.TableName === undefined ? Object.keys(input.RequestItems) : [input.TableName]
    const index = input.IndexName === undefined ? '' : `/index/${input.IndexName}`
    const leadingKeys = leadingKeysOf(input)
    return tables.map((table) => ({ action, resource: arn('dynamodb', `table/${table}${index}`), leadingKeys }))
  },
  s3(request) {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://s3')
    const resource = `arn:aws:s3:::${decodeURIComponent(pathname).slice(1)}`.replace(/\/$/, '')
    if (request.method === 'PUT') return [{ action: 's3:PutObject', resource }]
    if (searchParams.has('versions')) return [{ action: 's3:ListBucketVersions', resource }]
    if (!searchParams.has('versionId')) return [{ action: 's3:GetObject', resource }]
    // Where versions are locked, S3 says until when to none but who may ask for that.
    const locked = resource.includes('-anchors-') ? ['s3:GetObjectRetention'] : []
    return ['s3:GetObjectVersion', ...locked].map((action) => ({ action, resource }))
  },
  states(request, body) {
    const input = JSON.parse(body.toString())
    const operation = targetOf(request)
    const wish = (resource: string, name = operation) => ({ action: `states:${name}`, resource })
    if (operation === 'CreateStateMachine') {
      const machine = arn('states', `stateMachine:${input.name}`)
      const role = { action: 'iam:PassRole', resource: input.roleArn, passedTo: 'states.amazonaws.com' }
      return [wish(machine), wish(machine, 'TagResource'), role]
    }
    // A token says nothing of its machine here: the narrowest pattern a policy can have is the stage's machines.
    return [wish(input.executionArn ?? input.stateMachineArn ?? arn('states', 'stateMachine:sluice-dev-basic'))]
  },
  lambda(request) {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://lambda')
    const [, asked = '', what] = /^\/2015-03-31\/functions\/([^/]+)\/(invocations|versions)/.exec(pathname) ?? []
    const named = decodeURIComponent(asked)
    const resource = named.startsWith('arn:') ? named : arn('lambda', `function:${named}`)
    if (what === 'versions') return [{ action: 'lambda:ListVersionsByFunction', resource }]
    const version = searchParams.get('Qualifier')
    return [{ action: 'lambda:InvokeFunction', resource: version === null ? resource : `${resource}:${version}` }]
  },
  // Both are asked by ARN.
  secretsmanager: (_request, body) => [
    { action: 'secretsmanager:GetSecretValue', resource: JSON.parse(body.toString()).SecretId },
  ],
  ssm: (_request, body) => [{ action: 'ssm:GetParameter', resource: JSON.parse(body.toString()).Name }],
  events(request, body) {
    const { Entries } = JSON.parse(body.toString()) as {
      readonly Entries: readonly { readonly EventBusName: string; readonly Source: string }[]
    }
    return Entries.map(({ EventBusName, Source }) => ({
      action: `events:${targetOf(request)}`,
      resource: EventBusName.startsWith('arn:') ? EventBusName : arn('events', `event-bus/${EventBusName}`),
      source: Source,
    }))
  },
}

/** Of one item, of a batch, or of a query, whose first condition is that its partition is this one. */
function leadingKeysOf(input: DynamodbInput): readonly string[] {
  const { Item, Key, RequestItems = {}, KeyConditionExpression = '', ExpressionAttributeValues = {} } = input
  const batches = Object.values(RequestItems).flatMap((batch) => ('Keys' in batch ? batch.Keys : batch.map(writtenIn)))
  const [, asked = ''] = /^\(?[#\w]+ = (:\w+)/.exec(KeyConditionExpression) ?? []
  const queried = ExpressionAttributeValues[asked]
  if (KeyConditionExpression !== '' && queried === undefined) throw new Error(`a query by ${KeyConditionExpression}`)
  const keys = [Item?.pk, Key?.pk, ...batches.map(({ pk }) => pk), queried]
  return keys.flatMap((key) => key?.S ?? [])
}

type Item = Readonly<Record<string, { readonly S?: string }>>
interface Written {
  readonly PutRequest?: { readonly Item: Item }
  readonly DeleteRequest?: { readonly Key: Item }
}
interface DynamodbInput {
  readonly Item?: Item
  readonly Key?: Item
  readonly RequestItems?: Readonly<Record<string, { readonly Keys: readonly Item[] } | readonly Written[]>>
  readonly KeyConditionExpression?: string
  readonly ExpressionAttributeValues?: Item
}

function writtenIn({ PutRequest, DeleteRequest }: Written): Item {
  return PutRequest?.Item ?? DeleteRequest?.Key ?? {}
}

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`
}

/** `arn:aws:s3:::BUCKET`, of a path that begins with it. */
function bucketOf(request: IncomingMessage): string {
  return `arn:aws:s3:::${new URL(request.url ?? '/', 'http://s3').pathname.split('/')[1]}`
}

/** `shows`: whether the caller may see an answer of that status. */
function forward(
  endpoint: string,
  agent: Agent,
  from: IncomingMessage,
  body: Buffer,
  to: ServerResponse,
  shows: (status: number | undefined) => boolean,
): void {
  const options = { agent, method: from.method ?? 'GET', path: from.url ?? '/', headers: from.headers }
  const going = send(endpoint, options, (answer) => {
    if (!shows(answer.statusCode)) {
      answer.resume()
      return deny('s3', to)
    }
    to.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(to)
  })
  going.on('error', () => to.destroy())
  going.end(body)
}

function deny(service: keyof Services, response: ServerResponse): void {
  if (service === 's3') {
    response.writeHead(403, { 'content-type': 'application/xml' })
    response.end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>')
    return
  }
  const status = service === 'lambda' ? 403 : 400
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': 'AccessDeniedException' })
  response.end(JSON.stringify({ __type: 'AccessDeniedException', message: 'not authorized' }))
}
