import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { ChildOrder, MakeNativeCall } from '../../infra/local/asl/execution-context.ts'
import { createLocalMachine, type LocalMachine } from '../../infra/local/asl/local-machine.ts'
import { createSqliteJournal } from '../../infra/local/asl/sqlite-journal.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { MachineInput } from '../../shared/runs/machine.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { ACCOUNT, REGION } from './aws-client.ts'
import { type Recorded, recordHistories } from './execution-history.ts'
import { type HttpService, ServiceError, serveAws, targetOf } from './http-service.ts'

export interface StepFunctionsOptions {
  /** Calls a function by the ARN (or name) the definition holds. The signal aborts when nobody waits any more. */
  invoke(functionArn: string, payload: Json, signal: AbortSignal): Promise<Json>
  /** Calls of other services that states make themselves. */
  readonly native?: MakeNativeCall
  readonly clock?: Clock
}

export interface StepFunctionsEmulator extends HttpService {
  /** Number of executions that have not ended. */
  running(): Promise<number>
  /** What the executions of that name did, the first is the run's own. */
  recorded(name: string): readonly Recorded[]
  /** ARNs of all machines. */
  machines(): readonly string[]
}

/**
 * Step Functions over our own interpreter, in memory: the AWS JSON 1.0 wire of the operations Sluice uses, with AWS's
 * error names and idempotency rules. It proves client and protocol; what AWS does with a definition is proven by
 * nothing here. Differences known: the context object holds local ids, executions and histories are listed whole (those
 * of machines with Parallel, Map or parts not at all), aliases are described and mean the
 * machine itself, as do versions nobody published, and an invocation nobody waits for is told to abort.
 */
export async function startStepFunctions(options: StepFunctionsOptions): Promise<StepFunctionsEmulator> {
  const clock = options.clock ?? systemClock
  const db = new DatabaseSync(':memory:')
  const histories = recordHistories(createSqliteJournal(db), clock, options.invoke)
  const interpreter = createLocalMachine({
    invoke: histories.invoke,
    ...(options.native === undefined ? {} : { native: options.native }),
    clock,
    ids: { random: (bytes) => randomBytes(bytes), boot: 'emulator' },
    journal: histories.journal,
    bind: (text) => text,
    machineOf: (order) => startedByMachine(place, order),
  })
  const recorded = histories.of
  const place: Place = {
    interpreter,
    clock,
    machines: new Map(),
    versions: new Map(),
    aliases: new Map(),
    executions: new Map(),
    recorded,
  }
  const service = await serveAws({
    mediaType: 'application/x-amz-json-1.0',
    operationOf: targetOf,
    async answer({ operation, body }) {
      const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined
      if (run === undefined) throw new ServiceError('UnknownOperationException', '')
      const answer = await run(place, JSON.parse(body.toString()))
      return { body: JSON.stringify(answer) }
    },
  })
  return {
    ...service,
    recorded,
    machines: () => [...place.machines.keys()],
    async running() {
      const seen = await Promise.all([...place.executions.values()].map((one) => statusOf(place, one)))
      return seen.filter(({ status }) => status === 'RUNNING').length
    },
    async close() {
      await service.close()
      await interpreter.close()
      db.close()
    },
  }
}

interface Place {
  readonly interpreter: LocalMachine
  readonly clock: Clock
  readonly machines: Map<string, StoredMachine>
  /** By ARN. */
  readonly aliases: Map<string, Readonly<Record<string, Json>>>
  /** ARNs of versions, and the text each has. */
  readonly versions: Map<string, Pick<StoredMachine, 'arn' | 'local' | 'created'>>
  readonly executions: Map<string, StoredExecution>
  recorded(name: string): readonly Recorded[]
}

interface StoredMachine {
  readonly arn: string
  readonly name: string
  readonly config: Readonly<Record<string, Json>>
  /** The interpreter's id of the present definition. */
  readonly local: string
  readonly created: number
  /** As they were given when it was made. */
  readonly tags: Json
}

interface StoredExecution {
  readonly arn: string
  readonly machine: string
  readonly name: string
  readonly local: string
  readonly input: string
  readonly started: number
  stopped?: number
}

type Input = Readonly<Record<string, Json>>
type Operation = (place: Place, input: Input) => Promise<unknown> | unknown

const OPERATIONS: Readonly<Record<string, Operation>> = {
  CreateStateMachine: create,
  UpdateStateMachine: update,
  DescribeStateMachine(place, { stateMachineArn }) {
    const { arn, name, config, created } = requireMachine(place, String(stateMachineArn))
    return { stateMachineArn: arn, name, ...config, status: 'ACTIVE', type: 'STANDARD', creationDate: created / 1_000 }
  },
  DeleteStateMachine: remove,
  ListTagsForResource: (place, { resourceArn }) => ({ tags: requireMachine(place, String(resourceArn)).tags }),
  PublishStateMachineVersion: publish,
  ListStateMachineVersions(place, { stateMachineArn }) {
    const { arn } = requireMachine(place, String(stateMachineArn))
    const own = [...place.versions].filter(([, version]) => version.arn === arn).toReversed()
    const shown = own.map(([version, { created }]) => ({
      ...{ stateMachineVersionArn: version, creationDate: created / 1_000 },
    }))
    return { stateMachineVersions: shown }
  },
  DeleteStateMachineVersion(place, { stateMachineVersionArn }) {
    const version = String(stateMachineVersionArn)
    if ([...place.aliases.values()].some((alias) => canonicalJson(alias).includes(`"${version}"`))) {
      throw new ServiceError(
        'ConflictException',
        `Version to be deleted must not be referenced by an alias: '${version}'`,
      )
    }
    place.versions.delete(version)
    return {}
  },
  CreateStateMachineAlias: createAlias,
  DescribeStateMachineAlias(place, { stateMachineAliasArn }) {
    const found = place.aliases.get(String(stateMachineAliasArn))
    if (found !== undefined) return { stateMachineAliasArn, ...found }
    throw new ServiceError(
      'ResourceNotFound',
      `Request references a resource that does not exist: '${String(stateMachineAliasArn)}'`,
    )
  },
  StartExecution: start,
  async DescribeExecution(place, { executionArn }) {
    const found = requireExecution(place, String(executionArn))
    return { ...(await summary(place, found)), input: found.input, ...(await statusOf(place, found)) }
  },
  GetExecutionHistory(place, { executionArn }) {
    const { name } = requireExecution(place, String(executionArn))
    const [own] = place.recorded(name)
    if (own?.events !== undefined) return { events: own.events }
    throw new ServiceError('UnknownOperationException', 'Histories of machines with branches are not recorded here')
  },
  async StopExecution(place, { executionArn, cause }) {
    const found = requireExecution(place, String(executionArn))
    await place.interpreter.stop(found.local, found.name, String(cause ?? ''))
    found.stopped ??= place.clock.now()
    return { stopDate: found.stopped / 1_000 }
  },
  async ListExecutions(place, { stateMachineArn, statusFilter, maxResults }) {
    const { arn } = requireMachine(place, String(stateMachineArn))
    const own = [...place.executions.values()].filter(({ machine }) => machine === arn)
    const all = await Promise.all(own.map((one) => summary(place, one)))
    const fitting = all.filter(({ status }) => statusFilter === undefined || status === statusFilter)
    return { executions: fitting.slice(0, Number(maxResults ?? 100)) }
  },
  async SendTaskSuccess({ interpreter }, { taskToken, output }) {
    requireText('output', output, 262_144)
    const ok = parse(String(output), 'InvalidOutput', 'Invalid Output')
    return tokenAnswer(await interpreter.answer(requireToken(taskToken), { ok }))
  },
  async SendTaskHeartbeat({ interpreter }, { taskToken }) {
    return tokenAnswer(await interpreter.beat(requireToken(taskToken)))
  },
  async SendTaskFailure({ interpreter }, { taskToken, error, cause }) {
    requireText('error', error ?? '', 256)
    requireText('cause', cause ?? '', 32_768)
    const answer = { error: String(error ?? ''), cause: String(cause ?? '') }
    return tokenAnswer(await interpreter.answer(requireToken(taskToken), answer))
  },
}

async function create(place: Place, { name: given, tags, ...config }: Input): Promise<unknown> {
  const name = requireName(given)
  requireRole(config)
  if (Array.isArray(tags) && tags.length > 50) throw new ServiceError('TooManyTags', `Too many tags for: '${name}'`)
  const arn = `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`
  const known = place.machines.get(arn)
  // Idempotent by what a machine does; its role and tags are not compared.
  if (known !== undefined && !sameMachine(known.config, config)) {
    throw new ServiceError('StateMachineAlreadyExists', `State Machine Already Exists: '${arn}'`)
  }
  const local = known?.local ?? (await define(place, config))
  const created = known?.created ?? place.clock.now()
  if (known === undefined) place.machines.set(arn, { arn, name, config, local, created, tags: tags ?? [] })
  return { stateMachineArn: arn, creationDate: created / 1_000 }
}

async function update(place: Place, { stateMachineArn, ...changed }: Input): Promise<unknown> {
  const known = requireMachine(place, String(stateMachineArn))
  const config = { ...known.config, ...changed }
  place.machines.set(known.arn, { ...known, config, local: await define(place, config) })
  return { updateDate: place.clock.now() / 1_000, revisionId: sha256(canonicalJson(config)).slice(0, 36) }
}

/** AWS answers the latest version where nothing changed since. */
function publish(place: Place, { stateMachineArn }: Input): unknown {
  const { arn, local } = requireMachine(place, String(stateMachineArn))
  const own = [...place.versions].filter(([, version]) => version.arn === arn)
  const [last] = own.at(-1) ?? []
  const isSame = last !== undefined && place.versions.get(last)?.local === local
  const highest = Math.max(0, ...own.map(([version]) => Number(version.split(':').at(-1))))
  const version = isSame ? last : `${arn}:${highest + 1}`
  if (!isSame) place.versions.set(version, { arn, local, created: place.clock.now() })
  return { stateMachineVersionArn: version, creationDate: place.clock.now() / 1_000 }
}

/** The same again is the same alias; another route under its name is refused. */
function createAlias(place: Place, { name: given, routingConfiguration }: Input): unknown {
  const name = requireName(given)
  const [route] = routingConfiguration as readonly { readonly stateMachineVersionArn: string }[]
  const version = String(route?.stateMachineVersionArn)
  if (!place.versions.has(version)) throw new ServiceError('ResourceNotFound', `Version does not exist: '${version}'`)
  const arn = `${version.split(':').slice(0, 7).join(':')}:${name}`
  const alias = { name, routingConfiguration: routingConfiguration ?? [] }
  const known = place.aliases.get(arn)
  if (known !== undefined && canonicalJson(known) !== canonicalJson(alias)) {
    throw new ServiceError('ConflictException', `Alias exists: '${arn}'`)
  }
  place.aliases.set(arn, alias)
  return { stateMachineAliasArn: arn, creationDate: place.clock.now() / 1_000 }
}

/** At once, where AWS takes some seconds; what runs on it ends, as there, and is not found any more. */
async function remove(place: Place, { stateMachineArn }: Input): Promise<unknown> {
  const arn = String(stateMachineArn)
  place.machines.delete(arn)
  for (const [version, of] of place.versions) if (of.arn === arn) place.versions.delete(version)
  for (const one of [...place.executions.values()].filter(({ machine }) => machine === arn)) {
    place.executions.delete(one.arn)
    await place.interpreter.stop(one.local, one.name, `State machine ${arn} has been deleted.`)
  }
  return {}
}

async function start(place: Place, { stateMachineArn, name: given, input }: Input): Promise<unknown> {
  const { arn: machine, name: machineName, ...present } = requireMachine(place, String(stateMachineArn))
  const { local } = place.versions.get(String(stateMachineArn)) ?? present
  const name = requireName(given)
  const text = String(input ?? '{}')
  requireText('input', text, 262_144)
  const value = parse(text, 'InvalidExecutionInput', 'Invalid State Machine Execution Input')
  const arn = `arn:aws:states:${REGION}:${ACCOUNT}:execution:${machineName}:${name}`
  const known = place.executions.get(arn)
  if (known === undefined) {
    const started = place.clock.now()
    place.executions.set(arn, { arn, machine, name, local, input: text, started })
    // The interpreter takes any JSON; its port has a narrower type.
    await place.interpreter.start({ machine: local, name, input: value as unknown as MachineInput })
    return { executionArn: arn, startDate: started / 1_000 }
  }
  const { status } = await statusOf(place, known)
  if (status === 'RUNNING' && known.input === text) return { executionArn: arn, startDate: known.started / 1_000 }
  throw new ServiceError('ExecutionAlreadyExists', `Execution Already Exists: '${arn}'`)
}

/** A state starts an execution by ARN: it is listed, described and stopped like any other. */
function startedByMachine(place: Place, { machine, name, input }: Pick<ChildOrder, 'machine' | 'name' | 'input'>) {
  const found = requireMachine(place, machine)
  const arn = `arn:aws:states:${REGION}:${ACCOUNT}:execution:${found.name}:${name}`
  const started = place.clock.now()
  const one = { arn, machine: found.arn, name, local: found.local, input: JSON.stringify(input), started }
  if (!place.executions.has(arn)) place.executions.set(arn, one)
  return place.executions.get(arn)?.local ?? found.local
}

async function define({ interpreter }: Place, { definition }: Input): Promise<string> {
  const text = requireText('definition', definition, 1_048_576)
  try {
    return await interpreter.ensure(text, sha256(text))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ServiceError('InvalidDefinition', `Invalid State Machine Definition: '${why}'`)
  }
}

function sameMachine(a: Input, b: Input): boolean {
  const compared = ({ definition, type, loggingConfiguration, tracingConfiguration }: Input) =>
    canonicalJson([definition ?? null, type ?? 'STANDARD', loggingConfiguration ?? null, tracingConfiguration ?? null])
  return compared(a) === compared(b)
}

async function summary(place: Place, one: StoredExecution) {
  const { status } = await statusOf(place, one)
  const stopped = one.stopped === undefined ? {} : { stopDate: one.stopped / 1_000 }
  return {
    executionArn: one.arn,
    stateMachineArn: one.machine,
    name: one.name,
    status,
    startDate: one.started / 1_000,
    ...stopped,
  }
}

async function statusOf({ interpreter, clock }: Place, one: StoredExecution) {
  const seen = (await interpreter.describe(one.local, one.name)) ?? { status: 'RUNNING' as const }
  if (seen.status !== 'RUNNING') one.stopped ??= clock.now()
  return seen
}

function tokenAnswer(answered: 'taken' | 'gone'): Record<string, never> {
  if (answered === 'taken') return {}
  throw new ServiceError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'")
}

/** Ours have 43 characters of base64url; what has another form was never a token. */
function requireToken(given: Json | undefined): string {
  const token = requireText('taskToken', given, 2_048)
  if (!/^[\w-]{43}$/.test(token)) throw new ServiceError('InvalidToken', "Invalid Token: 'Invalid token'")
  return token
}

/** A version or alias of a machine is written behind its ARN. */
function requireMachine({ machines }: Place, given: string): StoredMachine {
  const found = machines.get(given.split(':').slice(0, 7).join(':'))
  if (found !== undefined) return found
  throw new ServiceError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${given}'`)
}

function requireExecution({ executions }: Place, arn: string): StoredExecution {
  const found = executions.get(arn)
  if (found !== undefined) return found
  throw new ServiceError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`)
}

function requireName(given: Json | undefined): string {
  const name = String(given ?? '')
  if (/^[\w-]{1,80}$/.test(name)) return name
  throw new ServiceError('InvalidName', `Invalid Name: '${name}'`)
}

function requireRole({ roleArn }: Input): void {
  if (/^arn:aws:iam::\d{12}:role\/.+$/.test(String(roleArn))) return
  throw new ServiceError('InvalidArn', `Invalid Role Arn: '${String(roleArn)}'`)
}

function requireText(field: string, given: Json | undefined, most: number): string {
  if (typeof given === 'string' && Buffer.byteLength(given) <= most) return given
  const message = `1 validation error detected: Value at '${field}' failed to satisfy constraint: Member must have length less than or equal to ${most}`
  throw new ServiceError('ValidationException', message)
}

function parse(text: string, type: string, what: string): Json {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceError(type, `${what}: '${(cause as Error).message}'`)
  }
}
