import { CreateStateMachineCommand, type SFNClient, UpdateStateMachineCommand } from '@aws-sdk/client-sfn'
import { sha256 } from '../../shared/canonical.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { bindPlaceholders } from '../../shared/compile/bind.ts'
import { Fault } from '../../shared/errors.ts'
import type { MachineText } from '../../shared/runs/machine.ts'
import { deployedMachine } from './documents.ts'
import { type MachineId, partArn, writeMachineId } from './machine-id.ts'
import { functionArn, required } from './named-setting.ts'
import { sdkFault } from './sdk-fault.ts'
import type { AwsSettings } from './settings.ts'
import type { Core } from './world.ts'

/** Machines of documents that were not deployed: made at their first start, found by their name ever after. */
export interface InlineMachines {
  ensure(definition: string, hash: string, parts?: readonly MachineText[]): Promise<string>
  /** What `ensure` answers; no call is made. */
  named(definition: string, hash: string, parts?: readonly MachineText[]): Promise<string>
  /** AWS says that this one is gone: the next `ensure` makes it again. */
  forget(arn: string): void
}

export function createInlineMachines(core: Pick<Core, 'env' | 'deployed'>, client: SFNClient): InlineMachines {
  const known = new Map<string, Promise<string>>()
  return {
    async ensure(definition, hash, parts = []) {
      const deployed = deployedMachine(core, hash)
      if (deployed !== undefined) return deployed
      const made = known.get(hash) ?? createAll(client, core.env, { definition, hash, parts })
      known.set(hash, made)
      made.catch(() => known.delete(hash))
      return made
    },
    async named(definition, hash, parts = []) {
      return deployedMachine(core, hash) ?? writeMachineId(identify(core.env, { definition, hash, parts }))
    },
    forget(arn) {
      for (const [hash, made] of known)
        void made.then((its) => its === arn && known.delete(hash)).catch(() => undefined)
    },
  }
}

/** Enough of the hash that two documents never meet (80 bits), short enough for the name's quota of 80. */
const HASH_IN_NAME = 20
const HASH_OF_PARTS = 8

interface Document {
  readonly definition: string
  readonly hash: string
  readonly parts: readonly MachineText[]
}

/**
 * Parts first, so that a machine that can be started finds them. Their names hold a hash of all texts: a run that began
 * on an older compiler's texts of this document still finds its own.
 */
async function createAll(client: SFNClient, env: AwsSettings, { definition, hash, parts }: Document): Promise<string> {
  const functions = functionArns(env)
  const id = identify(env, { definition, hash, parts })
  const name = id.arn.split(':').at(-1) ?? ''
  const arns = parts.map(({ key }, i) => [key, partArn(id, i + 1)] as const)
  const values = { ...functions, ...Object.fromEntries(arns) }
  for (const [i, { text }] of parts.entries()) {
    const part =
      partArn(id, i + 1)
        .split(':')
        .at(-1) ?? ''
    await create(client, env, { name: part, definition: bindPlaceholders(text, values), hash })
  }
  const arn = await create(client, env, { name, definition: bindPlaceholders(definition, values), hash })
  return writeMachineId({ ...id, arn })
}

function identify(env: AwsSettings, { definition, hash, parts }: Document): MachineId {
  const set = sha256(JSON.stringify([definition, ...parts.map(({ text }) => text)])).slice(0, HASH_OF_PARTS)
  const suffix = parts.length === 0 ? '' : `_${set}`
  return { arn: arnOf(env, `sluice-${env.STAGE}-x-${hash.slice(0, HASH_IN_NAME)}`), parts: parts.length, suffix }
}

async function create(
  client: SFNClient,
  env: AwsSettings,
  { name, definition, hash }: { readonly name: string; readonly definition: string; readonly hash: string },
): Promise<string> {
  const machine = {
    definition,
    roleArn: required(env, 'STATE_MACHINE_ROLE_ARN'),
    ...logging(env),
    tracingConfiguration: { enabled: true },
  }
  const tags = Object.entries({ 'sluice:stage': env.STAGE, 'sluice:kind': 'inline', 'sluice:dag_hash': hash })
  try {
    // Answers the same ARN when a machine of this name and definition is there.
    const created = await client.send(
      new CreateStateMachineCommand({ name, ...machine, tags: tags.map(([key, value]) => ({ key, value })) }),
    )
    return created.stateMachineArn ?? arnOf(env, name)
  } catch (error) {
    return await existing(client, { ...machine, stateMachineArn: arnOf(env, name) }, error)
  }
}

/**
 * The name is taken by another text of the same document, one an older version compiled or bound to other functions:
 * it becomes this one. Running executions keep theirs. Who finds it being updated was not first, which is as good.
 */
async function existing(
  client: SFNClient,
  update: ConstructorParameters<typeof UpdateStateMachineCommand>[0],
  error: unknown,
): Promise<string> {
  const arn = String(update.stateMachineArn)
  const name = error instanceof Error ? error.name : ''
  if (name === 'ConflictException') return arn
  if (name !== 'StateMachineAlreadyExists') throw refusal(error, name)
  try {
    await client.send(new UpdateStateMachineCommand(update))
  } catch (failed) {
    if (failed instanceof Error && failed.name === 'ConflictException') return arn
    throw refusal(failed, failed instanceof Error ? failed.name : '')
  }
  return arn
}

function refusal(error: unknown, name: string): Fault {
  if (name === 'StateMachineLimitExceeded') {
    const message =
      'Cannot make a machine for this document: the account has no room for another state machine (10,000 unless AWS raised it). Delete machines named sluice-<stage>-x-.. that no run uses, or deploy the document.'
    return new Fault('LimitExceeded', 'machine_limit', message, { cause: error })
  }
  if (name === 'StateMachineDeleting') {
    const message = 'Cannot start now: the machine of this document is being deleted. Try again in a minute.'
    return new Fault('Unavailable', 'machine_deleting', message, { cause: error })
  }
  return sdkFault(error, { doing: 'make the machine of this document', action: 'states:CreateStateMachine' })
}

function functionArns(env: AwsSettings): Readonly<Record<string, string>> {
  const lines = FUNCTIONS.flatMap(({ name, placeholder }) => (placeholder === undefined ? [] : [[placeholder, name]]))
  return Object.fromEntries(lines.map(([placeholder = '', name = '']) => [placeholder, functionArn(env, name)]))
}

function logging({ MACHINE_LOG_GROUP_ARN: logGroupArn }: AwsSettings) {
  if (logGroupArn === undefined) return {}
  const destinations = [{ cloudWatchLogsLogGroup: { logGroupArn } }]
  return { loggingConfiguration: { level: 'ALL' as const, includeExecutionData: false, destinations } }
}

/** Partition and account are those of the role the machine runs as. */
function arnOf(env: AwsSettings, name: string): string {
  const [, partition, , , account] = required(env, 'STATE_MACHINE_ROLE_ARN').split(':')
  return `arn:${partition}:states:${env.AWS_REGION}:${account}:stateMachine:${name}`
}
