import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'

type Client = Pick<DynamoDBClient, 'send'>

/** The parts of a request a mutant looks at; its class names the operation. */
export interface Input {
  readonly Key?: Keyed
  readonly Item?: Keyed
  readonly UpdateExpression?: string
  readonly ConditionExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>
}

type Keyed = Readonly<Record<string, { readonly S?: string; readonly N?: string } | undefined>>

export interface Command {
  readonly input: Input
}

export type Send = (command: Command) => Promise<object>

/** A client whose requests go another way: `send` is the one behind it. */
export function sending(how: (send: Send) => Send): (client: Client) => Client {
  return (client) => ({ send: how(client.send.bind(client) as unknown as Send) as unknown as Client['send'] })
}

export function operationOf(command: Command): string {
  return command.constructor.name.replace('Command', '')
}

export function sortKeyOf({ input }: Command): string {
  return (input.Key ?? input.Item)?.sk?.S ?? ''
}

/** Of a pool of leases, whichever shard. */
export function isOfLeases(command: Command): boolean {
  return sortKeyOf(command).startsWith('LEASES') || command.input.Key?.pk?.S?.includes('#LEASES#') === true
}

export function isAppend(command: Command): boolean {
  return operationOf(command) === 'UpdateItem' && (command.input.UpdateExpression ?? '').includes('list_append')
}

/** The same command with other input. */
export function withInput(command: Command, input: Input): Command {
  // Every command of the SDK is made of its input alone.
  const Same = command.constructor as new (input: Input) => Command
  return new Same(input)
}

/** Without the parts of its condition that look at such a path; terms nobody uses any more go too. */
export function unguarded(command: Command, looksAt: (path: string) => boolean): Command {
  const { ConditionExpression: condition = '', ...rest } = command.input
  const names = rest.ExpressionAttributeNames ?? {}
  const left = partsOf(condition).filter((part) => !pathsOf(part, names).some(looksAt))
  const guarded = left.length === 0 ? rest : { ...rest, ConditionExpression: left.join(' AND ') }
  return withInput(command, onlyUsed(guarded))
}

/** What stands between the ANDs, but for those in parentheses. */
function partsOf(condition: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  for (const part of condition.split(' AND ')) {
    if (depth === 0) parts.push(part)
    else parts.push(`${parts.pop()} AND ${part}`)
    depth += part.split('(').length - part.split(')').length
  }
  return parts
}

function pathsOf(part: string, names: Readonly<Record<string, string>>): readonly string[] {
  return [...part.matchAll(/#\w+(\.#\w+)*/g)].map(([path]) =>
    path
      .split('.')
      .map((alias) => names[alias] ?? alias)
      .join('.'),
  )
}

function onlyUsed(input: Input): Input {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values, ...rest } = input
  const text = `${input.UpdateExpression} ${input.ConditionExpression}`
  const used = <T>(terms: Readonly<Record<string, T>> = {}) => {
    const kept = Object.entries(terms).filter(([term]) => new RegExp(`${term}(?!\\w)`).test(text))
    return kept.length === 0 ? undefined : Object.fromEntries(kept)
  }
  const [namesLeft, valuesLeft] = [used(names), used(values)]
  return {
    ...rest,
    ...(namesLeft === undefined ? {} : { ExpressionAttributeNames: namesLeft }),
    ...(valuesLeft === undefined ? {} : { ExpressionAttributeValues: valuesLeft }),
  }
}
