import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Release } from '../../shared/runs/release.ts'

/** What the account holds; a test changes it while it runs. */
export interface AccountState {
  bootstrapped: boolean
  /** Concurrent executions of Lambda, unreserved but for those of `reserved`. */
  executions: number
  /** What functions have of them, by name. */
  reserved?: Readonly<Record<string, number>>
  /** Address of the API of every stage that was deployed (stack `sluice-STAGE-api`); absent = none was. */
  api?: string
  /** The release that start-run of any stage is told. */
  release?: Release
  /** Text and revision of the item that says which release new runs begin with. */
  routing?: { text: string; rev: number }
  /** What a call fails with, by its words as in `calls`. */
  refuses?: Readonly<Record<string, string>>
  /** Stacks besides the CDK's own, with their parameters. */
  stacks?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Lines by log group. */
  logs: Readonly<Record<string, readonly { readonly timestamp: number; readonly message: string }[]>>
  /** Keys with versions that are left in the bucket of objects. */
  versions: string[]
}

const ACCOUNT_ID = '111122223333'

/**
 * The calls that `sluice deploy`, `destroy` and `logs` make, each in its service's own protocol, on one port (AWS_ENDPOINT_URL):
 * CloudFormation (query), Lambda (REST), CloudWatch Logs and DynamoDB (JSON), S3 (XML, bucket in the path). Pages have two
 * entries. `calls` has what was asked, in order.
 */
export async function awsAccount(state: AccountState) {
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { call, status = 200, answer = '' } = refusedOr(answerOf(request, body, state), state)
    calls.push(call)
    const isXml = answer.startsWith('<')
    response.writeHead(status, { 'content-type': isXml ? 'text/xml' : 'application/json' }).end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  }
}

function refusedOr(answered: Answered, { refuses = {} }: AccountState): Answered {
  const [, why] = Object.entries(refuses).find(([call]) => answered.call.startsWith(call)) ?? []
  if (why === undefined) return answered
  return { call: answered.call, status: 400, answer: JSON.stringify({ __type: 'AccessDeniedException', message: why }) }
}

interface Answered {
  readonly call: string
  readonly status?: number
  readonly answer?: string
}

const PAGE = 2

function answerOf(request: IncomingMessage, body: string, state: AccountState): Answered {
  const target = request.headers['x-amz-target']
  if (typeof target === 'string') return answerJson(target.split('.')[1] ?? '', JSON.parse(body), state)
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://aws')
  if (pathname.includes('account-settings')) {
    const taken = Object.values(state.reserved ?? {}).reduce((sum, one) => sum + one, 0)
    const limits = {
      ConcurrentExecutions: state.executions,
      UnreservedConcurrentExecutions: state.executions - taken,
    }
    return { call: 'GetAccountSettings', answer: JSON.stringify({ AccountLimit: limits }) }
  }
  const [, reserving] = /\/functions\/([^/]+)\/concurrency$/.exec(pathname) ?? []
  if (reserving !== undefined) return answerReserved(request.method ?? '', reserving, body, state)
  const [, configured] = /\/functions\/([^/]+)\/configuration$/.exec(pathname) ?? []
  if (configured !== undefined) return answerConfiguration(configured, state)
  if (pathname === '/') return answerQuery(new URLSearchParams(body), state)
  return answerS3(request.method ?? '', pathname, searchParams, body, state)
}

function answerConfiguration(name: string, { release }: AccountState): Answered {
  const told = release === undefined ? {} : { DEPLOYED_RELEASE: JSON.stringify(release) }
  const Variables = { TABLE: name.replace('-start-run', ''), ...told }
  return { call: `GetFunctionConfiguration ${name}`, answer: JSON.stringify({ Environment: { Variables } }) }
}

/** Which release new runs begin with, as a test or a command wrote it last. */
function answerRouting(action: string, asked: Readonly<Record<string, unknown>>, state: AccountState): Answered {
  const call = `${action} ${asked.TableName}`
  if (action === 'PutItem') {
    const { text, rev } = asked.Item as { readonly text: { readonly S: string }; readonly rev: { readonly N: string } }
    state.routing = { text: text.S, rev: Number(rev.N) }
    return { call, answer: '{}' }
  }
  if (state.routing === undefined) return { call, answer: JSON.stringify({ Items: [] }) }
  const { text, rev } = state.routing
  return { call, answer: JSON.stringify({ Items: [{ text: { S: text }, rev: { N: String(rev) } }] }) }
}

function answerReserved(method: string, name: string, body: string, state: AccountState): Answered {
  const { [name]: before, ...others } = state.reserved ?? {}
  if (method === 'DELETE') {
    state.reserved = others
    return { call: `DeleteFunctionConcurrency ${name}`, status: 204 }
  }
  if (method === 'PUT') {
    state.reserved = { ...others, [name]: Number(JSON.parse(body).ReservedConcurrentExecutions) }
    return { call: `PutFunctionConcurrency ${name}`, answer: body }
  }
  const call = `GetFunctionConcurrency ${name}`
  const has = before
  if (has !== undefined) return { call, answer: JSON.stringify({ ReservedConcurrentExecutions: has }) }
  return { call, status: 404, answer: JSON.stringify({ __type: 'ResourceNotFoundException', Message: name }) }
}

function answerQuery(asked: URLSearchParams, { bootstrapped, api, stacks = {} }: AccountState): Answered {
  const action = asked.get('Action') ?? ''
  const name = asked.get('StackName') ?? ''
  const call = `${action} ${name}`
  if (action !== 'DescribeStacks') return { call, answer: query(action, `<StackId>${arnOf(name)}</StackId>`) }
  if (api !== undefined && name.endsWith('-api')) {
    const url = `<member><OutputKey>Url</OutputKey><OutputValue>${api}</OutputValue></member>`
    const stack = `<StackName>${name}</StackName><StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-11-01T00:00:00Z</CreationTime><Outputs>${url}</Outputs>`
    return { call, answer: query(action, `<Stacks><member>${stack}</member></Stacks>`) }
  }
  const own = stacks[name]
  if (own !== undefined) {
    const members = Object.entries(own).map(
      ([key, value]) => `<member><ParameterKey>${key}</ParameterKey><ParameterValue>${value}</ParameterValue></member>`,
    )
    const stack = `<StackName>${name}</StackName><StackStatus>UPDATE_COMPLETE</StackStatus><CreationTime>2026-11-01T00:00:00Z</CreationTime><Parameters>${members.join('')}</Parameters>`
    return { call, answer: query(action, `<Stacks><member>${stack}</member></Stacks>`) }
  }
  if (!bootstrapped || name !== 'CDKToolkit') {
    const error = `<Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error>`
    return { call, status: 400, answer: `<ErrorResponse>${error}<RequestId>r</RequestId></ErrorResponse>` }
  }
  const output = '<member><OutputKey>BootstrapVersion</OutputKey><OutputValue>21</OutputValue></member>'
  const stack = `<StackId>${arnOf(name)}</StackId><StackName>${name}</StackName><StackStatus>CREATE_COMPLETE</StackStatus><CreationTime>2026-11-01T00:00:00Z</CreationTime><Outputs>${output}</Outputs>`
  return { call, answer: query(action, `<Stacks><member>${stack}</member></Stacks>`) }
}

function query(action: string, result: string): string {
  return `<${action}Response><${action}Result>${result}</${action}Result><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></${action}Response>`
}

function arnOf(name: string): string {
  return `arn:aws:cloudformation:eu-central-1:${ACCOUNT_ID}:stack/${name}/1`
}

/** Of CloudWatch Logs and DynamoDB. */
function answerJson(action: string, asked: Readonly<Record<string, unknown>>, state: AccountState): Answered {
  const { logs } = state
  if (action === 'Query' || action === 'PutItem') return answerRouting(action, asked, state)
  const from = Number(asked.nextToken ?? 0)
  const page = <T>(all: readonly T[]) => ({
    entries: all.slice(from, from + PAGE),
    ...(from + PAGE < all.length && { nextToken: String(from + PAGE) }),
  })
  if (action === 'DescribeLogGroups') {
    const names = Object.keys(logs).filter((name) => name.startsWith(String(asked.logGroupNamePrefix)))
    const { entries, ...next } = page(names)
    const logGroups = entries.map((logGroupName) => ({ logGroupName }))
    return { call: `${action} ${asked.logGroupNamePrefix}`, answer: JSON.stringify({ logGroups, ...next }) }
  }
  if (action === 'FilterLogEvents') {
    const [, text = ''] = /^"(.*)"$/.exec(String(asked.filterPattern)) ?? []
    const lines = logs[String(asked.logGroupName)] ?? []
    const found = lines.filter((line) => line.message.includes(text) && line.timestamp >= Number(asked.startTime))
    const { entries, ...next } = page(found)
    return { call: `${action} ${asked.logGroupName}`, answer: JSON.stringify({ events: entries, ...next }) }
  }
  const protection = asked.DeletionProtectionEnabled
  const detail = protection === undefined ? '' : ` protection ${protection}`
  return { call: `${action} ${asked.TableName}${detail}`, answer: '{}' }
}

function answerS3(
  method: string,
  path: string,
  search: URLSearchParams,
  body: string,
  { versions }: AccountState,
): Answered {
  const bucket = path.slice(1).replace(/\/$/, '')
  if (method === 'DELETE') return { call: `DeleteBucket ${bucket}`, status: versions.length === 0 ? 204 : 409 }
  if (search.has('versions')) {
    const members = versions
      .slice(0, PAGE)
      .map((key) => `<Version><Key>${key}</Key><VersionId>v1</VersionId></Version>`)
    const answer = `<ListVersionsResult><Name>${bucket}</Name>${members.join('')}</ListVersionsResult>`
    return { call: `ListObjectVersions ${bucket}`, answer }
  }
  const keys = [...body.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) => key)
  versions.splice(0, versions.length, ...versions.filter((key) => !keys.includes(key)))
  return { call: `DeleteObjects ${keys.length}`, answer: '<DeleteResult></DeleteResult>' }
}
